import type { Role } from "./piece.js";
import type { Square } from "./square.js";

/**
 * 16 bits, as in Stockfish's training data: target square 0-5, origin 6-11, promotion (N B R Q) 12-13, kind 14-15.
 * Castling is the king taking its own rook. 0 is no move.
 */
export type Move = number;

const KIND_PROMOTION = 1;
const KIND_EN_PASSANT = 2;
const KIND_CASTLING = 3;
const PROMOTION_ROLES = ["knight", "bishop", "rook", "queen"] as const satisfies readonly Role[];
type PromotionRole = (typeof PROMOTION_ROLES)[number];

/** Where the piece comes from. */
export const moveFrom = (move: Move): Square => (move >> 6) & 63;

/** Where the piece goes; for castling, where the rook stands. */
export const moveTo = (move: Move): Square => move & 63;

/** What a pawn becomes; undefined if the move is no promotion. */
export const movePromotion = (move: Move): PromotionRole | undefined =>
  move >> 14 === KIND_PROMOTION ? PROMOTION_ROLES[(move >> 12) & 3] : undefined;

/** Whether a move captures en passant. */
export const isEnPassant = (move: Move): boolean => move >> 14 === KIND_EN_PASSANT;

/** Whether a move castles. */
export const isCastling = (move: Move): boolean => move >> 14 === KIND_CASTLING;

/** Where the king arrives when it castles: the c- or g-file of its rank. */
export const castlingTarget = (move: Move): Square => (moveFrom(move) & 56) + (moveTo(move) > moveFrom(move) ? 6 : 2);
