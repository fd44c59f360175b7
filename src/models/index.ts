export { NnueEvaluator, nnueImage, nnueName, nnueParameters, nnueRate } from "./nnue.js";
export { syntheticHalfKp, syntheticWide } from "./nnue-synthetic.js";
