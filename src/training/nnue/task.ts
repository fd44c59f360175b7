import * as z from "zod";
import { type Calibrated, Calibration, processors, UserError } from "#base";
import { NNUE, type Nnue, type Schema } from "#models";
import type { BatchSource } from "../batches/batch-source.js";
import { Batches } from "../batches/batches.js";
import { optimiserOf } from "../config.js";
import { defineTask, type Judgement, type JudgeOptions } from "../task.js";
import type { NnueTarget } from "./memory.js";
import { NNUE_ROWS } from "./record-rows.js";
import { type NnueBatch, NnueTrainer } from "./trainer.js";

/** Settings of networks that learn what a position is worth. */
export interface NnueTaskConfig extends NnueTarget {
  everyRow: boolean;
}

export interface NnueJudgement extends Judgement, Calibrated {
  // loss: mean square of the error of the expected score
  valueMae: number; // mean absolute error of the expected score, 0 to 1
  resultLoss: number; // mean square of the difference to the result of the game
}

const SHUFFLED = 131_072; // records in memory at a time: 5 MB

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

const SCHEMA: Schema<NnueTaskConfig> = z.strictObject({
  scoreScale: z.number().positive().describe("centipawns k in the expected score 1 / (1 + exp(-score / k))"),
  resultShare: z.number().min(0).max(1).describe("how much of the target is the game's result instead of the score"),
  quiet: z.boolean().describe("only positions without a check, a capture or a promotion to be played"),
  scoreLimit: z.int().min(1).describe("centipawns beyond which a position teaches nothing"),
  everyRow: z
    .boolean()
    .describe("let the optimiser move also the weights of inputs that do not occur in a batch: exact AdamW, slower"),
});

export const NNUE_VALUE = defineTask({
  family: NNUE,
  schema: SCHEMA,
  reads: ["games", "scored", "bullet"],
  defaults: { scoreScale: 600, resultShare: 0, quiet: true, scoreLimit: 32_767, everyRow: false },
  training: { batchSize: 16_384, clip: 0, ema: 0, weightDecay: 0, warmupSteps: 20, validationLimit: 200_000 },

  open: (paths, { train: { seed } }, limit) =>
    Batches.open({ sources: paths, format: NNUE_ROWS, seed, limit, shuffledRows: SHUFFLED }),

  learner(network, { train, task: target }) {
    if (train.clip !== 0)
      throw new UserError(
        "RECIPE_VALUE",
        `clip is ${train.clip}, but networks of this family are not clipped: set it to 0.`,
      );
    if (train.optimiser === "muon")
      throw new UserError("RECIPE_VALUE", "muon is not for networks of this family: set optimiser to adamw.");
    const { batchSize, accumulate, threads, ema } = train;
    return NnueTrainer.open(network, {
      batchSize: batchSize * accumulate,
      threads: threads || processors(),
      target,
      everyRow: target.everyRow,
      optimiser: optimiserOf(train),
      ema,
    });
  },

  judge: judgeNnue,

  summarise: (_, judged) => ({ val_value_mae: judged?.valueMae ?? null, val_result_loss: judged?.resultLoss ?? null }),
  describeEpoch({ epoch, train }, judged) {
    const trained = `epoch ${epoch}: loss ${train.loss.toFixed(5)}`;
    if (!judged) return trained;
    return `${trained}; unseen games: loss ${judged.loss.toFixed(5)}, value MAE ${judged.valueMae.toFixed(4)}, results ${judged.resultLoss.toFixed(4)}`;
  },
  describe: ({ loss, valueMae, resultLoss, ...calibrated }) => [
    `loss             ${loss.toFixed(6)}  (mean square of the error of the expected score)`,
    `value MAE        ${valueMae.toFixed(4)}  (expected score, 0 to 1)`,
    `results          ${resultLoss.toFixed(4)}  (mean square of the difference to the games' results)`,
    ...Calibration.describe(calibrated),
  ],
});

/** Judges a network by the positions that would teach it. */
async function judgeNnue(
  network: Nnue,
  source: BatchSource<NnueBatch>,
  target: NnueTaskConfig,
  { limit = 0, batchSize = 4096, threads = 0, signal, onProgress }: JudgeOptions = {},
): Promise<NnueJudgement> {
  const trainer = await NnueTrainer.open(network, { batchSize, threads: threads || processors(), target });
  try {
    const start = performance.now();
    const calibration = new Calibration(0, 1);
    const sums = { positions: 0, loss: 0, error: 0, result: 0 };
    for await (const batch of source.batches({ size: batchSize })) {
      signal?.throwIfAborted();
      const { loss, outputs, scores, results } = await trainer.predict(batch);
      sums.loss += loss;
      sums.positions += outputs.length;
      outputs.forEach((output, i) => {
        const expected = sigmoid((output * network.centipawns) / target.scoreScale);
        const result = (results[i] + 1) / 2;
        const wanted = sigmoid(scores[i] / target.scoreScale);
        const mixed = wanted + target.resultShare * (result - wanted);
        calibration.add(expected, mixed);
        sums.error += Math.abs(expected - mixed);
        sums.result += (expected - result) ** 2;
      });
      onProgress?.(sums.positions);
      if (limit > 0 && sums.positions >= limit) break;
    }
    const { positions, loss, error, result } = sums;
    if (positions === 0)
      throw new UserError("DATA_NONE", "no position to validate on: all were left out by quiet or scoreLimit.");
    return {
      positions,
      positionsPerSecond: (positions / (performance.now() - start)) * 1000,
      loss: loss / positions,
      valueMae: error / positions,
      resultLoss: result / positions,
      ...calibration.result(),
    };
  } finally {
    await trainer.close();
  }
}
