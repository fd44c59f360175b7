import { fromRule, type Optimiser } from "./optimiser.js";

export interface AdadeltaConfig {
  rho: number; // decay of both means of squares
  epsilon: number; // also sets the size of the first steps
  weightDecay: number; // added to the gradient (L2)
}

export const ADADELTA_DEFAULTS: AdadeltaConfig = { rho: 0.9, epsilon: 1e-6, weightDecay: 0 };

/** Adadelta as PyTorch's; its usual learning rate is 1. */
export function adadelta(config: Partial<AdadeltaConfig> = {}): Optimiser {
  const { rho, epsilon, weightDecay } = { ...ADADELTA_DEFAULTS, ...config };
  return fromRule("adadelta", ["square_avg", "acc_delta"], (_, learningRate, gradientScale, decay) => ({
    kernel: "adadelta",
    numbers: [learningRate, rho, 1 - rho, epsilon, decay ? weightDecay : 0, gradientScale],
  }));
}
