/**
 * Graphs with gradients, layers, optimisers and ONNX: networks of your own.
 *
 * @module
 */
export { CachedSession, type CacheSpec } from "./cached-session.js";
export { checkpoint } from "./checkpoint.js";
export { emaDecayAt } from "./ema.js";
export { gradients } from "./gradients.js";
export { concat, constant, type DType, input, MASKED, Tensor } from "./graph.js";
export { fromHalf, toHalf } from "./halves.js";
export { type AttentionMask, attention } from "./layers/attention.js";
export { Conv3x3, conv3x3, toPlanes, toSquares } from "./layers/conv.js";
export { balanceLoss, Experts, type ExpertsConfig, experts } from "./layers/experts.js";
export { Embedding, embedding, Linear, linear } from "./layers/linear.js";
export { BatchNorm, batchNorm, LayerNorm, layerNorm, RmsNorm, rmsNorm } from "./layers/norm.js";
export { queryAttention } from "./layers/query-attention.js";
export { swiglu } from "./layers/swiglu.js";
export { crossEntropy, histogram, meanSquaredError, twoHot } from "./losses.js";
export { convolves, emitInference, exportOnnx } from "./onnx/export.js";
export { type OnnxModel, writeOnnx } from "./onnx/model.js";
export { calibrate, halfWeights, quantiseDynamic, quantiseStatic } from "./onnx/quantise.js";
export { withGradient } from "./ops/custom.js";
export { rotary, rotaryTables } from "./ops/rotary.js";
export { buildOptimiser, type OptimiserChoice } from "./optimiser-choice.js";
export type { TrainKernels } from "./optimisers/kernels.js";
export { type Optimiser, RULE_BYTES, writeRule } from "./optimisers/optimiser.js";
export { buildEmpty, full, normal, Parameter, parameter, parametersOf, uniform } from "./parameter.js";
export {
  loadSafetensors,
  type NamedTensor,
  readSafetensors,
  type Safetensors,
  type SafetensorsType,
  saveSafetensors,
  toFloat32,
  writeSafetensors,
} from "./safetensors.js";
export { learningRateAt, type Schedule } from "./schedules.js";
export {
  DEVICES,
  type Device,
  type Feeds,
  Session,
  type SessionOptions,
  type TensorData,
  type Values,
} from "./session.js";
export type { Dim, Shape } from "./shape.js";
export { Trainer, type TrainerOptions } from "./trainer.js";
export type { TrainerState } from "./training-plan.js";
