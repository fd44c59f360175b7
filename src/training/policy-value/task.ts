import * as z from "zod";
import { UserError } from "#base";
import { BOARDS, RESIDUAL, type Schema } from "#models";
import { Batches } from "../batches/batches.js";
import { openGraphLearner } from "../graph-learner.js";
import { defineTask, percent } from "../task.js";
import { describePolicyValue, judgePolicyValue } from "./judge.js";
import { type PolicyValueConfig, policyValueObjective } from "./objective.js";
import { planeRows } from "./plane-rows.js";

const SHUFFLED = 262_144; // records in memory at a time, 10 MB: of some 3,000 games

const factor = z.number().min(0);

const SCHEMA: Schema<PolicyValueConfig> = z.strictObject({
  policyWeight: factor.describe("of the policy in the loss"),
  valueWeight: factor.describe("of the value in the loss"),
  scoreScale: z.number().positive().describe("centipawns k in the value tanh(score / k)"),
  resultShare: factor.max(1).describe("how much of the value target is the game's result instead of the score"),
  augment: z
    .boolean()
    .describe("half of the positions are shown mirrored (no castling right left) or from the other side (planes13)"),
});

export const POLICY_VALUE = defineTask({
  family: RESIDUAL,
  schema: SCHEMA,
  reads: ["games", "scored"],
  // Positions were shown as they were; files of positions do not know repetitions.
  earlier: { augment: false, repetitions: false },
  defaults: { policyWeight: 1, valueWeight: 1, scoreScale: 400, resultShare: 0, augment: false },

  open(paths, { train, task, model }, limit) {
    const { scoreScale, resultShare, augment } = task;
    const { board, repetitions } = model;
    if (repetitions)
      throw new UserError(
        "RECIPE_VALUE",
        "repetitions is true, but files of positions do not say how often a position occurred in its game: set it to false.",
      );
    const { moves } = BOARDS[board];
    const format = planeRows({ planes: board, moves, scoreScale, resultShare, augment });
    return Batches.open({ sources: paths, format, seed: train.seed, limit, shuffledRows: SHUFFLED });
  },
  learner(network, { train, task }) {
    network.scoreScale = task.scoreScale;
    return openGraphLearner(network, policyValueObjective(network, task, train.batchSize), train);
  },
  judge: judgePolicyValue,

  summarise: (trained, judged) => ({
    train_policy_accuracy: trained.policyTop1,
    val_policy_accuracy: judged?.policyTop1 ?? null,
    train_value_mae: trained.valueMae,
    val_value_mae: judged?.valueMae ?? null,
  }),
  describeEpoch({ epoch, train }, judged) {
    const trained = `epoch ${epoch}: loss ${train.loss.toFixed(3)}, top-1 ${percent(train.policyTop1)}`;
    if (!judged) return `${trained}, value MAE ${train.valueMae.toFixed(3)}`;
    return `${trained}; unseen games: loss ${judged.loss.toFixed(3)}, top-1 ${percent(judged.policyTop1)}, top-5 ${percent(judged.policyTop5)}, value MAE ${judged.valueMae.toFixed(3)}`;
  },
  describe: describePolicyValue,
  describeGain(before, after) {
    const shares = (["policyTop1", "policyTop3", "policyTop5"] as const).map(
      (name, i) => `top-${2 * i + 1} ${percent(before[name])} -> ${percent(after[name])}`,
    );
    const gain = (100 * (after.policyTop1 - before.policyTop1)).toFixed(1);
    return `${shares.join(", ")} (${gain.startsWith("-") ? "" : "+"}${gain} points of top-1)`;
  },
});
