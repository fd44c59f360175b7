import { UserError } from "#base";
import { formatFen, formatUci, type Move, type Position } from "#chess";
import { batchOf, MOVE_TABLES } from "#encodings";
import { BOARDS, type Residual } from "#models";
import { exportOnnx, input, Session } from "#tensor";
import type { Choice, Limits, Player, Variation } from "./player.js";

const SCORE_SCALE = 400; // centipawns k in value = tanh(score / k), as in training
const CERTAIN = 0.9999; // values beyond say no more than this one, 1981 centipawns

/** Plays the move its policy likes best: no search, one run of the network a move. */
export class NetworkPlayer implements Player {
  private constructor(
    readonly name: string,
    private readonly network: Residual,
    private readonly session: Session,
  ) {}

  static async open(name: string, network: Residual): Promise<NetworkPlayer> {
    const { policy, value, wdl } = network.forward(input("planes", ["n", BOARDS[network.config.board].planes, 8, 8]));
    const results = { policy, value, ...(wdl && { wdl: wdl.softmax() }) };
    return new NetworkPlayer(name, network, await Session.open(exportOnnx(results), { threads: 1 }));
  }

  async newGame(): Promise<void> {}

  async choose(position: Position, { multiPv = 1 }: Limits = {}): Promise<Choice> {
    const start = performance.now();
    const { board } = this.network.config;
    const planes = batchOf(position, position.repetitions())[board](1).slice();
    const results = await this.session.run({ planes });
    const table = MOVE_TABLES[BOARDS[board].moves];
    const logit = (move: Move) => Number(results.policy.data[table.encode(position, move)]);
    const ranked = position.moves().sort((a, b) => logit(b) - logit(a));
    if (ranked.length === 0)
      throw new UserError("POSITION_OVER", `${formatFen(position)}: there is no move to choose.`);
    const value = Math.max(-CERTAIN, Math.min(CERTAIN, Number(results.value.data[0])));
    const wdl = results.wdl?.data as Float32Array | undefined;
    // The network values the position, not each move.
    const variations = ranked.slice(0, multiPv).map((move, rank): Variation => {
      const pv = [formatUci(position, move)];
      if (rank > 0) return { pv };
      const scoreCp = Math.round(SCORE_SCALE * Math.atanh(value));
      return { scoreCp, pv, ...(wdl && { wdl: thousandths(wdl) }) };
    });
    return { ...variations[0], move: ranked[0], nodes: 1, timeMs: performance.now() - start, variations };
  }

  close(): Promise<void> {
    return this.session.close();
  }
}

/** Win, draw, loss in whole thousandths that add up. */
function thousandths(wdl: ArrayLike<number>): [number, number, number] {
  const [win, loss] = [Math.round(wdl[0] * 1000), Math.round(wdl[2] * 1000)];
  return [win, 1000 - win - loss, loss];
}
