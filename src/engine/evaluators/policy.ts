import type { Position } from "#chess";
import { MOVE_TABLES } from "#encodings";
import type { Inference } from "#models";
import type { Evaluation } from "#search";
import { exportOnnx, Session } from "#tensor";
import type { Fit } from "./batching.js";
import { softmax } from "./softmax.js";

export interface FitOptions {
  threads: number; // the network computes with; 0: one per core
  scoreScale?: number; // centipawns k in its values tanh(score / k)
  model?: Uint8Array; // ONNX to compute it, instead of one made of its weights
}

const BATCH = 32; // positions: larger batches gain some percent of speed, and cost a search more than that in aim

/** Fits a network that gives logits over a table of moves, a value, and win, draw and loss where it tells them apart. */
export async function fitPolicy(inference: Inference, options: FitOptions): Promise<Fit> {
  const { threads, scoreScale, model = exportOnnx(inference.outputs) } = options;
  const session = await Session.open(model, { threads });
  const table = MOVE_TABLES[inference.moves];
  const askedOf = (position: Position) => {
    const moves = position.moves();
    const [black, chess960] = [position.turn === "black", position.chess960];
    return { moves, indices: moves.map((move) => table.indexOf(move, black, chess960)) };
  };
  return {
    batchSize: BATCH,
    scoreScale,
    keyOf: inference.keyOf,
    async run(positions) {
      const asked = positions.map(askedOf);
      const runs = inference.feeds(positions).map((feeds) => session.run(feeds));
      const evaluations: Evaluation[] = [];
      for (const { policy, value, wdl } of await Promise.all(runs)) {
        const [logits, values] = [policy.data as Float32Array, value.data as Float32Array];
        const width = policy.shape[1];
        for (let i = 0; i < values.length; i++) {
          const { moves, indices } = asked[evaluations.length];
          const shares = Float32Array.from(indices, (index) => logits[i * width + index]);
          evaluations.push({
            value: values[i],
            ...(wdl && { wdl: shareTriple(wdl.data as Float32Array, i) }),
            moves,
            policy: softmax(shares),
          });
        }
      }
      return evaluations;
    },
    close: () => session.close(),
  };
}

const shareTriple = (wdl: Float32Array, i: number) => [wdl[3 * i], wdl[3 * i + 1], wdl[3 * i + 2]] as const;
