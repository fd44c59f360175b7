import type { TrainModule } from "./kernels.js";
import type { Optimiser, ParameterRange } from "./optimiser.js";

/** A parameter to make room for. */
export interface ParameterSpec {
  name: string;
  length: number; // floats
  decay?: boolean; // weight decay applies unless false
}

/**
 * Room in the module's memory for parameters, gradients and the optimiser's slots: one block per role, in the order
 * given, so that a whole role can be walked or copied at once. Parameters start on multiples of 64 bytes; the gaps
 * stay zero. Allocating again may move the memory: take views (`view`) afterwards, not before.
 */
export function allocateParameters(
  module: TrainModule,
  specs: readonly ParameterSpec[],
  optimiser: Optimiser,
): ParameterRange[] {
  const offsets: number[] = [];
  let bytes = 0;
  for (const { length } of specs) {
    offsets.push(bytes);
    bytes += Math.ceil(length / 16) * 64;
  }
  const parameters = module.allocate(bytes);
  const gradients = module.allocate(bytes);
  const slots = optimiser.slots.map(() => module.allocate(bytes));
  return specs.map(({ name, length, decay = true }, i) => ({
    name,
    length,
    parameter: parameters + offsets[i],
    gradient: gradients + offsets[i],
    slots: slots.map((slot) => slot + offsets[i]),
    decay,
  }));
}

/** A view on floats in the module's memory, valid until the next allocation. */
export const view = (module: TrainModule, address: number, length: number): Float32Array<ArrayBuffer> =>
  new Float32Array(module.memory.buffer as ArrayBuffer, address, length);
