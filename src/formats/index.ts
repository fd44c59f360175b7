/**
 * Files of games, of training records and of weights.
 *
 * @module
 */
export { BadGame } from "./games/bad-game.js";
export { GameBlock, NO_CLOCK, NO_EVAL, RESULTS, type Result } from "./games/block.js";
export { Game, parseGames, type ReadGamesOptions, readGameBlocks, readGames } from "./games/game.js";
export { parseVariant, VARIANTS, type Variant } from "./games/variant.js";
export { formatClock, formatGame, type GameText, type Line } from "./games/write.js";
export { type Puzzle, readPuzzles } from "./puzzles.js";
export { describeSurprise, recognise, refuseOther, refuseOtherBytes } from "./recognise.js";
export { BAG_KINDS, type BagKind, decodeBagRecord, encodeBagRecord } from "./records/bag-record.js";
export { BagReader, BagWriter } from "./records/bagz.js";
export { encodeChunk, readBinpackBytes } from "./records/binpack.js";
export {
  createRecords,
  formatOf,
  kindsOf,
  openParquet,
  openRecords,
  RECORD_FORMATS,
  type RecordFormat,
  refuseOtherRecords,
} from "./records/open.js";
export { decodePacked, encodePacked, readPackedBytes } from "./records/packed-sfen.js";
export { DECODER_COLUMNS, VARIATION_COLUMNS } from "./records/parquet-columns.js";
export {
  createRawRecords,
  eachRecord,
  joinRecords,
  openRawRecords,
  type RawBatch,
  type RawForm,
  type RawReader,
  type RawWriter,
} from "./records/raw.js";
export {
  badRecord,
  type DataRecord,
  kindOf,
  type OnBad,
  RECORD_KINDS,
  type RecordKind,
  type RecordReader,
  type RecordWriter,
  throwBad,
} from "./records/record.js";
export { shardPaths } from "./records/shards.js";
export { formatFenAt, formatMove } from "./records/struct.js";
export { HALFKP_DESCRIPTION, HALFKP_SHAPE, type HalfKpWeights } from "./weights/halfkp.js";
export { dialectOf, isJnn, JNN_DIALECTS, type JnnDialect, readJnn, writeJnn } from "./weights/jnn.js";
export { isLc0, LC0_CHANNELS, type Lc0Convolution, type Lc0Dense, type Lc0Weights, readLc0 } from "./weights/lc0.js";
export { type NnueWeights, readNnueNetwork } from "./weights/network.js";
export { readNnue, writeNnue } from "./weights/nnue.js";
export { readOnnxMetadata } from "./weights/onnx.js";
export { writeRawWide } from "./weights/raw-wide.js";
export {
  bucketCount,
  isWide,
  readWide,
  type WideArchitecture,
  type WideWeights,
  wideFactor,
  writeWide,
} from "./weights/wide.js";
