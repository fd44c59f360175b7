import * as z from "zod";
import { UserError } from "#base";
import { DECODER, type Schema } from "#models";
import { Batches } from "../batches/batches.js";
import { openGraphLearner } from "../graph-learner.js";
import { defineTask, percent } from "../task.js";
import { describeDecoder, judgeDecoder } from "./judge.js";
import { type DecoderTaskConfig, decoderObjective, pickFeeds } from "./objective.js";
import { thoughtInputs, thoughtObjective } from "./thought-objective.js";
import { windowRows } from "./window-rows.js";

const SHUFFLED = 65_536; // windows in memory at a time

const factor = z.number().min(0);

const SCHEMA: Schema<DecoderTaskConfig> = z.strictObject({
  context: z.int().min(1).max(64).describe("positions in a window of a game"),
  resultShare: factor.max(1).describe("how much of a value is the game's result instead of the score"),
  boardShare: z
    .number()
    .positive()
    .max(1)
    .describe("share of the windows in a batch whose boards are learnt too: most of a board is copied, and soon known"),
  skipBoards: factor
    .max(1)
    .describe(
      "share of the boards of games that are left out, but the first of a window: the network must imagine them",
    ),
  boardWeight: factor.describe("in the loss, of the next token of a board"),
  changeWeight: z
    .number()
    .positive()
    .describe(
      "of a token that the last move changed beside one that is copied: three or four of the 68 decide whether a board is right",
    ),
  moveWeight: factor.describe("in the loss, of the move"),
  winLossWeight: factor.describe("in the loss, of the distribution of win minus loss"),
  drawWeight: factor.describe("in the loss, of the distribution of draws"),
  thinking: z.boolean().describe("thoughts are learnt too: the data may have tables of variations beside games"),
  thinkingWeight: factor.describe("in the loss, of the moves of thoughts"),
  valueNoise: factor.describe(
    "standard deviation of what is added to the values that windows and variations show: those of a search are better than its own, which it will have in play, and what the first value of a window says of the result would be repeated by all others",
  ),
});

export const DECODER_TASK = defineTask({
  family: DECODER,
  schema: SCHEMA,
  reads: ["games", "scored"],
  // Decoders learnt games alone, saw all boards, whose tokens weighed the same, and spoke moves as tokens alone.
  earlier: {
    thinking: false,
    thinkingWeight: 1,
    valueNoise: 0,
    skipBoards: 0,
    changeWeight: 1,
    movesBySquares: false,
    pieceHeads: 0,
  },
  defaults: {
    context: 4,
    resultShare: 0,
    boardShare: 1,
    skipBoards: 0,
    boardWeight: 1,
    changeWeight: 1,
    moveWeight: 1,
    winLossWeight: 1,
    drawWeight: 1,
    thinking: false,
    thinkingWeight: 1,
    valueNoise: 0,
  },

  training: { size: "small" },

  open(paths, { train, task }, limit) {
    const { context, resultShare, thinking, valueNoise, skipBoards } = task;
    const format = windowRows({ context, resultShare, thinking, valueNoise, skipBoards });
    return Batches.open({ sources: paths, format, seed: train.seed, limit, shuffledRows: SHUFFLED });
  },
  async learner(network, { train, task }) {
    const { context } = task;
    if (train.batchSize % context !== 0)
      throw new UserError(
        "RECIPE_VALUE",
        `batchSize is ${train.batchSize}, expected a multiple of context, the ${context} positions of a window.`,
      );
    const rows = train.batchSize / context;
    if (!task.thinking && task.skipBoards === 0)
      return openGraphLearner(network, decoderObjective(network, task, rows), train);
    const learner = await openGraphLearner(network, thoughtObjective(network, task, rows), train);
    const names = thoughtInputs(network);
    return {
      ...learner,
      step: (batches, options) =>
        learner.step(
          batches.map((batch) => pickFeeds(batch, names)),
          options,
        ),
    };
  },
  judge: judgeDecoder,

  summarise: (trained, judged) => ({
    train_policy_accuracy: trained.policyTop1,
    val_policy_accuracy: judged?.policyTop1 ?? null,
    train_board_accuracy: trained.boardTop1,
    val_board_accuracy: judged?.boardTokens ?? null,
    val_whole_boards: judged?.wholeBoards ?? null,
    train_value_mae: trained.winLossMae,
    val_value_mae: judged?.winLossMae ?? null,
  }),
  describeEpoch({ epoch, train }, judged) {
    const trained = `epoch ${epoch}: loss ${train.loss.toFixed(3)}, top-1 ${percent(train.policyTop1)}, board tokens ${percent(train.boardTop1)}`;
    if (!judged) return trained;
    return `${trained}; unseen games: loss ${judged.loss.toFixed(3)}, top-1 ${percent(judged.policyTop1)}, top-5 ${percent(judged.policyTop5)}, board tokens ${percent(judged.boardTokens)}, whole boards ${percent(judged.wholeBoards)}, win-loss MAE ${judged.winLossMae.toFixed(3)}`;
  },
  describe: describeDecoder,
});
