import { Random, UserError } from "#base";
import { formatFen, formatUci, type Move, type Position, scoreOfProbability } from "#chess";
import { FEN_TOKENS, MOVE_TABLES } from "#encodings";
import { encodeActionInput, type Moe } from "#models";
import { type Limits, parseOptionValues } from "#search";
import { exportOnnx, input, Session } from "#tensor";
import type { Choice, Line, MoveValue, Player } from "./player.js";

const DRAW = 0.5;
const CERTAIN = 1e-4; // from 0 and 1: win probabilities beyond say no more, 2501 centipawns

/** Plays the move of the highest expected win probability, or draws among the moves by a temperature. */
export class ActionPlayer implements Player {
  readonly options = {};
  private random = new Random(1);

  private constructor(
    readonly name: string,
    private readonly network: Moe,
    private readonly session: Session,
    private readonly temperature: number, // in win probability; 0 plays the best
  ) {}

  static async open(name: string, network: Moe, { temperature = 0 } = {}): Promise<ActionPlayer> {
    const answer = network.forward(input("tokens", [1, FEN_TOKENS], "int32"), input("actions", [1, "q"], "int32"));
    const likeliest = answer.logits.softmax().max(-1).transpose(); // [1, q]
    const model = exportOnnx({ value: network.values(answer), likeliest });
    return new ActionPlayer(name, network, await Session.open(model, { threads: 1 }), temperature);
  }

  async newGame({ seed = 1 }: { seed?: number } = {}): Promise<void> {
    this.random = new Random(seed);
  }

  async choose(position: Position, { multiPv = 1, moves: allowed }: Limits = {}): Promise<Choice> {
    const start = performance.now();
    const moves = allowed ?? position.moves();
    if (moves.length === 0) throw new UserError("POSITION_OVER", `${formatFen(position)}: there is no move to choose.`);
    const valued = (await this.valueMoves(position, moves)).sort((a, b) => b.winProbability - a.winProbability);
    if (this.temperature > 0) valued.unshift(...valued.splice(this.draw(valued), 1));
    const lines = valued.slice(0, multiPv).map(
      ({ move, winProbability }): Line => ({
        scoreCp: scoreOf(winProbability),
        pv: [formatUci(position, move)],
      }),
    );
    return { move: valued[0].move, lines, nodes: 1, timeMs: performance.now() - start };
  }

  /** All of the moves in one pass of the network. */
  async valueMoves(position: Position, moves: readonly Move[]): Promise<MoveValue[]> {
    const { tokens, numberOf } = encodeActionInput(position, this.network.config.turned);
    const actions = Int32Array.from(moves, (move) => numberOf(MOVE_TABLES.actions1968.encode(position, move)));
    const { value, likeliest } = await this.session.run({ tokens: Int32Array.from(tokens), actions });
    return moves.map((move, i) => {
      const winProbability = allowsThreefold(position, move) ? DRAW : Number(value.data[i]);
      return { move, winProbability, scoreCp: scoreOf(winProbability), confidence: Number(likeliest.data[i]) };
    });
  }

  /** The place of a move drawn with chances exp(value / temperature). */
  private draw(valued: readonly MoveValue[]): number {
    const best = valued[0].winProbability;
    const chances = valued.map(({ winProbability }) => Math.exp((winProbability - best) / this.temperature));
    let left = this.random.next() * chances.reduce((sum, chance) => sum + chance, 0);
    const place = chances.findIndex((chance) => (left -= chance) < 0);
    return Math.max(0, place);
  }

  async setOption(name: string, value: string): Promise<void> {
    parseOptionValues(`player "${this.name}"`, this.options, [[name, value]]);
  }

  close(): Promise<void> {
    return this.session.close();
  }
}

const scoreOf = (winProbability: number): number =>
  Math.round(scoreOfProbability(Math.max(CERTAIN, Math.min(1 - CERTAIN, winProbability))));

/** Whether the opponent could claim a draw by repetition after the move: it is there, or a reply away. */
function allowsThreefold(position: Position, move: Move): boolean {
  if (position.halfmoves < 6) return false; // twice before within the moves that can be taken back: 8 plies with the reply
  const after = position.clone().play(move);
  if (after.repetitions() >= 2) return true;
  return after.moves().some((reply) => {
    after.play(reply);
    const isThird = after.repetitions() >= 2;
    after.undo();
    return isThird;
  });
}
