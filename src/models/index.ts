/**
 * The families of networks: building, loading and exporting them.
 *
 * @module
 */
export { type ActionInput, encodeActionInput, MIRRORED_ACTIONS } from "./action-input.js";
export { averageWeights, type NamedNetwork } from "./average.js";
export { DECODER_SIZES, type DecoderConfig, drawCentres, winLossCentres } from "./decoder/config.js";
export { DECODER } from "./decoder/family.js";
export { DecoderReader, type Spoken, type SpokenBoard } from "./decoder/generation.js";
export { Decoder, type DecoderInput, GAME_BLOCKS, NO_SLOT, POSITION_TOKENS, prefixMask } from "./decoder/network.js";
export { inBlocks, inGames, type Sight } from "./decoder/sights.js";
export {
  EXPORT_FORMATS,
  type ExportFormat,
  exportNetwork,
  inferenceOf,
  randomPositions,
} from "./export.js";
export { FAMILIES, type FamilyName, isFamily } from "./families.js";
export type { Exported, Family, Inference, Network, Schema } from "./family.js";
export { findWeights } from "./find.js";
export { LC0, Lc0, type Lc0Config } from "./lc0.js";
export { identifyNetwork, loadNetwork, networkBytes, type RunnableNetwork, readNetwork, readRunnable } from "./load.js";
export { type ActionValues, MOE, MOE_SIZES, Moe, type MoeConfig } from "./moe.js";
export { inspectMoe, type LayerInsight, type MoeInsight } from "./moe-inspect.js";
export { NnueEvaluator, nnueImage, nnueName, nnueParameters, nnueRate } from "./nnue.js";
export { isNnueFile, nnueOutput, quantisationError, rewriteNnue } from "./nnue-export.js";
export { NNUE } from "./nnue-family.js";
export { growNnue } from "./nnue-grow.js";
export { NNUE_SIZES, Nnue, type NnueConfig } from "./nnue-network.js";
export { foldFeatures, quantiseNnue } from "./nnue-quantise.js";
export { syntheticHalfKp, syntheticWide } from "./nnue-synthetic.js";
export { positionKey } from "./position-key.js";
export {
  BOARDS,
  type PolicyValue,
  RESIDUAL,
  RESIDUAL_SIZES,
  Residual,
  type ResidualConfig,
  residualInference,
} from "./residual.js";
export { type ShippedNet, shippedNets } from "./shipped.js";
