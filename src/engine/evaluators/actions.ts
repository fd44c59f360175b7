import { type Move, type Position, preferenceOf } from "#chess";
import type { Inference } from "#models";
import { exportOnnx, Session } from "#tensor";
import type { Fit } from "./batching.js";
import { type FitOptions, LANES } from "./policy.js";
import { softmax } from "./softmax.js";

const BATCH = 8; // positions, each in a pass of its own: enough to keep the worker busy

/** Shares of moves by their win probabilities, as the ranking term of the training weighs them (recipes/moe-linked.yaml). */
const POLICY_TEMPERATURE = 0.05; // preference that makes a move e times as likely
const POLICY_ODDS = 0.1;

/**
 * Fits a network that gives the win probability of each legal move in one pass; the best move's is the position's. What the
 * rules decide is not left to the network: a move that mates is won, one that ends the game in a draw is drawn.
 */
export async function fitActions(inference: Inference, options: FitOptions): Promise<Fit> {
  const { threads, scoreScale, model = exportOnnx(inference.outputs) } = options;
  const session = await Session.open(model, { threads, lanes: LANES });
  return {
    batchSize: BATCH,
    scoreScale,
    keyOf: inference.keyOf,
    async run(positions) {
      const legal = positions.map((position) => position.moves());
      const decided = positions.map((position, i) => legal[i].map((move) => probabilityByRule(position, move)));
      const answers = await Promise.all(inference.feeds(positions).map((feeds) => session.run(feeds)));
      return answers.map(({ value, likeliest }, i) => {
        const found = value.data as Float32Array; // in the order of the moves
        const probabilities = found.map((probability, k) => decided[i][k] ?? probability);
        const moveValues = probabilities.map((probability) => 2 * probability - 1);
        return {
          value: moveValues.reduce((best, each) => Math.max(best, each), -1),
          moves: legal[i],
          policy: softmax(
            probabilities.map((probability) => preferenceOf(probability, POLICY_ODDS) / POLICY_TEMPERATURE),
          ),
          moveValues,
          confidences: likeliest.data as Float32Array,
        };
      });
    },
    close: () => session.close(),
  };
}

/** The share of the point if the move ends the game, whatever was played before; undefined if the game goes on. */
function probabilityByRule(position: Position, move: Move): number | undefined {
  const outcome = position.clone().play(move).outcome();
  if (!outcome || outcome.reason === "threefold repetition") return undefined; // answers are kept for positions without their history
  return outcome.winner === undefined ? 0.5 : 1;
}
