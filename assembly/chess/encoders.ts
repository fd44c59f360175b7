// Positions as arrays of numbers, for networks. Each function encodes positions that stand behind one another in memory
// (POSITION_BYTES each) into rows that do the same. The layouts are described in src/encodings, one file each.
import { FULLMOVES_AT, MAILBOX_AT, NO_SQUARE, POSITION_BYTES } from "./rules/layout";
import { bit } from "./rules/attacks";
import {
  BLACK, castlingRights, colorSet, epSquare, KING, key, kingSquare, PAWN, pieceOn, QUEEN, roleSet, rule50, side,
  WHITE,
} from "./rules/position";

// Token of a piece as in the mailbox: "." P N B R Q K _ _ p n b r q k _
const FEN_TOKENS = memory.data<u8>([30, 23, 25, 24, 26, 27, 28, 30, 30, 18, 19, 11, 20, 22, 21, 30], 16);
const TOKEN_NONE: i32 = 30;
const TOKEN_A: i32 = 10;
const TOKEN_W: i32 = 29;
const TOKEN_B: i32 = 11;

/** A number up to 999 as three characters, padded on the right; a larger one is written as 999. */
// @ts-expect-error: decorator
@inline
function putNumber(out: usize, value: i32): void {
  if (value > 999) value = 999;
  store<u8>(out, TOKEN_NONE, 1);
  store<u8>(out, TOKEN_NONE, 2);
  if (value >= 100) {
    store<u8>(out, value / 100);
    store<u8>(out, (value / 10) % 10, 1);
    store<u8>(out, value % 10, 2);
  } else if (value >= 10) {
    store<u8>(out, value / 10);
    store<u8>(out, value % 10, 1);
  } else store<u8>(out, value);
}

/** 77 bytes a position. */
export function encodeFenTokens(p: usize, count: i32, out: usize): void {
  const table = v128.load(FEN_TOKENS);
  for (let i = 0; i < count; i++, p += POSITION_BYTES, out += 77) {
    store<u8>(out, side(p) == WHITE ? TOKEN_W : TOKEN_B);
    for (let rank = 7; rank >= 0; rank--) {
      const row = v128.load64_zero(p + (rank << 3), MAILBOX_AT);
      v128.store64_lane(out + ((7 - rank) << 3), i8x16.swizzle(table, row), 0, 1);
    }
    store<u32>(out, 0x1e1e1e1e, 65); // "...."
    const rights = castlingRights(p);
    let at = out + 65;
    if (rights & 1) store<u8>(at++, 28);
    if (rights & 2) store<u8>(at++, 27);
    if (rights & 4) store<u8>(at++, 21);
    if (rights & 8) store<u8>(at++, 22);
    const ep = epSquare(p);
    store<u8>(out, ep == NO_SQUARE ? TOKEN_NONE : TOKEN_A + (ep & 7), 69);
    store<u8>(out, ep == NO_SQUARE ? TOKEN_NONE : (ep >> 3) + 1, 70);
    putNumber(out + 71, rule50(p));
    putNumber(out + 74, load<u16>(p, FULLMOVES_AT));
  }
}

const BOARD_FIRST: i32 = 1924; // id of the white king, the first piece of the vocabulary
// From the mailbox to the vocabulary's order: white K Q R B N P, then black; 16 is "empty".
const BOARD_TOKENS = memory.data<u8>([16, 5, 4, 3, 2, 1, 0, 16, 16, 11, 10, 9, 8, 7, 6, 16], 16);
// From rights (K 1, Q 2, k 4, q 8) to K Q k q KQ Kk Kq Qk Qq kq KQk KQq Kkq Qkq KQkq none
const BOARD_CASTLING = memory.data<u8>([15, 0, 1, 4, 2, 5, 7, 10, 3, 6, 8, 11, 9, 12, 13, 14], 16);

/** 68 u16 a position, ids of the full vocabulary. */
export function encodeBoard68(p: usize, count: i32, out: usize): void {
  for (let i = 0; i < count; i++, p += POSITION_BYTES, out += 136) {
    store<u16>(out, BOARD_FIRST + 12);
    for (let square = 0; square < 64; square++) {
      store<u16>(out + (square << 1), BOARD_FIRST + <i32>load<u8>(BOARD_TOKENS + pieceOn(p, square)), 2);
    }
    store<u16>(out, BOARD_FIRST + 13, 130);
    store<u16>(out, BOARD_FIRST + 24 + <i32>load<u8>(BOARD_CASTLING + castlingRights(p)), 132);
    store<u16>(out, BOARD_FIRST + 14 + side(p), 134);
  }
}

