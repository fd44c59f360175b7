export { BadGame } from "./games/bad-game.js";
export { GameBlock, NO_CLOCK, NO_EVAL, RESULTS, type Result } from "./games/block.js";
export { Game, parseGames, type ReadGamesOptions, readGameBlocks, readGames } from "./games/game.js";
export { HALFKP_DESCRIPTION, HALFKP_SHAPE, type HalfKpWeights } from "./weights/halfkp.js";
export { dialectOf, isJnn, JNN_DIALECTS, type JnnDialect, readJnn, writeJnn } from "./weights/jnn.js";
export { type NnueWeights, readNnueNetwork } from "./weights/network.js";
export { readNnue, writeNnue } from "./weights/nnue.js";
export { bucketCount, isWide, readWide, type WideArchitecture, type WideWeights, writeWide } from "./weights/wide.js";
