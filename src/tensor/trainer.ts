import { processors, runtimeFillsOutputs, startWorker, UserError, type WorkerClient } from "#base";
import { gradients } from "./gradients.js";
import { nodesOf, type Tensor } from "./graph.js";
import { Emitter } from "./onnx/emit.js";
import { writeOnnx } from "./onnx/model.js";
import { statisticsOf } from "./ops/batchnorm.js";
import { rowsOf } from "./ops/indexing.js";
import type { OptimiserChoice } from "./optimiser-choice.js";
import { type Parameter, parametersOf } from "./parameter.js";
import { STOP } from "./runner.js";
import type { Feeds, SessionOptions } from "./session.js";
import { type PlannedParameter, resultFloats, type TrainerState, type TrainingPlan } from "./training-plan.js";

/** What is trained, by which loss and which optimiser. */
export interface TrainerOptions extends SessionOptions {
  model: object; // its fields hold the parameters
  loss: Tensor; // one number
  metrics?: Readonly<Record<string, Tensor>>; // further numbers to report
  optimiser: OptimiserChoice;
  learningRate?: number; // default: 0.001; each step may say otherwise
  clip?: number; // largest norm of the whole gradient; 0 or nothing: any
  ema?: number; // decay of the averaged weights; 0 or nothing: none are kept
  seed?: number; // of the dropout
  /**
   * Workers that share a step's batches: `step([a, b])` computes a and b at the same time, each with its part of the
   * threads. Faster than one batch on all threads, because no worker waits for another within a batch. Default: 1.
   */
  replicas?: number;
  decays?: (parameter: Parameter) => boolean; // where weight decay applies; by default wherever there are two axes
}

/** Trains a model, in a worker: the caller's thread stays free during a step. */
export class Trainer {
  private constructor(
    private readonly workers: readonly WorkerClient[],
    private readonly parameters: readonly Parameter[],
    private readonly scalars: readonly string[],
    private readonly learningRate: number,
    readonly sessionMs: number, // what ONNX Runtime took to load the model
  ) {}

  static async open(options: TrainerOptions): Promise<Trainer> {
    const parameters = parametersOf(options.model);
    const { replicas = 1, threads = 0 } = options;
    const count = typeof SharedArrayBuffer === "undefined" ? 1 : replicas; // a page may have none
    const share = count === 1 ? threads : Math.max(1, Math.floor((threads || processors()) / count));
    const plan = planTraining(parameters, { ...options, threads: share });
    const slots = count === 1 ? undefined : new SharedArrayBuffer(count * resultFloats(plan.parameters) * 4);
    const workers = Array.from({ length: count }, () => startWorker("tensor/session-worker"));
    try {
      const times = await Promise.all(
        workers.map((worker, rank) => worker.call<number>("openTraining", { plan, replica: { rank, count, slots } })),
      );
      return new Trainer(workers, parameters, plan.scalars, options.learningRate ?? 1e-3, Math.max(...times));
    } catch (error) {
      await closeAll(workers);
      throw error;
    }
  }

  /** Asks every worker, and waits for all answers. */
  private ask<T>(method: string, argument: (rank: number) => unknown): Promise<T[]> {
    return Promise.all(this.workers.map((worker, rank) => worker.call<T>(method, argument(rank))));
  }

  /** One step on a batch, or on several whose gradients are averaged. If the loss is not finite, nothing changes. */
  async step(
    batch: Feeds | readonly Feeds[],
    options: { learningRate?: number } = {},
  ): Promise<{ loss: number; gradientNorm: number } & Record<string, number>> {
    const list: readonly Feeds[] = Array.isArray(batch) ? batch : [batch];
    const count = this.workers.length;
    const learningRate = options.learningRate ?? this.learningRate;
    const parts = list.map((feeds, part) => ({ feeds, part }));
    const sums = await this.ask<number[]>("runBatches", (rank) => ({
      batches: parts.filter(({ part }) => part % count === rank),
    }));
    const means = this.scalars.map((_, k) => sums.reduce((sum, scalars) => sum + scalars[k], 0) / list.length);
    const workers = Math.min(count, list.length);
    const squares = await this.ask<number>("addUp", () => workers);
    const gradientNorm = Math.sqrt(squares.reduce((sum, part) => sum + part)) / list.length;
    if (Number.isFinite(gradientNorm) && Number.isFinite(means[0])) {
      await this.ask("update", () => ({ learningRate, gradientNorm, batches: list.length, workers }));
    }
    const scalars = Object.fromEntries(this.scalars.map((name, k) => [name, means[k]]));
    return { ...(scalars as { loss: number }), gradientNorm };
  }

