// Standard algebraic notation, read and written as ASCII bytes in memory. Reading looks only at the pieces that could
// be meant and checks each for legality; it does not generate all moves.
import { POSITION_BYTES } from "./layout";
import { bishopAttacks, bit, kingAttacks, knightAttacks, pawnAttacks, rookAttacks } from "./attacks";
import { generate } from "./movegen";
import {
  BISHOP, CASTLING, checkers, colorSet, copyPosition, EN_PASSANT, epSquare, isAttacked, isShortCastling, KING,
  KNIGHT, kingSquare, moveFrom, moveKind, movePromotion, moveTo, occupied, PAWN, PROMOTION, pieceOn, play, QUEEN,
  ROOK, roleSet, side, WHITE,
} from "./position";

export const SAN_UNREADABLE: i32 = 0;
export const SAN_ILLEGAL: i32 = -1;
export const SAN_AMBIGUOUS: i32 = -2;

const LETTERS: usize = memory.data<u8>([0x50, 0x4e, 0x42, 0x52, 0x51, 0x4b]); // P N B R Q K

@inline
function letter(role: i32): i32 {
  return load<u8>(LETTERS + role);
}

/** The role a capital letter names, or -1. */
@inline
function roleOf(char: i32): i32 {
  if (char == 0x4e) return KNIGHT;
  if (char == 0x42) return BISHOP;
  if (char == 0x52) return ROOK;
  if (char == 0x51) return QUEEN;
  if (char == 0x4b) return KING;
  if (char == 0x50) return PAWN;
  return -1;
}

const FIGURINE_BYTES: usize = 3; // U+2654 to U+265F in UTF-8: e2 99 and 94 to 9f, king to pawn of each colour

/** The role of the figurine at an address, or -1. */
function figurine(at: usize): i32 {
  if (load<u16>(at) != 0x99e2) return -1;
  const index = <i32>load<u8>(at, 2) - 0x94;
  return index < 0 || index > 11 ? -1 : KING - (index % 6);
}

/** Squares from which a piece of the role reaches `to`, of either colour. */
@inline
function origins(role: i32, to: i32, occupied: u64): u64 {
  if (role == KNIGHT) return knightAttacks(to);
  if (role == BISHOP) return bishopAttacks(to, occupied);
  if (role == ROOK) return rookAttacks(to, occupied);
  if (role == QUEEN) return bishopAttacks(to, occupied) | rookAttacks(to, occupied);
  return kingAttacks(to);
}

/** Whether the king is safe after a piece goes from one square to the other; `captured` is a set of at most one. */
@inline
function isSafe(p: usize, us: i32, role: i32, from: i32, to: i32, captured: u64): bool {
  const after = (occupied(p) & ~bit(from) & ~captured) | bit(to);
  const king = role == KING ? to : kingSquare(p, us);
  return !isAttacked(p, king, us ^ 1, after, ~captured);
}

/** The castling move to one side, or SAN_ILLEGAL; `scratch` holds a move list. */
function findCastling(p: usize, short: bool, scratch: usize): i32 {
  const count = generate(p, scratch);
  for (let i = 0; i < count; i++) {
    const move = <i32>load<u16>(scratch + (i << 1));
    if (moveKind(move) == CASTLING && isShortCastling(move) == short) return move;
  }
  return SAN_ILLEGAL;
}

