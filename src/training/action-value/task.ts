import * as z from "zod";
import { MOE, type Schema } from "#models";
import { Batches } from "../batches/batches.js";
import { openGraphLearner } from "../graph-learner.js";
import { defineTask, percent } from "../task.js";
import { actionRows } from "./action-rows.js";
import { describeActionValue, judgeActionValue } from "./judge.js";
import { type ActionValueConfig, actionValueObjective, TARGETS } from "./objective.js";

const SHUFFLED = 131_072; // positions in memory at a time: some 35 MB

const SCHEMA: Schema<ActionValueConfig> = z.strictObject({
  queries: z
    .int()
    .min(1)
    .max(256)
    .describe("moves of a position in a batch; where there are more, others are taken each time"),
  target: z.enum(TARGETS).describe("the true bucket alone, the two nearest, or a bell around the true value"),
  sigma: z.number().positive().describe("deviation of that bell, in buckets"),
  balanceWeight: z.number().min(0).describe("in the loss, of using all experts alike"),
  rankingWeight: z.number().min(0).describe("in the loss, of telling the moves of a position apart; 0 for none"),
  rankingScale: z
    .number()
    .positive()
    .describe("win probability that makes a move e times as likely in that comparison"),
  rankingOdds: z
    .number()
    .min(0)
    .describe("times the log-odds, added to win probabilities there: tells moves apart where all win or all lose"),
});

export const ACTION_VALUE = defineTask({
  family: MOE,
  schema: SCHEMA,
  reads: ["all_moves", "action_value"],
  earlier: { rankingWeight: 0, rankingScale: 0.05, rankingOdds: 0, linked: false, pieceHeads: 0 }, // values alone counted; queries saw the board by attention
  defaults: {
    queries: 32,
    target: "hl-gauss",
    sigma: 0.75,
    balanceWeight: 0.01,
    rankingWeight: 0,
    rankingScale: 0.05,
    rankingOdds: 0,
  },

  open(paths, { train, task: { queries }, model: { turned, buckets } }, limit) {
    const format = actionRows({ queries, buckets, turned });
    return Batches.open({ sources: paths, format, seed: train.seed, limit, shuffledRows: SHUFFLED });
  },
  async learner(network, { train, task }) {
    const learner = await openGraphLearner(network, actionValueObjective(network, task), train);
    return {
      ...learner,
      step: (rows, options) =>
        learner.step(
          rows.map(({ batch }) => batch),
          options,
        ),
    };
  },
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