  /** Brings the trained weights (or their moving average) into the parameters' `data`. */
  async pull(options: { ema?: boolean } = {}): Promise<void> {
    const parts = await this.ask<Record<string, Float32Array>>("readParameters", () => options.ema ?? false);
    const values = Object.assign({}, ...parts) as Record<string, Float32Array>;
    for (const { name, data } of this.parameters) data.set(values[name]);
  }

  /** Takes the parameters' `data` as the weights to go on from. */
  async push(): Promise<void> {
    const values = this.parameters.map(({ data }) => data);
    await this.ask("writeParameters", () => values);
  }

  /** What a checkpoint needs beside the weights: step, moments, moving averages. */
  async state(): Promise<TrainerState> {
    const parts = await this.ask<TrainerState>("readState", () => undefined);
    return { step: parts[0].step, tensors: Object.assign({}, ...parts.map(({ tensors }) => tensors)) };
  }

  async restore(state: TrainerState): Promise<void> {
    await this.ask("writeState", () => state);
  }

  close(): Promise<void> {
    return closeAll(this.workers);
  }
}

const closeAll = async (workers: readonly WorkerClient[]): Promise<void> => {
  await Promise.all(workers.map((worker) => worker.close()));
};

/** Differentiates the loss and emits one model: forward, backward, and the next values of running statistics. */
export function planTraining(parameters: readonly Parameter[], options: TrainerOptions): TrainingPlan {
  const { loss, metrics = {}, decays = ({ shape }) => shape.length > 1 } = options;
  for (const [name, tensor] of Object.entries({ loss, ...metrics })) {
    if (tensor.shape.length > 0) {
      throw new UserError(
        "TENSOR_SHAPE",
        `${name} has shape [${tensor.shape}]; one number is needed: take its mean().`,
      );
    }
  }
  const nodes = nodesOf([loss]);
  const used = new Set(nodes.map((node) => node.outputs[0]));
  const learned = parameters.filter((parameter) => parameter.trainable && used.has(parameter));
  const changes = new Map<Parameter, Tensor>();
  gradients(loss, learned).forEach((gradient, i) => {
    changes.set(learned[i], gradient);
  });
  for (const { parameter, next } of nodes.flatMap(statisticsOf)) changes.set(parameter, next);

  const emitter = new Emitter("training");
  const results: Record<string, Tensor> = { loss, ...metrics };
  const outputs = new Map<Parameter, Pick<PlannedParameter, "output" | "rows">>();
  for (const [parameter, change] of changes) {
    const { name } = parameter;
    const found = rowsOf(change); // the worker adds these up faster than ONNX Runtime does
    if (found) {
      const rows = { values: `values:${name}`, indices: `indices:${name}`, count: found.count };
      Object.assign(results, { [rows.values]: found.values, [rows.indices]: found.indices });
      outputs.set(parameter, { output: undefined, rows });
    } else {
      results[`change:${name}`] = change;
      outputs.set(parameter, { output: `change:${name}`, rows: undefined });
    }
  }
  const model = emitter.finish(results, runtimeFillsOutputs ? STOP : undefined);
  const needed = parameters.filter((parameter) => emitter.parameters.includes(parameter));
  return {
    model: writeOnnx(model),
    options: { device: options.device, threads: options.threads },
    parameters: parameters.map((parameter) => ({
      name: parameter.name,
      shape: parameter.shape as readonly number[],
      data: parameter.data,
      trainable: changes.has(parameter) && parameter.trainable,
      decays: decays(parameter),
      read: needed.includes(parameter),
      ...(outputs.get(parameter) ?? { output: undefined, rows: undefined }),
    })),
    scalars: ["loss", ...Object.keys(metrics)],
    dropouts: emitter.dropouts,
    optimiser: options.optimiser,
    clip: options.clip ?? 0,
    ema: options.ema ?? 0,
    seed: options.seed ?? 1,
  };
}
