// What a training is told before it begins and at each step, and how its parameters lie in memory: what the side that builds the
// model and the workers that run it must agree on.
import type { OptimiserChoice } from "./optimiser-choice.js";
import type { Matrix } from "./optimisers/optimiser.js";
import type { Span } from "./replicas.js";
import type { Feeds, SessionOptions, TensorData } from "./session.js";

/** A parameter and where the model returns what becomes of it. */
export interface PlannedParameter {
  name: string;
  shape: readonly number[];
  data: Float32Array;
  trainable: boolean; // the output is its gradient; else it is its next value
  decays: boolean; // whether weight decay applies
  read: boolean; // whether the model reads it at all
  output: string | undefined;
  rows: PlannedRows | undefined; // its gradient instead of an output of its own
}

/** A table's gradient as some of its rows, with the index of each: two outputs. */
interface PlannedRows {
  values: string; // [count, width]
  indices: string; // [count], 32-bit
  count: number;
}

interface PlannedDropout {
  input: string;
  size: number; // elements, all of them
  keep: number; // probability
}

/** All a worker needs to train. */
export interface TrainingPlan {
  model: Uint8Array;
  options: SessionOptions;
  parameters: readonly PlannedParameter[];
  scalars: readonly string[]; // outputs that are single numbers, the loss first
  dropouts: readonly PlannedDropout[];
  optimiser: OptimiserChoice;
  clip: number; // largest norm of the whole gradient; 0 for none
  ema: number; // decay of the averaged weights; 0 keeps none
  seed: number; // of the dropout
}

/** One worker's part of a step. */
export interface RunRequest {
  batches: readonly { feeds: Feeds; part: number }[]; // `part` is the batch's place among all of the step
}

export interface UpdateRequest {
  learningRate: number;
  gradientNorm: number; // of the mean over all batches, before clipping
  batches: number; // in the step, of all workers
  workers: number; // that had a batch
}

/** Everything beside the weights that a resumed run needs. */
export interface TrainerState {
  step: number;
  tensors: Record<string, TensorData>;
}

export const comesWhole = ({ trainable, rows }: PlannedParameter): boolean => trainable && !rows;

/**
 * Parameters as they lie in memory, each on a multiple of 64 bytes: first the trainable ones whose gradient comes whole,
 * then those whose gradient comes in rows, then the others.
 */
export const inOrder = (parameters: readonly PlannedParameter[]): PlannedParameter[] => [
  ...parameters.filter(comesWhole),
  ...parameters.filter(({ trainable, rows }) => trainable && rows),
  ...parameters.filter(({ trainable }) => !trainable),
];

/** Floats in a row of a table. */
export const widthOf = ({ data, shape }: PlannedParameter): number => data.length / shape[0];

const NARROW = 16; // a matrix with fewer rows or columns has too few directions to make equal

/** A trainable weight of layers, [..., in, out], as matrices: stacked where experts are, one for all squares of a convolution. */
export function matrixOf({ shape, trainable, decays, rows: some }: PlannedParameter): Matrix | undefined {
  if (!trainable || !decays || some || shape.length < 2) return undefined;
  const columns = shape[shape.length - 1];
  const count = shape.length === 3 ? shape[0] : 1;
  const rows = shape.slice(0, -1).reduce((size, dim) => size * dim, 1) / count;
  return Math.min(rows, columns) < NARROW ? undefined : { count, rows, columns };
}

const roomFor = (floats: number): number => Math.ceil(floats / 16) * 16;

/** What the results for these parameters take, from the first to the end of the last. */
export function resultFloats(parameters: readonly PlannedParameter[]): number {
  return parameters.reduce((sum, { data }) => sum + roomFor(data.length), 0);
}

/** The parts of the memory that each of `count` workers owns: whole parameters, about as much for each. */
export function divide(parameters: readonly PlannedParameter[], count: number): Span[] {
  const total = resultFloats(parameters);
  const ends = new Array<number>(count).fill(0);
  let at = 0;
  for (const { data } of inOrder(parameters)) {
    const owner = Math.min(count - 1, Math.floor(((at + roomFor(data.length) / 2) / total) * count));
    at += roomFor(data.length);
    ends[owner] = at;
  }
  return ends.map((end, i) => {
    const from = Math.max(0, ...ends.slice(0, i));
    return { from, to: Math.max(from, end) };
  });
}
