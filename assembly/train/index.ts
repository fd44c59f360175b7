export { accumulate, addRows, approach, sumOfSquares } from "./arrays";
export { dropoutMask } from "./dropout";
export { clampRange, nnueCount, nnueGather, nnueKings, nnueOrder, nnueSort, nnueStarts, nnueUpdate } from "./nnue";
export { nnueLearn, nnuePredict, nnueScratchBytes } from "./nnue-layers";
export { adadelta, adam, sgd } from "./optimisers";

/** Where the memory beyond the module's own tables begins. */
export function heapBase(): usize {
  return __heap_base;
}
