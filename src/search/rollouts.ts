import { Random } from "#base";
import type { Position } from "#chess";
import type { Evaluation, Evaluator } from "./evaluator.js";

const LONGEST_PLIES = 200; // a game longer than this is a draw

/**
 * Values a position by a game of random moves from it: tree search as it was before networks, and the baseline that a
 * trained network has to beat. The same position always gets the same game.
 */
export class RolloutEvaluator implements Evaluator {
  readonly batchSize = 8;

  constructor(private readonly seed = 1) {}

  async evaluate(positions: readonly Position[]): Promise<Evaluation[]> {
    return positions.map((position) => {
      const moves = position.moves();
      return { value: this.playOut(position), moves, policy: new Float32Array(moves.length).fill(1 / moves.length) };
    });
  }

  recall(): undefined {
    return undefined;
  }

  async close(): Promise<void> {}

  private playOut(position: Position): number {
    const line = position.clone();
    const random = new Random(this.seed ^ Number(position.key & 0x7fff_ffffn));
    for (let ply = 0; ply < LONGEST_PLIES; ply++) {
      const outcome = line.outcome();
      if (outcome) return outcome.winner === undefined ? 0 : outcome.winner === position.turn ? 1 : -1;
      line.playUnchecked(random.pick(line.moves()));
    }
    return 0;
  }
}