/** Writes 1 for every member of the set; `turn` is xored into the square. */
// @ts-expect-error: decorator
@inline
function putSet(out: usize, set: u64, turn: i32): void {
  while (set) {
    store<f32>(out + ((<i32>ctz(set) ^ turn) << 2), 1);
    set &= set - 1;
  }
}

// @ts-expect-error: decorator
@inline
function fillPlane(out: usize, value: f32): void {
  const four = f32x4.splat(value);
  for (let i = 0; i < 256; i += 64) {
    v128.store(out + i, four);
    v128.store(out + i, four, 16);
    v128.store(out + i, four, 32);
    v128.store(out + i, four, 48);
  }
}

// @ts-expect-error: decorator
@inline
function fillRow(out: usize): void {
  const ones = f32x4.splat(1);
  v128.store(out, ones);
  v128.store(out, ones, 16);
}

/** 13 x 64 f32 a position. */
export function encodePlanes13(p: usize, count: i32, out: usize): void {
  for (let i = 0; i < count; i++, p += POSITION_BYTES, out += 3328) {
    memory.fill(out, 0, 3328);
    for (let role = 0; role <= KING; role++) {
      putSet(out + (role << 8), roleSet(p, role) & colorSet(p, WHITE), 0);
      putSet(out + ((role + 6) << 8), roleSet(p, role) & colorSet(p, BLACK), 0);
    }
    const meta = out + 3072;
    const rights = castlingRights(p);
    for (let right = 0; right < 4; right++) if (rights & (1 << right)) fillRow(meta + (right << 5));
    if (side(p) == WHITE) fillRow(meta + (4 << 5));
    const ep = epSquare(p);
    if (ep != NO_SQUARE) store<f32>(meta + (5 << 5) + ((ep & 7) << 2), 1);
  }
}

/** Twelve planes: our men by role, then theirs. */
@inline
function putMen(p: usize, us: i32, turn: i32, out: usize): void {
  const own = colorSet(p, us);
  const theirs = colorSet(p, us ^ 1);
  for (let role = 0; role <= KING; role++) {
    putSet(out + (role << 8), roleSet(p, role) & own, turn);
    putSet(out + ((role + 6) << 8), roleSet(p, role) & theirs, turn);
  }
}

/** 18 x 64 f32 a position; `repetitions` holds a byte for each: how often it occurred before. 0 means none did. */
export function encodePlanes18(p: usize, count: i32, repetitions: usize, out: usize): void {
  for (let i = 0; i < count; i++, p += POSITION_BYTES, out += 4608) {
    memory.fill(out, 0, 4608);
    const us = side(p);
    const turn = us == WHITE ? 0 : 56;
    putMen(p, us, turn, out);
    const seen = 1 + (repetitions ? <i32>load<u8>(repetitions + i) : 0);
    fillPlane(out + (12 << 8), seen >= 3 ? 1 : <f32>seen / 3);
    const ep = epSquare(p);
    if (ep != NO_SQUARE) store<f32>(out + (13 << 8) + ((ep ^ turn) << 2), 1);
    const rights = castlingRights(p);
    const ours = us == WHITE ? rights & 3 : rights >> 2;
    const others = us == WHITE ? rights >> 2 : rights & 3;
    if (ours & 1) fillPlane(out + (14 << 8), 1);
    if (ours & 2) fillPlane(out + (15 << 8), 1);
    if (others & 1) fillPlane(out + (16 << 8), 1);
    if (others & 2) fillPlane(out + (17 << 8), 1);
  }
}

const LC0_BYTES: i32 = 112 * 256;
const LC0_BOARD: i32 = 13 * 256; // bytes of one of the eight positions of the history
const LC0_FACTS: usize = 8 * LC0_BOARD;

/** The eight planes behind the history: castling, who moves, plies since the last capture or pawn move, zeros, ones. */
@inline
function putLc0Facts(p: usize, us: i32, facts: usize): void {
  const rights = castlingRights(p);
  const ours = us == WHITE ? rights & 3 : rights >> 2;
  const others = us == WHITE ? rights >> 2 : rights & 3;
  if (ours & 2) fillPlane(facts, 1);
  if (ours & 1) fillPlane(facts + (1 << 8), 1);
  if (others & 2) fillPlane(facts + (2 << 8), 1);
  if (others & 1) fillPlane(facts + (3 << 8), 1);
  if (us == BLACK) fillPlane(facts + (4 << 8), 1);
  fillPlane(facts + (5 << 8), <f32>rule50(p));
  fillPlane(facts + (7 << 8), 1);
}

/**
 * Fills the history from the board `past` on, when nothing is known before the one at `out + (past - 1) * LC0_BOARD`, whose
 * position is `p`: it is repeated, with the pawn that had just passed the square `passed` put back.
 */
