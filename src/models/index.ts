export { type ActionInput, encodeActionInput, MIRRORED_ACTIONS } from "./action-input.js";
export {
  EXPORT_FORMATS,
  type Exported,
  type ExportFormat,
  exportNetwork,
  inferenceOf,
  randomPositions,
} from "./export.js";
export { FAMILIES, type FamilyName, type Network } from "./families.js";
export { type Inference, residualInference } from "./inference.js";
export { loadNetwork, networkBytes } from "./load.js";
export { type ActionValues, MOE_SIZES, Moe, type MoeConfig } from "./moe.js";
export { NnueEvaluator, nnueImage, nnueName, nnueParameters, nnueRate } from "./nnue.js";
export { nnueOutput, quantisationError } from "./nnue-export.js";
export { NNUE_SIZES, Nnue, type NnueConfig } from "./nnue-network.js";
export { foldFeatures, quantiseNnue } from "./nnue-quantise.js";
export { syntheticHalfKp, syntheticWide } from "./nnue-synthetic.js";
export { BOARDS, type PolicyValue, RESIDUAL_SIZES, Residual, type ResidualConfig } from "./residual.js";
