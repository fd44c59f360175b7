// Which squares a piece attacks. Leapers have one table each; sliders use magic bitboards (800 kB for rooks, 41 kB for
// bishops). All tables are filled once by `initAttacks`; threads that share the memory find them filled.
import { BISHOP_MAGICS, ROOK_MAGICS } from "./magics";

export const FILE_A: u64 = 0x0101010101010101;
export const FILE_H: u64 = 0x8080808080808080;
export const RANK_1: u64 = 0xff;
export const RANK_8: u64 = 0xff00000000000000;

const KNIGHT: usize = memory.data(64 * 8, 64);
const KING: usize = memory.data(64 * 8, 64);
const PAWN: usize = memory.data(2 * 64 * 8, 64); // [colour of the pawn][square]
const BETWEEN: usize = memory.data(64 * 64 * 8, 64); // squares strictly between two on one line, else none
const LINE: usize = memory.data(64 * 64 * 8, 64); // the whole line through two squares, else none

// Per square 32 bytes: mask, magic, address of its attack sets, shift.
const ROOK: usize = memory.data(64 * 32, 64);
const BISHOP: usize = memory.data(64 * 32, 64);
const ROOK_SETS: usize = memory.data(102400 * 8, 64);
const BISHOP_SETS: usize = memory.data(5248 * 8, 64);

@inline
export function bit(square: i32): u64 {
  return (<u64>1) << square;
}

@inline
export function knightAttacks(square: i32): u64 {
  return load<u64>(KNIGHT + (square << 3));
}

@inline
export function kingAttacks(square: i32): u64 {
  return load<u64>(KING + (square << 3));
}

/** Squares a pawn of the colour (0 White, 1 Black) attacks. */
@inline
export function pawnAttacks(color: i32, square: i32): u64 {
  return load<u64>(PAWN + (((color << 6) | square) << 3));
}

@inline
export function rookAttacks(square: i32, occupied: u64): u64 {
  const entry = ROOK + (square << 5);
  const index = ((occupied & load<u64>(entry)) * load<u64>(entry, 8)) >> load<u64>(entry, 24);
  return load<u64>(<usize>load<u64>(entry, 16) + (<usize>index << 3));
}

@inline
export function bishopAttacks(square: i32, occupied: u64): u64 {
  const entry = BISHOP + (square << 5);
  const index = ((occupied & load<u64>(entry)) * load<u64>(entry, 8)) >> load<u64>(entry, 24);
  return load<u64>(<usize>load<u64>(entry, 16) + (<usize>index << 3));
}

/** Attacks on an empty board: the first set of the square's table. */
@inline
export function openRookAttacks(square: i32): u64 {
  return load<u64>(<usize>load<u64>(ROOK + (square << 5), 16));
}

@inline
export function openBishopAttacks(square: i32): u64 {
  return load<u64>(<usize>load<u64>(BISHOP + (square << 5), 16));
}

@inline
export function between(a: i32, b: i32): u64 {
  return load<u64>(BETWEEN + (((a << 6) | b) << 3));
}

@inline
export function line(a: i32, b: i32): u64 {
  return load<u64>(LINE + (((a << 6) | b) << 3));
}

/** Walks from a square until the edge or the first occupied square, which is included. */
function ray(square: i32, fileStep: i32, rankStep: i32, occupied: u64): u64 {
  let file = (square & 7) + fileStep;
  let rank = (square >> 3) + rankStep;
  let result: u64 = 0;
  while (file >= 0 && file < 8 && rank >= 0 && rank < 8) {
    const target = bit((rank << 3) | file);
    result |= target;
    if (occupied & target) break;
    file += fileStep;
    rank += rankStep;
  }
  return result;
}

function slowRook(square: i32, occupied: u64): u64 {
  return (
    ray(square, 0, 1, occupied) | ray(square, 0, -1, occupied) | ray(square, 1, 0, occupied) | ray(square, -1, 0, occupied)
  );
}

function slowBishop(square: i32, occupied: u64): u64 {
  return (
    ray(square, 1, 1, occupied) | ray(square, 1, -1, occupied) | ray(square, -1, 1, occupied) | ray(square, -1, -1, occupied)
  );
}

/** The square reached by a step, as a set: empty if it leaves the board. */
function step(square: i32, fileStep: i32, rankStep: i32): u64 {
  const file = (square & 7) + fileStep;
  const rank = (square >> 3) + rankStep;
  return file < 0 || file > 7 || rank < 0 || rank > 7 ? 0 : bit((rank << 3) | file);
}

function initSlider(table: usize, magics: usize, sets: usize, rook: bool): void {
  for (let square = 0; square < 64; square++) {
    // The edge square of a ray never changes the attack set, unless the piece stands on that edge itself.
    const edges: u64 =
      ((RANK_1 | RANK_8) & ~(RANK_1 << ((square >> 3) << 3))) | ((FILE_A | FILE_H) & ~(FILE_A << (square & 7)));
    const mask = (rook ? slowRook(square, 0) : slowBishop(square, 0)) & ~edges;
    const magic = load<u64>(magics + (square << 3));
    const shift = 64 - popcnt(mask);
    const entry = table + (square << 5);
    store<u64>(entry, mask);
    store<u64>(entry, magic, 8);
    store<u64>(entry, <u64>sets, 16);
    store<u64>(entry, shift, 24);
    let occupied: u64 = 0;
    do {
      const index = <usize>((occupied * magic) >> shift);
      store<u64>(sets + (index << 3), rook ? slowRook(square, occupied) : slowBishop(square, occupied));
      occupied = (occupied - mask) & mask; // the next subset of the mask
    } while (occupied);
    sets += (<usize>1 << <usize>popcnt(mask)) << 3;
  }
}

export function initAttacks(): void {
  for (let s = 0; s < 64; s++) {
    const knight = step(s, 1, 2) | step(s, 2, 1) | step(s, 2, -1) | step(s, 1, -2);
    store<u64>(KNIGHT + (s << 3), knight | step(s, -1, -2) | step(s, -2, -1) | step(s, -2, 1) | step(s, -1, 2));
    const king = step(s, 0, 1) | step(s, 1, 1) | step(s, 1, 0) | step(s, 1, -1);
    store<u64>(KING + (s << 3), king | step(s, 0, -1) | step(s, -1, -1) | step(s, -1, 0) | step(s, -1, 1));
    store<u64>(PAWN + (s << 3), step(s, -1, 1) | step(s, 1, 1));
    store<u64>(PAWN + ((64 + s) << 3), step(s, -1, -1) | step(s, 1, -1));
  }
  initSlider(ROOK, ROOK_MAGICS, ROOK_SETS, true);
  initSlider(BISHOP, BISHOP_MAGICS, BISHOP_SETS, false);
  for (let a = 0; a < 64; a++) {
    for (let b = 0; b < 64; b++) {
      if (a == b) continue;
      const both = bit(a) | bit(b);
      const at = ((a << 6) | b) << 3;
      if (rookAttacks(a, 0) & bit(b)) {
        store<u64>(LINE + at, (rookAttacks(a, 0) & rookAttacks(b, 0)) | both);
        store<u64>(BETWEEN + at, rookAttacks(a, bit(b)) & rookAttacks(b, bit(a)));
      } else if (bishopAttacks(a, 0) & bit(b)) {
        store<u64>(LINE + at, (bishopAttacks(a, 0) & bishopAttacks(b, 0)) | both);
        store<u64>(BETWEEN + at, bishopAttacks(a, bit(b)) & bishopAttacks(b, bit(a)));
      }
    }
  }
}
