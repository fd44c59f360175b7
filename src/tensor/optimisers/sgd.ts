import type { Optimiser } from "./optimiser.js";

export interface SgdConfig {
  momentum: number; // share of the last step that is kept; 0 keeps nothing and needs no memory
  nesterov: boolean; // look ahead along the momentum
  weightDecay: number; // added to the gradient (L2)
}

export const SGD_DEFAULTS: SgdConfig = { momentum: 0.9, nesterov: false, weightDecay: 0 };

/** Stochastic gradient descent as PyTorch's SGD (dampening 0). */
export function sgd(config: Partial<SgdConfig> = {}): Optimiser {
  const { momentum, nesterov, weightDecay } = { ...SGD_DEFAULTS, ...config };
  return {
    name: "sgd",
    slots: momentum === 0 ? [] : ["momentum_buffer"],
    init: () => ({ step: 0 }),
    update(kernels, ranges, state, learningRate, gradientScale = 1) {
      for (const { parameter, gradient, slots, length, decay } of ranges) {
        const pull = decay ? weightDecay : 0;
        const velocity = momentum === 0 ? 0 : slots[0];
        kernels.sgd(parameter, gradient, velocity, length, learningRate, momentum, nesterov, pull, gradientScale);
      }
      return { step: state.step + 1 };
    },
  };
}
