import { UserError } from "#base";
import { formatFen, formatUci, type Move, type Position } from "#chess";
import { MOVE_TABLES } from "#encodings";
import { BOARDS, type Inference, type Residual, residualInference } from "#models";
import { type Limits, parseOptionValues } from "#search";
import { exportOnnx, Session } from "#tensor";
import { thousandths } from "./alphabeta-player.js";
import type { Choice, Line, MoveValue, Player } from "./player.js";

const SCORE_SCALE = 400; // centipawns k in value = tanh(score / k), as in training
const CERTAIN = 0.9999; // values beyond say no more than this one, 1981 centipawns

/** What a network says of one position. */
interface Opinion {
  logits: Float32Array; // of all moves
  value: number;
  wdl: Float32Array | undefined; // shares
}

/** Plays the move its policy likes best: no search, one run of the network a move. */
export class NetworkPlayer implements Player {
  readonly options = {};

  private constructor(
    readonly name: string,
    private readonly network: Residual,
    private readonly inference: Inference,
    private readonly session: Session,
  ) {}

  static async open(name: string, network: Residual): Promise<NetworkPlayer> {
    const inference = residualInference(network);
    return new NetworkPlayer(
      name,
      network,
      inference,
      await Session.open(exportOnnx(inference.outputs), { threads: 1 }),
    );
  }

  async newGame(): Promise<void> {}

  async choose(position: Position, { multiPv = 1, moves: allowed }: Limits = {}): Promise<Choice> {
    const start = performance.now();
    const legal = position.moves();
    if (legal.length === 0) throw new UserError("POSITION_OVER", `${formatFen(position)}: there is no move to choose.`);
    const [{ logits, value, wdl }] = await this.ask([position]);
    const table = MOVE_TABLES[BOARDS[this.network.config.board].moves];
    const shares = softmax(legal.map((move) => logits[table.encode(position, move)]));
    const all = legal.map((move, i) => ({ move, share: shares[i] })).sort((a, b) => b.share - a.share);
    const ranked = allowed ? all.filter(({ move }) => allowed.includes(move)) : all;
    // The network values the position, not each move.
    const lines = ranked.slice(0, multiPv).map(({ move }, rank): Line => {
      const pv = [formatUci(position, move)];
      return rank > 0 ? { pv } : { scoreCp: scoreOf(value), pv, ...(wdl && { wdl: thousandths(wdl) }) };
    });
    const policy = Object.fromEntries(all.map(({ move, share }) => [formatUci(position, move), share]));
    return { move: ranked[0].move, lines, policy, nodes: 1, timeMs: performance.now() - start };
  }

  /** By what the network says of the positions after them. */
  async valueMoves(position: Position, moves: readonly Move[]): Promise<MoveValue[]> {
    const after = moves.map((move) => position.clone().play(move));
    const asked = after.filter((next) => !next.outcome());
    const opinions = asked.length === 0 ? [] : await this.ask(asked);
    return moves.map((move, i) => {
      const outcome = after[i].outcome();
      const opinion = opinions[asked.indexOf(after[i])];
      const value = outcome ? (outcome.winner === undefined ? 0 : 1) : -opinion.value;
      const confidence = outcome ? 1 : opinion.wdl ? Math.max(...opinion.wdl) : null;
      return { move, winProbability: (1 + value) / 2, scoreCp: scoreOf(value), confidence };
    });
  }

  private async ask(positions: readonly Position[]): Promise<Opinion[]> {
    const opinions: Opinion[] = [];
    for (const feeds of this.inference.feeds(positions)) {
      const { policy, value, wdl } = await this.session.run(feeds);
      const row = (data: unknown, i: number, width: number) =>
        (data as Float32Array).subarray(i * width, (i + 1) * width);
      for (let i = 0; i < value.data.length; i++) {
        opinions.push({
          logits: row(policy.data, i, policy.shape[1]),
          value: Number(value.data[i]),
          wdl: wdl && row(wdl.data, i, 3),
        });
      }
    }
    return opinions;
  }

  async setOption(name: string, value: string): Promise<void> {
    parseOptionValues(`player "${this.name}"`, this.options, [[name, value]]);
  }

  close(): Promise<void> {
    return this.session.close();
  }
}

const scoreOf = (value: number): number =>
  Math.round(SCORE_SCALE * Math.atanh(Math.max(-CERTAIN, Math.min(CERTAIN, value))));

function softmax(logits: readonly number[]): number[] {
  const top = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp(logit - top));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / sum);
}
