/**
 * Recipes, runs, batches and results: from records to a trained network.
 *
 * @module
 */
export type { ActionValueJudgement } from "./action-value/judge.js";
export type { ActionValueConfig } from "./action-value/objective.js";
export type { BatchSource } from "./batches/batch-source.js";
export { Batches, type BatchOptions } from "./batches/batches.js";
export { type DataSource, formatSource, parseSource } from "./batches/data-source.js";
export { openRecordSource } from "./batches/record-source.js";
export { PRECISIONS, type Precision, type Recipe, resultShareOf, TRAIN_DEFAULTS, type TrainConfig } from "./config.js";
export { type DecoderTaskConfig, decoderObjective } from "./decoder/objective.js";
export { type Exchange, flatWeights, type Round } from "./exchange.js";
export { type StepReport, type TrainOptions, type TrainResult, train } from "./loop.js";
export { NetworkTrainer, type Training, type TrainingFiles } from "./network-trainer.js";
export { NNUE_ROWS } from "./nnue/record-rows.js";
export { NnueTrainer, type NnueTrainerOptions } from "./nnue/trainer.js";
export { judgePolicyValue, type PolicyValueJudgement } from "./policy-value/judge.js";
export type { PolicyValueConfig } from "./policy-value/objective.js";
export type { PlaneEncoding, PolicyValueBatch } from "./policy-value/plane-encoder.js";
export { planeRows } from "./policy-value/plane-rows.js";
export { parseRecipe, parseRecipeValues, parseSetting, resolveRecipe } from "./recipe.js";
export { RoundTrainer } from "./round-trainer.js";
export {
  type Checkpoint,
  type EpochSummary,
  loadCheckpoint,
  loadMetadata,
  loadTaskSettings,
  type Measured,
  type Progress,
  saveCheckpoint,
} from "./run/checkpoint.js";
export type { MetricsLine } from "./run/metrics-log.js";
export { type MetricsAdded, readAddedMetrics } from "./run/metrics-tail.js";
export { RUN_STATES, type RunCheckpoint, RunFolder, type RunState, type RunStatus } from "./run/run-folder.js";
export { listSettings, type Setting, settingsOf, trainable } from "./settings.js";
export { type Judgement, type JudgeOptions, percent, type Task } from "./task.js";
export { learnersOf, taskOf } from "./tasks.js";
