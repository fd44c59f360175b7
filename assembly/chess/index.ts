// The chess module: rules of chess on positions in memory. See position.ts for the layout. Nothing here allocates;
// addresses and scratch memory come from the caller.
import { initAttacks } from "./attacks";
import { initKeys } from "./position";

export {
  beginIteration,
  gameKeys,
  nodesSearched,
  rootEvaluation,
  rootTable,
  searchLine,
  selectiveDepth,
  setRoot,
} from "./alphabeta";
export { chainLength, packedCount, readChain, writeChains } from "./binpack";
export {
  encodeBoard68,
  encodeFenTokens,
  encodeHalfKp,
  encodeHalfKpFor,
  encodeLc0Planes,
  encodePlanes13,
  encodePlanes18,
} from "./encoders";
export { setNoise } from "./evaluate";
export { readFen } from "./fen";
export { packGame } from "./game-rows";
export { generate, generateNoisy } from "./movegen";
export { orderingCheck } from "./ordering-walk";
export { packPosition, unpackHalfKp, unpackPosition, unpackRecords } from "./packed";
export { nnueBytes, nnueEvaluate, nnuePush, nnueStart } from "./nnue";
export { nnueFeatures } from "./nnue-features";
export { nnueCheck, nnueTime, nnueWalk } from "./nnue-walk";
export { perft } from "./perft";
export { countLines, readGame } from "./pgn";
export {
  attackersTo,
  checkers,
  completePosition,
  computeKey,
  copyPosition,
  epIsLegal,
  isInsufficient,
  play,
} from "./position";
export { formatSan, parseSan } from "./san";
export { see, seeAtLeast } from "./see";
export { resume, threadBytes, threadStart } from "./thread";
export { probe, remember, tableAge, tableClear, tableStart, tableUse } from "./transposition";
export { historyClear } from "./history";

/** Fills the tables; once per memory, before anything else. */
export function init(): void {
  initAttacks();
  initKeys();
}

/** Where the memory beyond the module's own tables begins. */
export function heapBase(): usize {
  return __heap_base;
}
