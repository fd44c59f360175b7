import { fromRule, type Optimiser } from "./optimiser.js";

export interface AdamConfig {
  beta1: number; // decay of the mean of gradients
  beta2: number; // decay of the mean of their squares
  epsilon: number; // keeps the division finite
  weightDecay: number; // adam: added to the gradient (L2); adamW: taken from the parameter, times the learning rate
}

export const ADAM_DEFAULTS: AdamConfig = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0 };
export const ADAMW_DEFAULTS: AdamConfig = { ...ADAM_DEFAULTS, weightDecay: 0.01 };

/** Adam with L2 weight decay. */
export const adam = (config: Partial<AdamConfig> = {}): Optimiser =>
  create("adam", false, { ...ADAM_DEFAULTS, ...config });

/** Adam with decoupled weight decay. */
export const adamW = (config: Partial<AdamConfig> = {}): Optimiser =>
  create("adamw", true, { ...ADAMW_DEFAULTS, ...config });

function create(name: string, decoupled: boolean, config: AdamConfig): Optimiser {
  const { beta1, beta2, epsilon, weightDecay } = config;
  return fromRule(name, ["exp_avg", "exp_avg_sq"], (state, learningRate, gradientScale, decay) => {
    const step = state.step + 1;
    return {
      kernel: "adam",
      numbers: [
        learningRate / (1 - beta1 ** step),
        1 - beta1,
        beta2,
        1 - beta2,
        1 / Math.sqrt(1 - beta2 ** step),
        epsilon,
        decay && !decoupled ? weightDecay : 0,
        decay && decoupled ? 1 - learningRate * weightDecay : 1,
        gradientScale,
      ],
    };
  });
}