function findPawnMove(p: usize, to: i32, fromFile: i32, fromRank: i32, promotion: i32): i32 {
  const us = side(p);
  const pawns = roleSet(p, PAWN) & colorSet(p, us);
  const up = us == WHITE ? 8 : -8;
  const lastRank = us == WHITE ? 7 : 0;
  const arrives = to >> 3 == lastRank;
  if (arrives != promotion >= 0) return promotion >= 0 ? SAN_ILLEGAL : SAN_UNREADABLE;
  const straight = fromFile < 0 || fromFile == (to & 7);
  let kind = arrives ? PROMOTION | ((promotion - KNIGHT) << 12) : 0;
  let captured: u64 = 0;
  let from = to - up;
  if (straight && pieceOn(p, to) == 0) {
    if ((from & ~63) != 0) return SAN_ILLEGAL;
    if (!(pawns & bit(from))) {
      if (pieceOn(p, from) || to >> 3 != (us == WHITE ? 3 : 4)) return SAN_ILLEGAL;
      from -= up;
      if (!(pawns & bit(from))) return SAN_ILLEGAL;
    }
  } else {
    if (straight) return SAN_ILLEGAL;
    const candidates = pawnAttacks(us ^ 1, to) & pawns & (<u64>0x0101010101010101 << fromFile);
    if (!candidates) return SAN_ILLEGAL;
    from = <i32>ctz(candidates);
    if (to == epSquare(p)) {
      kind = EN_PASSANT;
      captured = bit(to ^ 8);
    } else {
      captured = bit(to);
      if (!(colorSet(p, us ^ 1) & captured)) return SAN_ILLEGAL;
    }
  }
  if (fromRank >= 0 && fromRank != from >> 3) return SAN_ILLEGAL;
  return isSafe(p, us, PAWN, from, to, captured) ? kind | (from << 6) | to : SAN_ILLEGAL;
}

/** Whether the move is how UCI writes castling: the king goes two files, or onto his own rook. */
function isCastlingUci(p: usize, from: i32, to: i32): bool {
  if (from >> 3 != to >> 3) return false;
  const mine = colorSet(p, side(p)) & bit(to);
  return mine ? (roleSet(p, ROOK) & bit(to)) != 0 : (from & 7) == 4 && abs(from - to) == 2;
}

/**
 * Finds the legal move a text means, or one of the codes above. Accepted: standard SAN; also superfluous origins (Ng1f3, e2e4),
 * UCI (g1f3, e1g1, h7h8q), figurines, a missing x, = or +, h8=q, "ep" behind a capture, zeros for castling, and any of
 * + # ! ? at the end. `scratch` holds a move list.
 */
export function parseSan(p: usize, text: usize, length: i32, scratch: usize): i32 {
  let end = text + <usize>length;
  while (end > text) {
    const char = load<u8>(end - 1);
    if (char != 0x2b && char != 0x23 && char != 0x21 && char != 0x3f) break; // + # ! ?
    end--;
  }
  let at = text;
  if (end <= at) return SAN_UNREADABLE;
  const first = <i32>load<u8>(at);
  if (first == 0x4f || first == 0x30) {
    // O-O, O-O-O, 0-0, 0-0-0
    const size = end - at;
    if (size != 3 && size != 5) return SAN_UNREADABLE;
    for (let i: usize = 0; i < size; i++) {
      if (load<u8>(at + i) != (i & 1 ? 0x2d : first)) return SAN_UNREADABLE;
    }
    return findCastling(p, size == 3, scratch);
  }

  let role = roleOf(first);
  if (role >= 0) at++;
  else if (end - at > FIGURINE_BYTES) {
    role = figurine(at);
    if (role >= 0) at += FIGURINE_BYTES;
    if (role >= 0 && load<u16>(at) == 0xb8ef) at += 3; // U+FE0E: as text, not as a picture
  }
  const isNamed = role >= 0;
  if (!isNamed) role = PAWN;

  let promotion = -1;
  if (role == PAWN && end - at >= 3) {
    if (end - at >= 6 && load<u16>(end - 2) == 0x7065) end -= 2; // ep
    let last = roleOf(load<u8>(end - 1) & 0xdf); // of either case
    let size: usize = 1;
    if (last < 0 && end - at >= 5) {
      last = figurine(end - FIGURINE_BYTES);
      size = FIGURINE_BYTES;
    }
    if (last > PAWN && last < KING) {
      promotion = last;
      end -= size;
      if (load<u8>(end - 1) == 0x3d) end--; // =
    }
  }
  if (end - at < 2) return SAN_UNREADABLE;
  const toFile = <i32>load<u8>(end - 2) - 0x61;
  const toRank = <i32>load<u8>(end - 1) - 0x31;
  if ((toFile | toRank) & ~7) return SAN_UNREADABLE;
  const to = (toRank << 3) | toFile;
  end -= 2;
  if (end > at && (load<u8>(end - 1) == 0x78 || load<u8>(end - 1) == 0x2d)) end--; // x or -
  let fromRank = -1;
  let fromFile = -1;
  if (end > at && (<i32>load<u8>(end - 1) - 0x31 & ~7) == 0) fromRank = <i32>load<u8>(--end) - 0x31;
  if (end > at && (<i32>load<u8>(end - 1) - 0x61 & ~7) == 0) fromFile = <i32>load<u8>(--end) - 0x61;
  if (end != at) return SAN_UNREADABLE;

  if (!isNamed && fromRank >= 0 && fromFile >= 0) {
    const from = (fromRank << 3) | fromFile;
    const piece = pieceOn(p, from);
    if (piece) role = (piece & 7) - 1;
    if (role == KING && isCastlingUci(p, from, to)) return findCastling(p, to > from, scratch);
    if (role != PAWN && promotion >= 0) return SAN_ILLEGAL;
  }
  if (role == PAWN) return findPawnMove(p, to, fromFile, fromRank, promotion);

  const us = side(p);
  const target = bit(to);
  if (colorSet(p, us) & target) return SAN_ILLEGAL;
  let candidates = origins(role, to, occupied(p)) & roleSet(p, role) & colorSet(p, us);
  if (fromFile >= 0) candidates &= <u64>0x0101010101010101 << fromFile;
  if (fromRank >= 0) candidates &= <u64>0xff << (fromRank << 3);
  let found = SAN_ILLEGAL;
  while (candidates) {
    const from = <i32>ctz(candidates);
    candidates &= candidates - 1;
    if (!isSafe(p, us, role, from, to, target)) continue;
    if (found != SAN_ILLEGAL) return SAN_AMBIGUOUS;
    found = (from << 6) | to;
  }
  return found;
}

