import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { suggestion, UserError } from "#base";
import { FAMILIES, type FamilyName } from "#models";
import { DEVICES, type Device, type OptimiserChoice, type Schedule } from "#tensor";
import { TASKS } from "./tasks.js";

const OPTIMISERS = ["sgd", "adam", "adamw", "adadelta"] as const;
const SCHEDULES = ["constant", "cosine", "step"] as const;

/** How a run trains; what it trains and what on stands beside, in the fields of the family and of its task. Flat, plain JSON when saved. */
export interface TrainConfig {
  family: FamilyName;
  size: string; // one of the family's sizes; fields of the family override it
  data: string[]; // files to learn from
  validation: string[]; // files of other games, to judge by; none: judged by the loss on the data
  start: string; // a checkpoint whose weights to begin with; none: weights of chance
  limit: number; // positions taken from the data at most; 0 for all
  validationLimit: number; // positions judged after each epoch at most; 0 for all
  epochs: number; // each ends with a judgement and a checkpoint
  epochPositions: number; // positions in an epoch; 0: all of the data once
  batchSize: number; // positions per run of the network
  accumulate: number; // runs per step, their gradients averaged; as many at the same time as there are threads
  optimiser: (typeof OPTIMISERS)[number];
  learningRate: number; // peak, after warm-up
  weightDecay: number; // on everything but norms and biases
  momentum: number; // of sgd
  schedule: (typeof SCHEDULES)[number]; // cosine falls to finalRate at the last step of the last epoch
  warmupSteps: number;
  finalRate: number; // share of the peak that cosine ends with
  rateEvery: number; // steps after which `step` multiplies the rate by rateFactor
  rateFactor: number;
  clip: number; // largest norm of the gradient; 0 for any
  ema: number; // decay of the averaged weights; 0 keeps none
  patience: number; // epochs without improvement after which to stop; 0 never stops early
  saveEpochs: number; // epochs between checkpoints that are kept; the best and the last always are
  saveSteps: number; // steps between checkpoints within an epoch; decides only what a crash costs
  logSteps: number; // steps that one line of the metrics averages over
  seed: number; // the same seed, data and number of threads give identical weights
  device: Device;
  threads: number; // 0: one per core
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
};

const whole = z.int().min(0);
const positive = z.int().min(1);
const share = z.number().min(0).max(1);
const factor = z.number().min(0);

const FIELDS = {
  family: z.enum(Object.keys(FAMILIES) as FamilyName[]),
  size: z.string(),
  data: z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(z.string())),
  validation: z.preprocess((value) => (typeof value === "string" ? [value] : value), z.array(z.string())),
  start: z.string(),
  limit: whole,
  validationLimit: whole,
  epochs: positive,
  epochPositions: whole,
  batchSize: positive,
  accumulate: positive,
  optimiser: z.enum(OPTIMISERS),
  learningRate: z.number().positive(),
  weightDecay: factor,
  momentum: share,
  schedule: z.enum(SCHEDULES),
  warmupSteps: whole,
  finalRate: share,
  rateEvery: positive,
  rateFactor: factor,
  clip: factor,
  ema: z.number().min(0).lt(1),
  patience: whole,
  saveEpochs: positive,
  saveSteps: positive,
  logSteps: positive,
  seed: z.int(),
  device: z.enum(DEVICES),
  threads: whole,
} satisfies { [K in keyof TrainConfig]: z.ZodType<TrainConfig[K]> };

/** A whole recipe: how to train, what to learn, and the network itself. */
export interface Recipe {
  train: TrainConfig;
  task: Record<string, unknown>; // settings of what the family learns, complete
  model: Record<string, unknown>; // the family's config, complete
}

/** The text of a recipe file, a list of `key: value`, as plain values. */
export function parseRecipe(text: string, file: string): Record<string, unknown> {
  let values: unknown;
  try {
    values = parseYaml(text);
  } catch (error) {
    throw new UserError("RECIPE_SYNTAX", `${file}: not YAML: ${(error as Error).message}`);
  }
  if (values === null) return {};
  if (typeof values !== "object" || Array.isArray(values))
    throw new UserError("RECIPE_SYNTAX", `${file}: expected lines of "key: value", found ${JSON.stringify(values)}.`);
  return values as Record<string, unknown>;
}

/** `key=value` as it is written behind --set; the value is read as in a recipe. */
export function parseSetting(text: string): Record<string, unknown> {
  const equals = text.indexOf("=");
  if (equals <= 0) throw new UserError("RECIPE_SETTING", `--set ${text}: expected key=value, as learningRate=0.002.`);
  return parseRecipe(`${text.slice(0, equals)}: ${text.slice(equals + 1)}`, `--set ${text}`);
}

/** Completes a recipe's values and checks them; `where` names their source in messages. */
export function resolveRecipe(values: Readonly<Record<string, unknown>>, where: string): Recipe {
  const family = check(FIELDS.family, "family", values.family ?? TRAIN_DEFAULTS.family, where);
  const { fields, sizes } = FAMILIES[family];
  const task = TASKS[family];
  const known = [...Object.keys(FIELDS), ...Object.keys(task.fields), ...Object.keys(fields)];
  for (const key of Object.keys(values)) {
    if (!known.includes(key))
      throw new UserError(
        "RECIPE_KEY",
        `${where}: there is no setting "${key}".${suggestion(key, known)}\nThere are: ${known.join(", ")}.`,
      );
  }
  const pick = (schema: Record<string, z.ZodType>, defaults: object) =>
    Object.fromEntries(
      Object.entries({ ...defaults, ...values })
        .filter(([key]) => Object.hasOwn(schema, key))
        .map(([key, value]) => [key, check(schema[key], key, value, where)]),
    );
  const train = pick(FIELDS, { ...TRAIN_DEFAULTS, ...task.training }) as unknown as TrainConfig;
  if (!Object.hasOwn(sizes, train.size))
    throw new UserError(
      "RECIPE_VALUE",
      `${where}: ${family} has no size "${train.size}".${suggestion(train.size, Object.keys(sizes))}\n` +
        `It has: ${Object.keys(sizes).join(", ")}.`,
    );
  const model = pick(fields, sizes[train.size]);
  const problem = FAMILIES[family].check(model as never);
  if (problem !== undefined) throw new UserError("RECIPE_VALUE", `${where}: ${problem}`);
  return { train, task: pick(task.fields, task.defaults), model };
}

function check<T>(schema: z.ZodType<T>, key: string, value: unknown, where: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  throw new UserError(
    "RECIPE_VALUE",
    `${where}: ${key} is ${JSON.stringify(value)}. ${error.issues.map(({ message }) => message).join("; ")}.`,
  );
}

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
