import type { z } from "zod";
import type { Network } from "#models";
import type { SessionOptions, Tensor, TrainerState } from "#tensor";
import type { BatchSource } from "./batch-source.js";
import type { EpochSummary } from "./checkpoint.js";
import type { Recipe, TrainConfig } from "./config.js";

/** What a network is trained on. */
export interface Objective {
  loss: Tensor; // one number
  metrics: Record<string, Tensor>; // further numbers, averaged over a batch
}

/** What takes the steps of a run. */
export interface Learner {
  /** One step on all of the batches; what was measured, averaged over them. If it is not finite, nothing was learnt. */
  step(
    batches: readonly unknown[],
    options: { learningRate: number },
  ): Promise<{ loss: number } & Record<string, number>>;
  /** Brings the trained weights (or their moving average) into the network's parameters. */
  pull(options?: { ema?: boolean }): Promise<void>;
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

export interface JudgeOptions extends SessionOptions {
  limit?: number; // positions, rounded up to whole batches; 0 for all
  batchSize?: number;
  signal?: AbortSignal;
  onProgress?: (positions: number) => void;
}

/** What a family is to learn: the settings, data, objective and judge that are its own. */
export interface Task<N = Network, C = Record<string, unknown>, S = BatchSource, J = Judgement> {
  readonly fields: Record<string, z.ZodType>; // how a recipe's values are checked
  readonly defaults: C;
  readonly training?: Partial<TrainConfig>; // where the settings of how to train have other defaults
  /** Opens files to learn from or to be judged by; `limit` as in the recipe. */
  open(paths: readonly string[], recipe: Recipe, limit?: number): Promise<S>;
  /**
   * What the graph computes; or, for families that are no graph, what trains them. All batches have the size given, which
   * a graph can be the faster for.
   */
  objective?(network: N, settings: C, batchSize: number): Objective;
  learner?(network: N, recipe: Recipe): Promise<Learner>;
  /** Judges a network, with the weights its parameters have now, on positions it has not learnt from. */
  judge(network: N, source: S, settings: C, options?: JudgeOptions): Promise<J>;
  /** The numbers of an epoch that metadata.json keeps beside the losses. */
  summarise(trained: Readonly<Record<string, number>>, judged: J | undefined): Record<string, number | null>;
  /** An epoch in a line, and a judgement in several, to be read by people. */
  describeEpoch(summary: EpochSummary, judged: J | undefined): string;
  describe(judged: J): string[];
}

export const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
