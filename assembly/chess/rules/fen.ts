// Reads ordinary FENs fast, for files in which every game has one. What is not plainly right is left to
// src/chess/fen.ts, which knows all the rest: Chess960, missing fields, and what to say about a mistake.
import {
  EP_AT, FULLMOVES_AT, HALFMOVES_AT, KEY_AT, MAILBOX_AT, NO_ROOKS, NO_SQUARE, POSITION_BYTES, RIGHTS_AT, ROOKS_AT,
  SIDE_AT,
} from "./layout";
import {
  attackersTo, BLACK, colorSet, completePosition, computeKey, epIsLegal, KING, kingSquare, occupied, PAWN, pieceOn,
  roleSet, WHITE,
} from "./position";

const BLACK_MAN: i32 = 8;
const EDGES: u64 = 0xff000000000000ff;

/** The number of a piece as in the mailbox, or 0. */
function pieceOf(char: i32): i32 {
  const color = char & 32 ? BLACK_MAN : 0;
  switch (char & ~32) {
    case 0x50: // P
      return 1 | color;
    case 0x4e: // N
      return 2 | color;
    case 0x42: // B
      return 3 | color;
    case 0x52: // R
      return 4 | color;
    case 0x51: // Q
      return 5 | color;
    case 0x4b: // K
      return 6 | color;
  }
  return 0;
}

/** Where the reading of the counters stands. */
let cursor: usize = 0;

/** A number up to 65535 that ends at a space or the end, or -1. */
function readCounter(from: usize, end: usize): i32 {
  let value = 0;
  let at = from;
  for (; at < end && <u32>(<i32>load<u8>(at) - 0x30) < 10; at++) {
    value = value * 10 + <i32>load<u8>(at) - 0x30;
    if (value > 0xffff) return -1;
  }
  cursor = at;
  return at == from ? -1 : value;
}

/** Whether the king and rook of a right (0..3) stand at home. */
function mayCastle(p: usize, right: i32): bool {
  const home = right < 2 ? 0 : 56;
  const color = right < 2 ? 0 : BLACK_MAN;
  return pieceOn(p, home + 4) == (6 | color) && pieceOn(p, home + (right & 1 ? 0 : 7)) == (4 | color);
}

/** Writes the position of a FEN of six fields at `p`; false if it is not an ordinary one. */
export function readFen(text: usize, length: i32, p: usize): bool {
  const end = text + <usize>length;
  let at = text;
  if (length <= 0) return false;
  memory.fill(p, 0, POSITION_BYTES);

  let rank = 7;
  let file = 0;
  for (; at < end; at++) {
    const char = <i32>load<u8>(at);
    if (char == 0x20) break;
    if (char == 0x2f) {
      if (file != 8 || rank == 0) return false;
      rank--;
      file = 0;
    } else if (<u32>(char - 0x31) < 8) file += char - 0x30;
    else {
      const piece = pieceOf(char);
      if (piece == 0 || file > 7) return false;
      store<u8>(p + ((rank << 3) | file), piece, MAILBOX_AT);
      file++;
    }
    if (file > 8) return false;
  }
  if (rank != 0 || file != 8 || at + 10 > end) return false; // at least " w - - 0 1" follows

  const sideChar = <i32>load<u8>(at + 1);
  if ((sideChar != 0x77 && sideChar != 0x62) || load<u8>(at + 2) != 0x20) return false;
  const us = sideChar == 0x62 ? BLACK : WHITE;
  store<u8>(p, us, SIDE_AT);
  at += 3;

  let rights = 0;
  store<u32>(p, NO_ROOKS, ROOKS_AT);
  if (load<u8>(at) == 0x2d) at++;
  else {
    for (; at < end && load<u8>(at) != 0x20; at++) {
      const char = <i32>load<u8>(at);
      const right = char == 0x4b ? 0 : char == 0x51 ? 1 : char == 0x6b ? 2 : char == 0x71 ? 3 : -1;
      if (right < 0 || rights & (1 << right) || !mayCastle(p, right)) return false;
      rights |= 1 << right;
      store<u8>(p + right, (right < 2 ? 0 : 56) + (right & 1 ? 0 : 7), ROOKS_AT);
    }
    if (rights == 0) return false;
  }
  store<u8>(p, rights, RIGHTS_AT);
  store<u8>(p, NO_SQUARE, EP_AT);
  if (at + 6 > end || load<u8>(at) != 0x20) return false; // " - 0 1"
  at++;

  let ep = NO_SQUARE;
  if (load<u8>(at) == 0x2d) at++;
  else {
    const epFile = <i32>load<u8>(at) - 0x61;
    const epRank = <i32>load<u8>(at + 1) - 0x31;
    if ((epFile & ~7) != 0 || epRank != (us == WHITE ? 5 : 2)) return false;
    ep = (epRank << 3) | epFile;
    const up = us == WHITE ? 8 : -8;
    if (pieceOn(p, ep) || pieceOn(p, ep + up) || pieceOn(p, ep - up) != (us == WHITE ? 1 | BLACK_MAN : 1)) return false;
    at += 2;
  }
  if (at >= end || load<u8>(at) != 0x20) return false;
  const clock = readCounter(at + 1, end);
  if (clock < 0 || cursor >= end || load<u8>(cursor) != 0x20) return false;
  const number = readCounter(cursor + 1, end);
  if (number < 1 || cursor != end) return false;
  store<u16>(p, clock, HALFMOVES_AT);
  store<u16>(p, number, FULLMOVES_AT);

  completePosition(p);
  const kings = roleSet(p, KING);
  const white = colorSet(p, WHITE);
  const black = colorSet(p, BLACK);
  if (popcnt(kings & white) != 1 || popcnt(kings & black) != 1) return false;
  if (popcnt(white) > 16 || popcnt(black) > 16 || roleSet(p, PAWN) & EDGES) return false;
  if (attackersTo(p, kingSquare(p, us ^ 1), occupied(p)) & colorSet(p, us)) return false; // it could be taken
  if (ep != NO_SQUARE && epIsLegal(p, ep)) {
    store<u8>(p, ep, EP_AT);
    store<u64>(p, computeKey(p), KEY_AT);
  }
  return true;
}
