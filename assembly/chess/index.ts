// The chess module: rules of chess on positions in memory. See rules/position.ts for the layout. Nothing here allocates;
// addresses and scratch memory come from the caller.
import { initAttacks } from "./rules/attacks";
import { initKeys } from "./rules/position";

export {
  beginIteration, gameKeys, nodesSearched, rootEvaluation, rootTable, searchLine, selectiveDepth, setRoot,
} from "./search/alphabeta";
export { chainLength, packedCount, readChain, writeChains } from "./records/binpack";
export {
  encodeBoard68, encodeFenTokens, encodeHalfKp, encodeHalfKpFor, encodeLc0History, encodeLc0Planes, encodePlanes13,
  encodePlanes18,
} from "./encoders";
export { setNoise } from "./search/evaluate";
export { readFen } from "./rules/fen";
export { packGame } from "./records/pack-game";
export { generate, generateNoisy } from "./rules/movegen";
export { orderingCheck } from "./search/ordering-check";
export { packPosition, unpackHalfKp, unpackPosition, unpackRecords } from "./records/packed";
export { nnueBytes, nnueEvaluate, nnuePush, nnueStart } from "./nnue/network";
export { nnueFeatures } from "./nnue/features";
export { nnueCheck, nnueTime, nnueWalk } from "./nnue/random-walk";
export { perft } from "./rules/perft";
export { countLines, readGame } from "./records/pgn";
export {
  attackersTo, checkers, completePosition, computeKey, copyPosition, epIsLegal, isInsufficient, play,
} from "./rules/position";
export { formatSan, parseSan } from "./rules/san";
export { see, seeAtLeast } from "./search/see";
export { resume, threadBytes, threadStart } from "./search/thread";
export { probe, remember, tableAge, tableClear, tableStart, tableUse } from "./search/transposition";
export { historyClear } from "./search/history-tables";

/** Fills the tables; once per memory, before anything else. */
export function init(): void {
  initAttacks();
  initKeys();
}

/** Where the memory beyond the module's own tables begins. */
export function heapBase(): usize {
  return __heap_base;
}
