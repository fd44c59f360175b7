// What a thread learns while it searches: which moves were good elsewhere (history heuristics: main, capture, continuation, pawns), and how far the static
// evaluation is usually off in positions with the same pawns or pieces, or after the same moves (correction history). Tables of i16 in the thread's own memory.
import { BISHOP, BLACK, colorSet, KING, KNIGHT, PAWN, QUEEN, ROOK, roleSet, side, WHITE } from "../rules/position";

const MAIN: i32 = 0; // [side][whether the enemy attacks from, to][from, to]
const CAPTURE: i32 = MAIN + 2 * 4 * 4096 * 2; // [piece, to][role taken]
const CONTINUATION: i32 = CAPTURE + 1024 * 8 * 2; // [earlier piece, to][piece, to]
const PAWNS: i32 = CONTINUATION + 1024 * 1024 * 2; // [hash of the pawns][piece, to]
const PAWNS_SIZE: i32 = 512;
const CORRECTION: i32 = PAWNS + PAWNS_SIZE * 1024 * 2; // [kind][side][hash]
const CORRECTION_SIZE: i32 = 8192;
const AFTER: i32 = CORRECTION + 3 * 2 * CORRECTION_SIZE * 2; // corrections: [piece, to two plies before][piece, to of the last move]
export const HISTORY_BYTES: i32 = AFTER + 1024 * 1024 * 2;

const LIMIT: i32 = 16384;
const CORRECTION_LIMIT: i32 = 16384;

let tables: usize = 0;

export function historyStart(at: usize): void {
  tables = at;
}

/** Forgets everything. */
export function historyClear(): void {
  memory.fill(tables, 0, HISTORY_BYTES);
}

@inline
function mainAt(us: i32, move: i32, attacked: u64): usize {
  const from = <i32>(attacked >> ((move >> 6) & 63)) & 1;
  const to = <i32>(attacked >> (move & 63)) & 1;
  return tables + (((((us << 2) | (from << 1) | to) << 12) | (move & 4095)) << 1);
}

@inline
function captureAt(moved: i32, role: i32): usize {
  return tables + CAPTURE + (((moved << 3) | role) << 1);
}

/** What is known of moves after an earlier one: a row of `historyIn`. */
@inline
export function continuationRow(earlier: i32): usize {
  return tables + CONTINUATION + (earlier << 11);
}

@inline
export function historyIn(row: usize, moved: i32): i32 {
  return load<i16>(row + (moved << 1));
}

@inline
function continuationAt(earlier: i32, moved: i32): usize {
  return continuationRow(earlier) + (moved << 1);
}

/** Moves a value towards +-LIMIT, the less the nearer it is. */
@inline
function push(at: usize, bonus: i32): void {
  const value = <i32>load<i16>(at);
  store<i16>(at, <i16>(value + bonus - (value * abs(bonus)) / LIMIT));
}

@inline
export function mainHistory(us: i32, move: i32, attacked: u64): i32 {
  return load<i16>(mainAt(us, move, attacked));
}

/** `moved` is piece << 6 | target square, `role` what it takes. */
@inline
export function captureHistory(moved: i32, role: i32): i32 {
  return load<i16>(captureAt(moved, role));
}

@inline
export function continuationHistory(earlier: i32, moved: i32): i32 {
  return load<i16>(continuationAt(earlier, moved));
}

@inline
export function learnMain(us: i32, move: i32, attacked: u64, bonus: i32): void {
  push(mainAt(us, move, attacked), bonus);
}

/** What is known of moves with the pawns of a position: a row of `historyIn`. */
@inline
export function pawnHistoryRow(p: usize): usize {
  const pawns = roleSet(p, PAWN);
  return tables + PAWNS + ((mix(pawns & colorSet(p, WHITE), pawns & colorSet(p, BLACK)) & (PAWNS_SIZE - 1)) << 11);
}

@inline
export function learnIn(row: usize, moved: i32, bonus: i32): void {
  push(row + (moved << 1), bonus);
}

@inline
export function learnCapture(moved: i32, role: i32, bonus: i32): void {
  push(captureAt(moved, role), bonus);
}

@inline
export function learnContinuation(earlier: i32, moved: i32, bonus: i32): void {
  push(continuationAt(earlier, moved), bonus);
}

@inline
function mix(a: u64, b: u64): i32 {
  const h = (a * 0x9e3779b97f4a7c15) ^ ((b ^ 0x2545f4914f6cdd1d) * 0xbf58476d1ce4e5b9);
  return <i32>((h ^ (h >> 29)) >> 18) & (CORRECTION_SIZE - 1);
}

@inline
function correctionAt(kind: i32, us: i32, hash: i32): usize {
  return tables + CORRECTION + ((((kind << 1) | us) * CORRECTION_SIZE + hash) << 1);
}

@inline
function pawnsAt(p: usize): usize {
  const pawns = roleSet(p, PAWN);
  return correctionAt(0, side(p), mix(pawns & colorSet(p, WHITE), pawns & colorSet(p, BLACK)));
}

/** The pieces of one colour, whatever its pawns. */
@inline
function piecesAt(p: usize, color: i32): usize {
  const own = colorSet(p, color);
  const a = (roleSet(p, KNIGHT) & own) * 0x94d049bb133111eb + (roleSet(p, BISHOP) & own) * 0xd6e8feb86659fd93 + (roleSet(p, KING) & own);
  const b = (roleSet(p, ROOK) & own) * 0xa0761d6478bd642f + (roleSet(p, QUEEN) & own) * 0xe7037ed1a0b428db;
  return correctionAt(1 + color, side(p), mix(a, b));
}

@inline
function afterAt(before: i32, last: i32): usize {
  return tables + AFTER + (((before << 10) | last) << 1);
}

/** What to add to the static evaluation, in centipawns; `last` and `before` are the moves that led here, as piece << 6 | target. */
export function correction(p: usize, last: i32, before: i32): i32 {
  const sum =
    <i32>load<i16>(pawnsAt(p)) + <i32>load<i16>(piecesAt(p, WHITE)) + <i32>load<i16>(piecesAt(p, BLACK)) +
    <i32>load<i16>(afterAt(before, last));
  return sum / 512;
}

@inline
function correct(at: usize, bonus: i32): void {
  const value = <i32>load<i16>(at);
  store<i16>(at, <i16>(value + bonus - (value * abs(bonus)) / CORRECTION_LIMIT));
}

/** A search of this depth found the evaluation to be off by so many centipawns. */
export function learnCorrection(p: usize, last: i32, before: i32, off: i32, depth: i32): void {
  const bonus = max(-2048, min(2048, off * depth * 3));
  correct(pawnsAt(p), bonus);
  correct(piecesAt(p, WHITE), bonus);
  correct(piecesAt(p, BLACK), bonus);
  correct(afterAt(before, last), bonus);
}
