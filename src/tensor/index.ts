export { emaDecayAt, updateEma } from "./ema.js";
export { ADADELTA_DEFAULTS, type AdadeltaConfig, adadelta } from "./optimisers/adadelta.js";
export { ADAM_DEFAULTS, ADAMW_DEFAULTS, type AdamConfig, adam, adamW } from "./optimisers/adam.js";
export { loadTrainModule, type TrainKernels, type TrainModule } from "./optimisers/kernels.js";
export { allocateParameters, type ParameterSpec, view } from "./optimisers/layout.js";
export {
  clipScale,
  globalNorm,
  type Optimiser,
  type OptimiserState,
  type ParameterRange,
} from "./optimisers/optimiser.js";
export { SGD_DEFAULTS, type SgdConfig, sgd } from "./optimisers/sgd.js";
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
