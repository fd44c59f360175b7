import type { TrainKernels } from "./optimisers/kernels.js";

/** A parameter and its average, as addresses in the memory of the train module. */
export interface AveragedRange {
  parameter: number;
  average: number;
  length: number; // floats
}

/**
 * The decay to use at a step (counted from 0). Early on the average would hold mostly the random start, so the decay
 * grows towards its final value: min(decay, (1 + step) / (10 + step)).
 */
export const emaDecayAt = (decay: number, step: number): number => Math.min(decay, (1 + step) / (10 + step));

/** One step of an exponential moving average of the parameters: average += (1 - decay) (parameter - average). */
export function updateEma(kernels: TrainKernels, ranges: readonly AveragedRange[], decay: number): void {
  for (const { parameter, average, length } of ranges) kernels.approach(average, parameter, length, 1 - decay);
}
