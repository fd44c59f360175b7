import { ADAMW_DEFAULTS, type AdamConfig, adamW } from "./adam.js";
import type { Optimiser } from "./optimiser.js";

export interface MuonConfig extends AdamConfig {
  momentum: number; // share of the mean of a matrix's gradients that is kept; beta1 and beta2 are AdamW's, for the rest
}

export const MUON_DEFAULTS: MuonConfig = { ...ADAMW_DEFAULTS, momentum: 0.95 };

/**
 * Muon (Jordan et al. 2024): a matrix moves along its gradient's momentum with all singular values made equal, so that
 * rare directions are learnt as fast as common ones. What is no matrix, and tables of embeddings, move by AdamW. Steps of
 * matrices are scaled to the usual size of AdamW's (Liu et al. 2025), so that one learning rate and decay serve both.
 */
export function muon(config: Partial<MuonConfig> = {}): Optimiser {
  const { momentum, ...rest } = { ...MUON_DEFAULTS, ...config };
  const adam = adamW(rest);
  return {
    ...adam,
    name: "muon",
    momentumOfMatrices: momentum,
    update(kernels, ranges, state, learningRate, gradientScale) {
      for (const { parameter, gradient, length, decay, matrix } of ranges) {
        if (!matrix) continue;
        const size = 0.2 * Math.sqrt(Math.max(matrix.rows, matrix.columns));
        kernels.sgd(parameter, gradient, 0, length, learningRate, 0, false, decay ? rest.weightDecay : 0, size);
      }
      const others = ranges.filter(({ matrix }) => !matrix);
      return adam.update(kernels, others, state, learningRate, gradientScale);
    },
  };
}
