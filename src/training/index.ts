export type { ActionArrays, BatchEncoding, BatchKinds, HalfKpArrays, PolicyValueArrays } from "./batch-encoder.js";
export type { BatchSource, PolicyValueBatch } from "./batch-source.js";
export { Batches, type BatchOptions } from "./batches.js";
export {
  type Checkpoint,
  type EpochSummary,
  findWeights,
  loadCheckpoint,
  type Progress,
  saveCheckpoint,
} from "./checkpoint.js";
export { parseRecipe, parseSetting, type Recipe, resolveRecipe, TRAIN_DEFAULTS, type TrainConfig } from "./config.js";
export { type CalibrationBin, type Judgement, judge } from "./judge.js";
export { type StepReport, type TrainOptions, type TrainResult, train } from "./loop.js";
export { loadPacked, type PackedOptions, PackedSource } from "./packed-source.js";
