import { fromRule, type Optimiser } from "./optimiser.js";

export interface SgdConfig {
  momentum: number; // share of the last step that is kept; 0 keeps nothing and needs no memory
  nesterov: boolean; // look ahead along the momentum
  weightDecay: number; // added to the gradient (L2)
}

export const SGD_DEFAULTS: SgdConfig = { momentum: 0.9, nesterov: false, weightDecay: 0 };

/** Stochastic gradient descent as PyTorch's SGD (dampening 0). */
export function sgd(config: Partial<SgdConfig> = {}): Optimiser {
  const { momentum, nesterov, weightDecay } = { ...SGD_DEFAULTS, ...config };
  return fromRule("sgd", momentum === 0 ? [] : ["momentum_buffer"], (_, learningRate, gradientScale, decay) => ({
    kernel: "sgd",
    numbers: [learningRate, momentum, Number(nesterov), decay ? weightDecay : 0, gradientScale],
  }));
}
