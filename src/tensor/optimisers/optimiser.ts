import type { TrainKernels } from "./kernels.js";

/** One parameter in the memory of the train module, with its gradient and what the optimiser keeps about it. */
export interface ParameterRange {
  name: string;
  length: number; // floats
  parameter: number; // address
  gradient: number; // address
  slots: readonly number[]; // addresses of arrays of the same length, as many as the optimiser has slots, zero at first
  decay: boolean; // whether weight decay applies: usually not for biases, norms and embeddings
  matrix?: Matrix; // if the optimiser moves it as a whole, see `momentumOfMatrices`
}

/** A parameter seen as matrices one after another. */
export interface Matrix {
  count: number;
  rows: number;
  columns: number;
}

/** What an optimiser knows besides its slots. Saved with them, it continues exactly. */
export interface OptimiserState {
  step: number; // updates made so far
}

/** The kernels that make a step, with the number of arrays they keep; assembly/train/optimisers.ts counts them in this order. */
const ARRAYS = { sgd: 1, adam: 2, adadelta: 2 } as const;

type RuleKernel = keyof typeof ARRAYS;

/** One step as plain data. */
export interface Rule {
  kernel: RuleKernel;
  numbers: readonly number[]; // the kernel's arguments behind addresses and length
}

/** Writes a rule as `optimise` of assembly/train reads it; it takes RULE_BYTES. */
export function writeRule(memory: ArrayBufferLike, address: number, { kernel, numbers }: Rule): void {
  new Uint32Array(memory, address, 1)[0] = Object.keys(ARRAYS).indexOf(kernel);
  new Float32Array(memory, address + 4, numbers.length).set(numbers);
}

/** Bytes of an optimiser's rule in the memory of the compiled trainer. */
export const RULE_BYTES = 64;

/**
 * An optimiser is data and a few functions. Nothing is remembered between calls: all state is in the arguments, so a
 * saved state continues to the last bit.
 */
export interface Optimiser {
  readonly name: string;
  /** Names of the float arrays kept for each parameter; PyTorch's names, which also name them in checkpoints. */
  readonly slots: readonly string[];
  init(): OptimiserState;
  /**
   * If there, gradients of matrices come to `update` as directions: their mean, with this share of it kept from step to step
   * in the first slot, with all singular values made equal.
   */
  readonly momentumOfMatrices?: number;
  /** What `update` does with one range, for kernels that go through many small ones by themselves. */
  rule(state: OptimiserState, learningRate: number, gradientScale: number, decay: boolean): Rule;
  /**
   * One step, in place, with gradients multiplied by `gradientScale` first (from clipping, or one over the number of
   * accumulated batches). Returns the state after it.
   */
  update(
    kernels: TrainKernels,
    ranges: readonly ParameterRange[],
    state: OptimiserState,
    learningRate: number,
    gradientScale?: number,
  ): OptimiserState;
}

/** An optimiser, from its rule. */
export const fromRule = (name: string, slots: readonly string[], rule: Optimiser["rule"]): Optimiser => ({
  name,
  slots,
  init: () => ({ step: 0 }),
  rule,
  update(kernels, ranges, state, learningRate, gradientScale = 1) {
    for (const range of ranges) {
      const { kernel, numbers } = rule(state, learningRate, gradientScale, range.decay);
      const arrays = Array.from({ length: ARRAYS[kernel] }, (_, i) => range.slots[i] ?? 0);
      const call = kernels[kernel] as (...args: number[]) => void;
      call(range.parameter, range.gradient, ...arrays, range.length, ...numbers);
    }
    return { step: state.step + 1 };
  },
});

/** The length of all gradients together, summed in double precision; not finite if any gradient is not. */
export function globalNorm(kernels: TrainKernels, ranges: readonly ParameterRange[]): number {
  let sum = 0;
  for (const { gradient, length } of ranges) sum += kernels.sumOfSquares(gradient, length);
  return Math.sqrt(sum);
}

/** What to multiply gradients of this norm with so that it is at most `limit`; PyTorch's formula. 0 means no limit. */
export const clipScale = (norm: number, limit: number): number => (limit > 0 ? Math.min(1, limit / (norm + 1e-6)) : 1);
