import type { TrainKernels } from "./kernels.js";

/** One parameter in the memory of the train module, with its gradient and what the optimiser keeps about it. */
export interface ParameterRange {
  name: string;
  length: number; // floats
  parameter: number; // address
  gradient: number; // address
  slots: readonly number[]; // addresses of arrays of the same length, as many as the optimiser has slots, zero at first
  decay: boolean; // whether weight decay applies: usually not for biases, norms and embeddings
}

/** What an optimiser knows besides its slots. Saved with them, it continues exactly. */
export interface OptimiserState {
  step: number; // updates made so far
}

/**
 * An optimiser is data and two functions. Nothing is remembered between calls: all state is in the arguments, so a
 * saved state continues to the last bit.
 */
export interface Optimiser {
  readonly name: string;
  /** Names of the float arrays kept for each parameter; PyTorch's names, which also name them in checkpoints. */
  readonly slots: readonly string[];
  init(): OptimiserState;
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

/** The length of all gradients together, summed in double precision; not finite if any gradient is not. */
export function globalNorm(kernels: TrainKernels, ranges: readonly ParameterRange[]): number {
  let sum = 0;
  for (const { gradient, length } of ranges) sum += kernels.sumOfSquares(gradient, length);
  return Math.sqrt(sum);
}

/** What to multiply gradients of this norm with so that it is at most `limit`; PyTorch's formula. 0 means no limit. */
export const clipScale = (norm: number, limit: number): number => (limit > 0 ? Math.min(1, limit / (norm + 1e-6)) : 1);
