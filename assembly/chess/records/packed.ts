// Stockfish's training record: 32 bytes of position, bits from the lowest of each byte on (see docs/formats/bin.md), then
// i16 score, u16 move, u16 ply, i8 result, and a byte of padding.
import {
  COLORS_AT, EP_AT, FULLMOVES_AT, HALFMOVES_AT, KEY_AT, MAILBOX_AT, NO_ROOKS, NO_SQUARE, POSITION_BYTES,
  RECORD_BYTES, RECORD_RESULT_AT, RIGHTS_AT, ROOKS_AT, SIDE_AT,
} from "../rules/layout";
import { bit } from "../rules/attacks";
import { encodeHalfKpRow } from "../encoders";
import {
  BLACK, castlingRights, colorSet, computeKey, epSquare, isAttacked, KING, kingSquare, occupied, PAWN, pieceOn, ROOK,
  roleSet, rule50, side, storeCastlingPieces, WHITE,
} from "../rules/position";

/** What can be wrong with a record; src/formats/records/packed-sfen.ts has the words for each. */
export const OK: i32 = 0;
const TWO_KINGS_ON_ONE: i32 = 1;
const NO_SUCH_PIECE: i32 = 2;
const TOO_LONG: i32 = 3;
const PAWN_ON_EDGE: i32 = 4;
const RIGHT_WITHOUT_ROOK: i32 = 5;
const BAD_EN_PASSANT: i32 = 6;
const OPPONENT_IN_CHECK: i32 = 7;
const BAD_RESULT: i32 = 8;
const TOO_MANY_MEN: i32 = 9;

/** Bits from `at` on, at most 25. */
// @ts-expect-error: decorator
@inline
function bits(record: usize, at: i32, count: i32): i32 {
  return (load<i32>(record + (at >> 3)) >>> (at & 7)) & ((1 << count) - 1);
}

@inline
function clear(p: usize): void {
  const zero = i64x2.splat(0);
  for (let offset = 0; offset < POSITION_BYTES; offset += 16) v128.store(p + offset, zero);
}

/**
 * Writes the position of a record to `p`, complete but for the Zobrist key, with the en-passant square as it stands in
 * the record; returns 0 or what is wrong with it.
 */
export function unpackPosition(record: usize, p: usize): i32 {
  clear(p);
  const us = bits(record, 0, 1);
  const whiteKing = bits(record, 1, 6);
  const blackKing = bits(record, 7, 6);
  if (whiteKing == blackKing) return TWO_KINGS_ON_ONE;
  let white = bit(whiteKing);
  let black = bit(blackKing);
  store<u64>(p, white | black, KING << 3);
  store<u8>(p + whiteKing, KING + 1, MAILBOX_AT);
  store<u8>(p + blackKing, (KING + 1) | 8, MAILBOX_AT);
  // Squares come from a8 to h1 (square ^ 56), the kings' left out; an empty one is a single 0, so a run of zeros is a run of
  // empty squares, and only pieces cost a step.
  const firstKing = min(whiteKing ^ 56, blackKing ^ 56);
  const lastKing = max(whiteKing ^ 56, blackKing ^ 56);
  let at = 13;
  let index = 0; // of the square, kings not counted
  while (index < 62) {
    if (at > 255) return TOO_LONG;
    const word = load<u64>(record + (at >> 3)) >> (at & 7);
    const empty = min(min(<i32>ctz(word), 56), 62 - index); // at least 57 bits of the word are good
    at += empty;
    index += empty;
    if (index == 62) break;
    const man = <i32>(word >> empty);
    if (!(man & 1) || empty > 51) continue; // the piece is not wholly in the word
    let turned = index++;
    if (turned >= firstKing) turned++;
    if (turned >= lastKing) turned++;
    const square = turned ^ 56;
    const role = (man >> 1) & 7;
    const color = (man >> 4) & 1;
    at += 5;
    if (role > 4) return NO_SUCH_PIECE;
    const set = bit(square);
    store<u64>(p + (role << 3), load<u64>(p + (role << 3)) | set);
    if (color) black |= set;
    else white |= set;
    store<u8>(p + square, (role + 1) | (color << 3), MAILBOX_AT);
  }
  store<u64>(p, white, COLORS_AT);
  store<u64>(p, black, COLORS_AT + 8);
  if (popcnt(white) > 16 || popcnt(black) > 16) return TOO_MANY_MEN;
  if (at + 28 > 256) return TOO_LONG;
  if (roleSet(p, PAWN) & 0xff000000000000ff) return PAWN_ON_EDGE;
  const rights = bits(record, at, 4);
  at += 4;
  const hasEp = bits(record, at, 1);
  at += 1;
  let ep = NO_SQUARE;
  if (hasEp) {
    ep = bits(record, at, 6);
    at += 6;
  }
  if (at + 23 > 256) return TOO_LONG;
  const clock = bits(record, at, 6) | (bits(record, at + 22, 1) << 6);
  const move = bits(record, at + 6, 16);
  store<u8>(p, rights, RIGHTS_AT);
  store<u8>(p, ep, EP_AT);
  store<u8>(p, us, SIDE_AT);
  store<u16>(p, clock, HALFMOVES_AT);
  store<u16>(p, move, FULLMOVES_AT);
  store<u32>(p, NO_ROOKS, ROOKS_AT);
  for (let right = 0; right < 4; right++) {
    if (!(rights & (1 << right))) continue;
    const rook = outermostRook(p, right);
    if (rook < 0) return RIGHT_WITHOUT_ROOK;
    store<u8>(p + right, rook, ROOKS_AT);
  }
  if (rights) storeCastlingPieces(p);
  if (ep != NO_SQUARE && !epIsPossible(p, ep)) return BAD_EN_PASSANT;
  if (isAttacked(p, kingSquare(p, us ^ 1), us, white | black, ~(<u64>0))) return OPPONENT_IN_CHECK;
  const result = load<i8>(record, RECORD_RESULT_AT);
  return result < -1 || result > 1 ? BAD_RESULT : OK;
}

