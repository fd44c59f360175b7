import { loadWasm, type WasmInstance } from "#base";

/**
 * The functions of assembly/train that work on flat ranges of floats. Addresses are bytes in the module's memory,
 * lengths are numbers of floats; everything happens in place.
 */
export interface TrainKernels {
  sgd(
    parameter: number,
    gradient: number,
    velocity: number, // 0 if there is no momentum
    length: number,
    learningRate: number,
    momentum: number,
    nesterov: boolean,
    decay: number,
    scale: number,
  ): void;
  adam(
    parameter: number,
    gradient: number,
    mean: number,
    square: number,
    length: number,
    stepSize: number,
    oneMinusBeta1: number,
    beta2: number,
    oneMinusBeta2: number,
    rootScale: number,
    epsilon: number,
    decay: number,
    shrink: number,
    scale: number,
  ): void;
  adadelta(
    parameter: number,
    gradient: number,
    square: number,
    change: number,
    length: number,
    learningRate: number,
    rho: number,
    oneMinusRho: number,
    epsilon: number,
    decay: number,
    scale: number,
  ): void;
  /** In double precision; not finite if an element is not. */
  sumOfSquares(array: number, length: number): number;
  /** target += factor * source */
  accumulate(target: number, source: number, length: number, factor: number): void;
  /** average += fresh * (source - average) */
  approach(average: number, source: number, length: number, fresh: number): void;
  /** target[indices[r]] += source[r], for `count` rows of `width` floats; indices are 32-bit. */
  addRows(target: number, indices: number, source: number, count: number, width: number): void;
}

export type TrainModule = WasmInstance<TrainKernels>;

/** The module with a memory of its own (not shared: ONNX Runtime refuses views on shared memory). */
export const loadTrainModule = (): Promise<TrainModule> => loadWasm<TrainKernels>("train");
