import type * as z from "zod";
import type { RecordKind } from "#formats";
import type { Family, Network, Schema } from "#models";
import type { SessionOptions, TrainerState } from "#tensor";
import type { BatchSource } from "./batches/batch-source.js";
import type { Recipe, TrainConfig } from "./config.js";
import type { EpochSummary, Measured } from "./run/checkpoint.js";

/** What takes the steps of a run. */
export interface Learner<B = unknown> {
  /** One step on all of the batches; what was measured, averaged over them. If it is not finite, nothing was learnt. */
  step(batches: readonly B[], options: { learningRate: number }): Promise<{ loss: number } & Record<string, number>>;
  /** Brings the trained weights (or their moving average) into the network's parameters. */
  pull(options?: { ema?: boolean }): Promise<void>;
  /** Takes the network's parameters as the weights to go on from; moments and moving averages stay. */
  push(): Promise<void>;
  /** What a checkpoint needs beside the weights. */
  state(): Promise<TrainerState>;
  restore(state: TrainerState): Promise<void>;
  close(): Promise<void>;
}

/** What every family's judgement says; the numbers beside these are the family's own. */
export interface Judgement {
  positions: number;
  positionsPerSecond: number;
  loss: number;
}

/** How many positions a network is judged by, and how. */
export interface JudgeOptions extends SessionOptions {
  limit?: number; // positions, rounded up to whole batches; 0 for all
  batchSize?: number;
  signal?: AbortSignal;
  onProgress?: (positions: number) => void;
}

/** How what a family has learnt is told. */
interface Telling<J> {
  /** The numbers of an epoch that metadata.json keeps beside the losses, by OmegaZero's names for them. */
  summarise(trained: Readonly<Record<string, number>>, judged: J | undefined): Record<string, number | null>;
  /** An epoch in a line, and a judgement in several, to be read by people. */
  describeEpoch(summary: EpochSummary, judged: J | undefined): string;
  describe(judged: J): string[];
  /** What a training gained over the weights it began with, on unseen games; by default the loss says it. */
  describeGain?(before: Measured, after: Measured): string;
}

/** What a family knows of itself beside how it learns. */
interface Facts {
  /** What it can learn from, as files of data hold it. */
  readonly reads: readonly (RecordKind | "games")[];
  /** Settings that came later than the first runs, with the values by which those runs worked. */
  readonly earlier?: Readonly<Record<string, unknown>>;
}

/**
 * What a family is to learn, as the family writes it down: its settings `C` beside the config `M` of its network `N`, the
 * sources `S` of its batches, and what a judgement `J` says.
 */
interface TaskSpec<C extends object, M extends object, N extends Network, S extends BatchSource, J>
  extends Telling<J>,
    Facts {
  family: Family<M, N>;
  schema: Schema<C>;
  defaults: NoInfer<C>;
  training?: Partial<TrainConfig>; // where the settings of how to train have other defaults
  open(paths: readonly string[], recipe: Recipe<C, M>, limit?: number): Promise<S>;
  learner(network: N, recipe: Recipe<C, M>): Promise<Learner<BatchOf<S>>>;
  judge(network: N, source: S, settings: NoInfer<C>, options?: JudgeOptions): Promise<J>;
}

type BatchOf<S> = S extends BatchSource<infer B> ? B : never;

/**
 * The same for those who do not know which family it is: the loop, the recipes and the commands. Recipes and networks are
 * checked where they come in. Only sources, which go from `open` to `judge`, and their batches, which go to the learner,
 * are taken on trust: both ends are the same task's.
 */
export interface Task<C extends object = object, S extends BatchSource = BatchSource, J = Judgement>
  extends Telling<J>,
    Facts {
  readonly fields: Readonly<Record<string, z.ZodType>>; // how a recipe's values are checked
  readonly defaults: C;
  readonly training: Partial<TrainConfig>;
  /** Complete settings; throws an error that says what is wrong with the values. */
  parse(values: unknown): C;
  /** Opens files to learn from or to be judged by; `limit` as in the recipe. */
  open(paths: readonly string[], recipe: Recipe, limit?: number): Promise<S>;
  /** What takes the steps of a run by the recipe. */
  learner(network: Network, recipe: Recipe): Promise<Learner>;
  /** Judges a network, with the weights its parameters have now, on positions it has not learnt from. */
  judge(network: Network, source: S, recipe: Recipe, options?: JudgeOptions): Promise<J>;
}

export function defineTask<C extends object, M extends object, N extends Network, S extends BatchSource, J>(
  spec: TaskSpec<C, M, N, S, J>,
): Task<C, S, J> {
  const { family, schema, defaults, training = {}, reads, earlier } = spec;
  const { summarise, describeEpoch, describe, describeGain } = spec;
  const own = ({ train, task, model }: Recipe): Recipe<C, M> => ({
    train,
    task: schema.parse(task),
    model: family.parse(model),
  });
  return {
    fields: schema.shape,
    defaults,
    training,
    reads,
    earlier,
    parse: (values) => schema.parse(values),
    open: (paths, recipe, limit) => spec.open(paths, own(recipe), limit),
    learner: (network, recipe) => spec.learner(family.own(network), own(recipe)),
    judge: (network, source, recipe, options) => spec.judge(family.own(network), source, own(recipe).task, options),
    summarise,
    describeEpoch,
    describe,
    describeGain,
  };
}

/** A share in percent, with one digit behind the point. */
export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
