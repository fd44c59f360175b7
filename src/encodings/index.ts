/**
 * Positions and moves as the numbers that networks see, and back.
 *
 * @module
 */
export {
  batchOf,
  ENCODE_PLANES,
  EncoderBatch,
  HALFKP_ROW,
  HALFKP_UNUSED,
  type HalfKpRows,
  type PlanesName,
  ROW_LENGTHS,
} from "./batch.js";
export {
  BOARD_INDEX_OF_TOKEN,
  BOARD_TOKENS,
  BOARD_VOCABULARY,
  decodeBoard68,
  encodeBoard68,
  TOKEN_OF_BOARD_INDEX,
  tokenId,
  VOCABULARY,
} from "./board68.js";
export { bucketCentre, bucketOf } from "./buckets.js";
export { decodeFenTokens, encodeFenTokens, FEN_TOKEN_CHARACTERS, FEN_TOKENS, turnFenTokens } from "./fen-tokens.js";
export { decodeHalfKp, encodeHalfKp, HALFKP_INPUTS } from "./halfkp.js";
export { encodeLc0Planes, LC0_PLANES, Lc0Batch } from "./lc0.js";
export { MoveTable, type NamedMove } from "./move-table.js";
export { MOVE_TABLE_NAMES, MOVE_TABLES, type MoveTableName } from "./move-tables.js";
export { decodePlanes13, encodePlanes13 } from "./planes13.js";
export { decodePlanes18, encodePlanes18 } from "./planes18.js";