/** The rook a right belongs to: the outermost on the king's side of the home rank; -1 if there is none. */
function outermostRook(p: usize, right: i32): i32 {
  const color = right >> 1;
  const home = color ? 56 : 0;
  const king = kingSquare(p, color);
  if ((king & 56) != home) return -1;
  const rooks = roleSet(p, ROOK) & colorSet(p, color) & (<u64>0xff << home);
  if (!rooks) return -1;
  const rook = right & 1 ? <i32>ctz(rooks) : 63 - <i32>clz(rooks);
  return right & 1 ? (rook < king ? rook : -1) : rook > king ? rook : -1;
}

/** Whether a pawn can just have passed the square. */
export function epIsPossible(p: usize, square: i32): bool {
  const us = side(p);
  if (square >> 3 != (us == WHITE ? 5 : 2)) return false;
  const pawn = us == WHITE ? square - 8 : square + 8;
  const origin = us == WHITE ? square + 8 : square - 8;
  return pieceOn(p, pawn) == 1 + ((us ^ 1) << 3) && !((bit(square) | bit(origin)) & occupied(p));
}

/** Writes the 32 bytes of a position; returns false if they do not suffice (more pieces than any game can have). */
export function packPosition(p: usize, record: usize): bool {
  let word: u64 = 0;
  let filled = 0;
  let out = record;
  const end = record + 32;
  memory.fill(record, 0, 32);
  word = <u64>side(p) | (<u64>kingSquare(p, WHITE) << 1) | (<u64>kingSquare(p, BLACK) << 7);
  filled = 13;
  for (let rank = 7; rank >= 0; rank--) {
    for (let square = rank << 3; square < (rank << 3) + 8; square++) {
      const piece = pieceOn(p, square);
      const role = (piece & 7) - 1;
      if (role == KING) continue;
      if (piece == 0) filled++;
      else {
        word |= <u64>(1 | (role << 1) | ((piece >> 3) << 4)) << filled;
        filled += 5;
      }
      while (filled >= 8) {
        if (out >= end) return false;
        store<u8>(out++, <u8>word);
        word >>= 8;
        filled -= 8;
      }
    }
  }
  word |= <u64>castlingRights(p) << filled;
  filled += 4;
  const ep = epSquare(p);
  if (ep != NO_SQUARE) {
    word |= <u64>(1 | (ep << 1)) << filled;
    filled += 7;
  } else filled++;
  const clock = rule50(p);
  const move = <i32>load<u16>(p, FULLMOVES_AT);
  word |= <u64>((clock & 63) | (move << 6) | (((clock >> 6) & 1) << 22)) << filled;
  filled += 23;
  while (filled > 0) {
    if (out >= end) return false;
    store<u8>(out++, <u8>word);
    word >>= 8;
    filled -= 8;
  }
  return true;
}

/** Unpacks records of 40 bytes into positions with their keys; stops at the first bad one and returns its number, or `count`. */
export function unpackRecords(records: usize, count: i32, p: usize): i32 {
  for (let i = 0; i < count; i++, records += RECORD_BYTES, p += POSITION_BYTES) {
    if (unpackPosition(records, p) != OK) return i;
    store<u64>(p, computeKey(p), KEY_AT);
  }
  return count;
}

/**
 * From records to HalfKP rows (see encodeHalfKp) without a stop between; `p` is room for one position. Stops at the first
 * bad record and returns its number, or `count`.
 */
export function unpackHalfKp(records: usize, count: i32, p: usize, out: usize, counts: usize): i32 {
  for (let i = 0; i < count; i++, records += RECORD_BYTES, out += 128) {
    if (unpackPosition(records, p) != OK) return i;
    store<u8>(counts + i, encodeHalfKpRow(p, out));
  }
  return count;
}
