/**
 * Positions and moves: the rules of chess and Chess960, FEN, SAN, UCI moves, scores.
 *
 * @module
 */
/** For batch work over the core's memory (encoders, readers): its exports, room, and views. */
export * as core from "./core.js";
export { formatFen, parseFen, START_FEN } from "./fen.js";
export { castlingTarget, isCastling, isEnPassant, type Move, moveFrom, movePromotion, moveTo } from "./move.js";
export { perft, perftDivide } from "./perft.js";
export { parsePerftSuite } from "./perft-suite.js";
export { COLORS, type Color, opposite, type Piece, ROLES, type Role } from "./piece.js";
export { materialAt, type Outcome, Position } from "./position.js";
export { formatSan, parseSan } from "./san.js";
export {
  CERTAINTY,
  clampEvaluation,
  clampScore,
  expectedPoints,
  HIGHEST_CP,
  isMateScore,
  MATE_CP,
  mateScore,
  movesToMate,
  PROBABILITY_SCALE_CP,
  parseScore,
  preferenceOf,
  scoreOfProbability,
  scoreOfValue,
  VALUE_SCALE_CP,
  valueOfScore,
  type Wdl,
  wdlOfScore,
  wdlOfShares,
  winProbability,
} from "./score.js";
export { formatSquare, parseSquare, type Square } from "./square.js";
export { formatUci, parseUci } from "./uci-move.js";
