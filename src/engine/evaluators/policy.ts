import { assert, runtimeConvolves } from "#base";
import type { Move, Position } from "#chess";
import { MOVE_TABLES, type MoveTable } from "#encodings";
import type { Inference } from "#models";
import type { Evaluation } from "#search";
import { convolves, exportOnnx, Session } from "#tensor";
import type { Fit } from "./batching.js";
import { softmax } from "./softmax.js";

export interface FitOptions {
  threads: number; // the network computes with; 0: one per core
  steady?: boolean; // computes batches of all sizes in one way: an answer does not depend on what else is asked
  scoreScale?: number; // centipawns k in its values tanh(score / k)
  model?: Uint8Array; // ONNX to compute it, instead of one made of its weights
}

const BATCH = 32; // positions: larger batches gain some percent of speed, and cost a search more than that in aim

/**
 * From how many positions on convolutions are computed as products of matrices. Microseconds a position by convolutions and
 * by products (64x6, one core, docs/log/evaluator.md): 1370 and 2790 alone, 950 and 1360 by fours, 880 and 650 by eights,
 * 750 and 480 in batches of 32. In a browser products are always faster.
 */
const PRODUCTS_FROM = 8;

/**
 * Two batches at a time, each on half of the cores, are faster than one after the other on all of them: threads need not
 * wait for each other within every layer. A search has two under way (`pipeline`).
 */
export const LANES = 2;

/** Opens a network for batches of any size; `modelFor` says which model is the faster one for so many positions. */
export async function openNetwork({ outputs }: Inference, { threads, steady = false, model }: FitOptions) {
  if (model) return { session: await Session.open(model, { threads, lanes: LANES }), modelFor: () => 0 };
  const both = runtimeConvolves && !steady && convolves(outputs);
  const models = [() => exportOnnx(outputs, { products: true }), () => exportOnnx(outputs)];
  const session = await Session.open(models, { threads, lanes: LANES, eager: steady }); // who wants it steady asks much
  return { session, modelFor: (positions: number) => (both && positions < PRODUCTS_FROM ? 1 : 0) };
}

/** Fits a network that gives logits over a table of moves, a value, and win, draw and loss where it tells them apart. */
export async function fitPolicy(inference: Inference, options: FitOptions): Promise<Fit> {
  const { session, modelFor } = await openNetwork(inference, options);
  const room = (length: number) => session.room(length);
  const table = MOVE_TABLES[inference.moves];
  return {
    batchSize: BATCH,
    lanes: session.mostLanes,
    scoreScale: options.scoreScale,
    keyOf: inference.keyOf,
    async run(positions) {
      const legal = positions.map((position) => position.moves());
      const places = placesOf(positions, legal, table);
      const [feeds, ...more] = inference.feeds(positions, room);
      assert(more.length === 0, "a batch is fed at once");
      const model = modelFor(positions.length);
      const { policy, value, wdl } = await session.run(feeds, { model, lend: true, pick: { policy: places } });
      const [logits, values] = [policy.data as Float32Array, value.data as Float32Array];
      let next = 0;
      return legal.map((moves, i): Evaluation => {
        const shares = logits.subarray(next, (next += moves.length));
        return {
          value: values[i],
          ...(wdl && { wdl: shareTriple(wdl.data as Float32Array, i) }),
          moves,
          policy: softmax(shares),
        };
      });
    },
    close: () => session.close(),
  };
}

/** Where the logits of all legal moves stand among those of all moves, position after position. */
function placesOf(positions: readonly Position[], legal: readonly Move[][], table: MoveTable): Int32Array {
  const places = new Int32Array(legal.reduce((sum, { length }) => sum + length, 0));
  let next = 0;
  for (const [i, position] of positions.entries()) {
    const [black, chess960] = [position.turn === "black", position.chess960];
    for (const move of legal[i]) places[next++] = i * table.size + table.indexOf(move, black, chess960);
  }
  return places;
}

const shareTriple = (wdl: Float32Array, i: number) => [wdl[3 * i], wdl[3 * i + 1], wdl[3 * i + 2]] as const;