@inline
function repeatOldest(p: usize, us: i32, past: i32, passed: i32, out: usize): void {
  if (past == 8) return;
  const before = out + past * LC0_BOARD;
  memory.copy(before, before - LC0_BOARD, LC0_BOARD);
  if (passed != NO_SQUARE) {
    const turn = us == WHITE ? 0 : 56;
    const pawns = before + ((side(p) == us ? PAWN + 6 : PAWN) << 8); // of the side that has just moved
    store<f32>(pawns + ((passed ^ 8 ^ turn) << 2), 0); // where it stands
    store<f32>(pawns + ((passed ^ 24 ^ turn) << 2), 1); // where it came from
  }
  for (let i = past + 1; i < 8; i++) memory.copy(out + i * LC0_BOARD, before, LC0_BOARD);
}

/**
 * 112 x 64 f32 a position of which nothing earlier is known: the history repeats it, but is empty where the position has
 * the key `start`, that of the first position of a game.
 */
export function encodeLc0Planes(p: usize, count: i32, start: u64, out: usize): void {
  for (let i = 0; i < count; i++, p += POSITION_BYTES, out += LC0_BYTES) {
    memory.fill(out, 0, LC0_BYTES);
    const us = side(p);
    putMen(p, us, us == WHITE ? 0 : 56, out);
    if (key(p) != start) repeatOldest(p, us, 1, epSquare(p), out);
    putLc0Facts(p, us, out + LC0_FACTS);
  }
}

/**
 * The same of positions with their past: eight structs each, newest first. Three bytes of `known` each: how many of them
 * are there (1 to 8), a bit for each that had stood on the board before, and what a pawn had passed before the first.
 */
export function encodeLc0History(p: usize, known: usize, count: i32, start: u64, out: usize): void {
  for (let i = 0; i < count; i++, p += 8 * POSITION_BYTES, known += 3, out += LC0_BYTES) {
    memory.fill(out, 0, LC0_BYTES);
    const us = side(p);
    const turn = us == WHITE ? 0 : 56;
    const boards = <i32>load<u8>(known);
    const repeated = <i32>load<u8>(known, 1);
    for (let past = 0; past < boards; past++) {
      const board = out + past * LC0_BOARD;
      putMen(p + past * POSITION_BYTES, us, turn, board);
      if (repeated & (1 << past)) fillPlane(board + (12 << 8), 1);
    }
    const oldest = p + (boards - 1) * POSITION_BYTES;
    if (key(oldest) != start) repeatOldest(oldest, us, boards, <i32>load<u8>(known, 2), out);
    putLc0Facts(p, us, out + LC0_FACTS);
  }
}

/** The indices one colour sees, ascending, 2 bytes each; returns how many. */
export function encodeHalfKpFor(p: usize, pov: i32, out: usize): i32 {
  const start = out;
  const flip = pov == WHITE ? 0 : 63;
  const king = 641 * (kingSquare(p, pov) ^ flip);
  for (let role = 0; role <= QUEEN; role++) {
    for (let other = 0; other < 2; other++) {
      const base = king + 1 + ((role * 2 + other) << 6);
      let set = roleSet(p, role) & colorSet(p, pov ^ other);
      if (pov == WHITE) {
        while (set) {
          store<u16>(out, base + <i32>ctz(set));
          out += 2;
          set &= set - 1;
        }
      } else {
        while (set) {
          const square = 63 - <i32>clz(set);
          store<u16>(out, base + (square ^ 63));
          out += 2;
          set ^= bit(square);
        }
      }
    }
  }
  return <i32>((out - start) >> 1);
}

const HALFKP_ROW: i32 = 32; // indices a side; no position has more than 30 men besides the kings
const UNUSED = i16x8.splat(-1);

/**
 * HalfKP rows of a position: 32 u16 of the side to move, then 32 of the other, the rest of each filled with 65535;
 * returns how many are used, the same for both sides.
 */
export function encodeHalfKpRow(p: usize, out: usize): i32 {
  for (let i = 0; i < 128; i += 16) v128.store(out + i, UNUSED);
  const us = side(p);
  encodeHalfKpFor(p, us ^ 1, out + HALFKP_ROW * 2);
  return encodeHalfKpFor(p, us, out);
}

/** HalfKP rows (128 bytes each) of many positions; one byte of `counts` each says how many indices are used. */
export function encodeHalfKp(p: usize, count: i32, out: usize, counts: usize): void {
  for (let i = 0; i < count; i++, p += POSITION_BYTES, out += 128) store<u8>(counts + i, encodeHalfKpRow(p, out));
}
