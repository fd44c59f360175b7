import * as z from "zod";
import { FAMILIES, type FamilyName, type Schema } from "#models";
import { DEVICES, type Device, type OptimiserChoice, type Schedule } from "#tensor";

const OPTIMISERS = ["sgd", "adam", "adamw", "adadelta", "muon"] as const;
/** The precisions in which trainings that work together tell each other what they learnt. */
export const PRECISIONS = ["float32", "float16", "int8"] as const;
/** One of `PRECISIONS`. */
export type Precision = (typeof PRECISIONS)[number];
const SCHEDULES = ["constant", "cosine", "step"] as const;

/** How a run trains; what it trains and what on stands beside, in the fields of the family and of its task. Flat, plain JSON when saved. TRAIN_SCHEMA says what each field means. */
export interface TrainConfig {
  family: FamilyName;
  size: string;
  data: string[];
  validation: string[];
  start: string;
  limit: number;
  validationLimit: number;
  epochs: number;
  epochPositions: number;
  batchSize: number;
  accumulate: number;
  optimiser: (typeof OPTIMISERS)[number];
  learningRate: number;
  weightDecay: number;
  momentum: number;
  schedule: (typeof SCHEDULES)[number];
  warmupSteps: number;
  finalRate: number;
  rateEvery: number;
  rateFactor: number;
  clip: number;
  ema: number;
  patience: number;
  saveEpochs: number;
  saveSteps: number;
  logSteps: number;
  seed: number;
  device: Device;
  threads: number;
  roundSteps: number;
  outerRate: number;
  outerMomentum: number;
  differences: Precision;
}

/** A run that finishes on a laptop. Recipes override what they need. */
export const TRAIN_DEFAULTS: TrainConfig = {
  family: "residual",
  size: "base",
  data: [],
  validation: [],
  start: "",
  limit: 0,
  validationLimit: 20_000,
  epochs: 10,
  epochPositions: 0,
  batchSize: 256,
  accumulate: 1,
  optimiser: "adamw",
  learningRate: 1e-3,
  weightDecay: 1e-4,
  momentum: 0.9,
  schedule: "cosine",
  warmupSteps: 100,
  finalRate: 0.01,
  rateEvery: 10_000,
  rateFactor: 0.5,
  clip: 5,
  ema: 0.999,
  patience: 0,
  saveEpochs: 1,
  saveSteps: 500,
  logSteps: 20,
  seed: 1,
  device: "cpu",
  threads: 0,
  roundSteps: 100,
  outerRate: 0.7,
  outerMomentum: 0.9,
  differences: "float32",
};

const whole = z.int().min(0);
const positive = z.int().min(1);
const share = z.number().min(0).max(1);
const factor = z.number().min(0);

export const FAMILY_SCHEMA = z.enum(Object.keys(FAMILIES) as FamilyName[]);

export const TRAIN_SCHEMA: Schema<TrainConfig> = z.strictObject({
  family: FAMILY_SCHEMA.describe("kind of network"),
  size: z.string().describe("one of the family's sizes; fields of the family override it"),
  data: z
    .preprocess((value) => (typeof value === "string" ? [value] : value), z.array(z.string()))
    .describe("files to learn from"),
  validation: z
    .preprocess((value) => (typeof value === "string" ? [value] : value), z.array(z.string()))
    .describe("files of other games, to validate on; none: checkpoints are compared by the loss on the data"),
  start: z.string().describe("a checkpoint whose weights to begin with; none: random weights"),
  limit: whole.describe("positions taken from the data at most; 0 for all"),
  validationLimit: whole.describe("validation positions after each epoch at most; 0 for all"),
  epochs: positive.describe("each ends with a validation and a checkpoint"),
  epochPositions: whole.describe("positions in an epoch; 0: all of the data once"),
  batchSize: positive.describe("positions per run of the network"),
  accumulate: positive.describe(
    "runs per step, their gradients averaged; as many at the same time as there are threads",
  ),
  optimiser: z.enum(OPTIMISERS).describe("how weights follow their gradients; muon: not for nnue"),
  learningRate: z.number().positive().describe("peak, after warm-up"),
  weightDecay: factor.describe("on everything but norms and biases"),
  momentum: share.describe("of sgd"),
  schedule: z.enum(SCHEDULES).describe("cosine falls to finalRate at the last step of the last epoch"),
  warmupSteps: whole.describe("steps in which the learning rate rises to its peak"),
  finalRate: share.describe("share of the peak that cosine ends with"),
  rateEvery: positive.describe("steps after which `step` multiplies the rate by rateFactor"),
  rateFactor: factor.describe("what `step` multiplies the rate by"),
  clip: factor.describe("largest norm of the gradient; 0 for any"),
  ema: z.number().min(0).lt(1).describe("decay of the averaged weights; 0 keeps none"),
  patience: whole.describe("epochs without improvement after which to stop; 0 never stops early"),
  saveEpochs: positive.describe("epochs between checkpoints that are kept; the best and the last always are"),
  saveSteps: positive.describe("steps between checkpoints within an epoch; decides only what a crash costs"),
  logSteps: positive.describe("steps that one line of the metrics averages over"),
  seed: z.int().describe("the same seed, data and number of threads give identical weights"),
  device: z.enum(DEVICES).describe("what computes"),
  threads: whole.describe("0: one per core"),
  roundSteps: positive.describe("with other workers: steps of each between two exchanges of weights"),
  outerRate: factor.describe("with other workers: how far the weights follow the mean of what a round changed"),
  outerMomentum: share.describe("with other workers: Nesterov's momentum of these steps"),
  differences: z
    .enum(PRECISIONS)
    .describe("with other workers: how what a round changed is sent; the error is sent later"),
});

/** A whole recipe: how to train, what to learn, and the network itself; plain JSON. A task knows its own `C` and `M`. */
export interface Recipe<C = object, M = object> {
  train: TrainConfig;
  task: C; // settings of what the family learns, complete
  model: M; // the family's config, complete
}

/** How much of what is learnt of a position is the result of its game, for families that learn from both. */
export const resultShareOf = ({ task }: Recipe): number | undefined =>
  "resultShare" in task ? Number(task.resultShare) : undefined;

export function optimiserOf({ optimiser, weightDecay, momentum }: TrainConfig): OptimiserChoice {
  return optimiser === "sgd" ? { name: "sgd", weightDecay, momentum } : { name: optimiser, weightDecay };
}

/** The learning rate over a run of so many steps. */
export function scheduleOf(config: TrainConfig, steps: number): Schedule {
  const { warmupSteps, finalRate, rateEvery, rateFactor } = config;
  switch (config.schedule) {
    case "constant":
      return { kind: "constant", warmupSteps };
    case "cosine":
      return { kind: "cosine", steps, warmupSteps, final: finalRate };
    case "step":
      return { kind: "step", every: rateEvery, factor: rateFactor, warmupSteps };
  }
}
