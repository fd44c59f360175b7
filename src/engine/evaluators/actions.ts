import type { Inference } from "#models";
import { exportOnnx, Session } from "#tensor";
import type { Fit } from "./batching.js";
import { type FitOptions, LANES } from "./policy.js";
import { softmax } from "./softmax.js";

const BATCH = 8; // positions, each in a pass of its own: enough to keep the worker busy
const POLICY_TEMPERATURE = 0.05; // in win probability: a move that gives away five hundredths more has 1 / e of the share

/** Fits a network that gives the win probability of each legal move in one pass; the best move's is the position's. */
export async function fitActions(inference: Inference, options: FitOptions): Promise<Fit> {
  const { threads, scoreScale, model = exportOnnx(inference.outputs) } = options;
  const session = await Session.open(model, { threads, lanes: LANES });
  return {
    batchSize: BATCH,
    scoreScale,
    keyOf: inference.keyOf,
    async run(positions) {
      const legal = positions.map((position) => position.moves());
      const answers = await Promise.all(inference.feeds(positions).map((feeds) => session.run(feeds)));
      return answers.map(({ value, likeliest }, i) => {
        const probabilities = value.data as Float32Array; // in the order of the moves
        const moveValues = probabilities.map((probability) => 2 * probability - 1);
        return {
          value: moveValues.reduce((best, each) => Math.max(best, each), -1),
          moves: legal[i],
          policy: softmax(probabilities.map((probability) => probability / POLICY_TEMPERATURE)),
          moveValues,
          confidences: likeliest.data as Float32Array,
        };
      });
    },
    close: () => session.close(),
  };
}
