export { type ActionData, openActions } from "./action-data.js";
export { type ActionBatch, type ActionOptions, ActionSource } from "./action-source.js";
export type { ActionValueConfig } from "./action-value.js";
export type { ActionValueJudgement } from "./action-value-judge.js";
export type { ActionArrays, BatchEncoding, BatchKinds, HalfKpArrays, PolicyValueArrays } from "./batch-encoder.js";
export type { BatchSource, PolicyValueBatch } from "./batch-source.js";
export { Batches, type BatchOptions } from "./batches.js";
export type { CalibrationBin } from "./calibration.js";
export {
  type Checkpoint,
  type EpochSummary,
  findWeights,
  loadCheckpoint,
  type Progress,
  saveCheckpoint,
} from "./checkpoint.js";
export { parseRecipe, parseSetting, type Recipe, resolveRecipe, TRAIN_DEFAULTS, type TrainConfig } from "./config.js";
export { type DataSource, parseSource } from "./data-source.js";
export { kendallTau } from "./kendall.js";
export { openLearner, type StepReport, type TrainOptions, type TrainResult, train } from "./loop.js";
export { type History, NetworkTrainer, type Training, type TrainingFiles } from "./network-trainer.js";
export { NnueSource } from "./nnue/source.js";
export { NnueTrainer, type NnueTrainerOptions } from "./nnue/trainer.js";
export type { PolicyValueConfig } from "./policy-value.js";
export { judgePolicyValue, type PolicyValueJudgement } from "./policy-value-judge.js";
export { openRecordSource } from "./record-source.js";
export { type Judgement, type JudgeOptions, percent, type Task } from "./task.js";
export { TASKS } from "./tasks.js";
