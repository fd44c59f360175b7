import { isEnPassant, type Move, movePromotion, moveTo, type Position, valueOfScore } from "#chess";
import type { NnueWeights } from "#formats";
import { NnueEvaluator } from "#models";
import type { Evaluation, Evaluator } from "#search";
import { softmax } from "./softmax.js";

// Logits of the rule for moves, by the look of what masters play; a search corrects them soon.
const GOOD_CAPTURE = 1; // wins something or exchanges, and more for what it wins
const PAWN_WON = 0.4; // for each pawn's worth
const BAD_CAPTURE = -1.5;
const QUEENING = 2;
const CHECK = 0.7;

/**
 * A network that values positions alone. What the mover can win by the best exchange is added, because such networks know
 * quiet positions only; moves get their shares by a rule of thumb.
 */
export class StaticEvaluator implements Evaluator {
  readonly batchSize = 16; // a batch costs nothing: small ones aim better
  private readonly network: NnueEvaluator;

  constructor(weights: NnueWeights) {
    this.network = new NnueEvaluator(weights);
  }

  async evaluate(positions: readonly Position[]): Promise<Evaluation[]> {
    return positions.map((position) => this.judge(position));
  }

  recall(): undefined {
    return undefined;
  }

  async close(): Promise<void> {}

  private judge(position: Position): Evaluation {
    const moves = position.moves();
    const logits = new Float32Array(moves.length);
    let mostCp = 0; // that an exchange wins
    for (const [i, move] of moves.entries()) {
      if (isCapture(position, move)) {
        const wonCp = position.see(move);
        mostCp = Math.max(mostCp, wonCp);
        logits[i] = wonCp < 0 ? BAD_CAPTURE : GOOD_CAPTURE + (PAWN_WON * wonCp) / 100;
      }
      if (movePromotion(move) === "queen") logits[i] += QUEENING;
      if (position.playUnchecked(move).isCheck()) logits[i] += CHECK;
      position.undo();
    }
    const value = valueOfScore(this.network.evaluateCp(position) + mostCp);
    return { value, moves, policy: softmax(logits) };
  }
}

const isCapture = (position: Position, move: Move): boolean =>
  isEnPassant(move) || (position.pieceAt(moveTo(move))?.color ?? position.turn) !== position.turn;
