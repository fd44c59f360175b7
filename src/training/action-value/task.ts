import { z } from "zod";
import { MOE, type Schema } from "#models";
import { openGraphLearner } from "../graph-learner.js";
import { defineTask, percent } from "../task.js";
import { openActions } from "./data.js";
import { describeActionValue, judgeActionValue } from "./judge.js";
import { type ActionValueConfig, actionValueObjective, TARGETS } from "./objective.js";
import { ActionSource } from "./source.js";

const SCHEMA: Schema<ActionValueConfig> = z.strictObject({
  queries: z.int().min(1).max(256),
  target: z.enum(TARGETS),
  sigma: z.number().positive(),
  balanceWeight: z.number().min(0),
  rankingWeight: z.number().min(0),
  rankingScale: z.number().positive(),
});

export const ACTION_VALUE = defineTask({
  family: MOE,
  schema: SCHEMA,
  defaults: { queries: 32, target: "hl-gauss", sigma: 0.75, balanceWeight: 0.01, rankingWeight: 0, rankingScale: 0.05 },

  async open(paths, { train, task, model }, limit) {
    const { turned, buckets } = model;
    const { queries } = task;
    return new ActionSource(await openActions(paths, { turned, limit }), { queries, buckets, seed: train.seed });
  },
  learner: (network, { train, task }) => openGraphLearner(network, actionValueObjective(network, task), train),
  judge: judgeActionValue,

  summarise: (trained, judged) => ({
    train_bucket_accuracy: trained.bucketTop1,
    val_bucket_accuracy: judged?.bucketTop1 ?? null,
    train_value_mae: trained.valueMae,
    val_value_mae: judged?.valueMae ?? null,
    val_kendall_tau: judged?.kendallTau ?? null,
    val_best_move: judged?.bestMove ?? null,
  }),
  describeEpoch({ epoch, train }, judged) {
    const trained = `epoch ${epoch}: loss ${train.loss.toFixed(3)}, bucket top-1 ${percent(train.bucketTop1)}, value MAE ${train.valueMae.toFixed(3)}`;
    if (!judged) return trained;
    return `${trained}; unseen games: loss ${judged.loss.toFixed(3)}, bucket top-1 ${percent(judged.bucketTop1)}, top-5 ${percent(judged.bucketTop5)}, value MAE ${judged.valueMae.toFixed(3)}, tau ${judged.kendallTau.toFixed(3)}, best move ${percent(judged.bestMove)}`;
  },
  describe: describeActionValue,
});