/** Writes a legal move's SAN (at most 8 bytes) and returns its length; `scratch` holds a position and a move list. */
export function formatSan(p: usize, move: i32, text: usize, scratch: usize): i32 {
  let at = text;
  const from = moveFrom(move);
  const to = moveTo(move);
  const role = (pieceOn(p, from) & 7) - 1;
  if (moveKind(move) == CASTLING) {
    for (let i = 0; i < (isShortCastling(move) ? 3 : 5); i++) store<u8>(at++, i & 1 ? 0x2d : 0x4f);
  } else {
    const takes = pieceOn(p, to) != 0 || moveKind(move) == EN_PASSANT;
    if (role == PAWN) {
      if (takes) store<u8>(at++, 0x61 + (from & 7));
    } else {
      store<u8>(at++, letter(role));
      const us = side(p);
      let rivals = role == KING ? 0 : origins(role, to, occupied(p)) & roleSet(p, role) & colorSet(p, us) & ~bit(from);
      let others: u64 = 0;
      while (rivals) {
        const rival = <i32>ctz(rivals);
        rivals &= rivals - 1;
        if (isSafe(p, us, role, rival, to, bit(to))) others |= bit(rival);
      }
      if (others) {
        const sameFile = others & (<u64>0x0101010101010101 << (from & 7));
        const sameRank = others & (<u64>0xff << (from & 56));
        if (!sameFile || sameRank) store<u8>(at++, 0x61 + (from & 7));
        if (sameFile) store<u8>(at++, 0x31 + (from >> 3));
      }
    }
    if (takes) store<u8>(at++, 0x78);
    store<u8>(at++, 0x61 + (to & 7));
    store<u8>(at++, 0x31 + (to >> 3));
    if (moveKind(move) == PROMOTION) {
      store<u8>(at++, 0x3d);
      store<u8>(at++, letter(movePromotion(move)));
    }
  }
  copyPosition(scratch, p);
  play(scratch, move);
  if (checkers(scratch)) store<u8>(at++, generate(scratch, scratch + POSITION_BYTES) ? 0x2b : 0x23);
  return <i32>(at - text);
}
