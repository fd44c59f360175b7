// The stack of the search: one frame of memory per ply, which holds the position, what is known of it, and its moves.
//
//    0  position          160 i32 static evaluation   164 i32 move being searched, 0 a null move
//  168  i32 that move as piece << 6 | target           172 i32 x 2 killers      180 i32 excluded move
//  184  i32 length of the best line                     188 i32 cutoffs below    192 i32 double extensions so far
//  196  i32 plies since a null move                     200 u64 who gives check
//  208  state of the move picker, 32 bytes: ordering.ts
//  256  u16 x 256 moves as generated     768 i32 x 256 moves with scores     1792 u16 x 128 best line
// 2048  u16 x 64 quiet moves tried     2176 u16 x 32 captures tried
// 2240  u64 x 7 from where a pawn, knight, bishop, rook, queen, king would give check; whose moving away would
// 2304  u64 x 4 squares the enemy attacks: with pawns, minor pieces too, rooks too, with anything
// 2336  u32 address of the histories with these pawns       2340 i32 plies by which the move being searched was reduced
import { checkers, copyPosition } from "../rules/position";

export const MAX_PLY: i32 = 127;
export const NONE: i32 = -32002; // no static evaluation: in check
const BEFORE: i32 = 8; // empty frames before the root, so that looking back needs no test
const FRAME_BYTES: i32 = 2368;
export const FRAMES_BYTES: i32 = (BEFORE + MAX_PLY + 2) * FRAME_BYTES;

let frames: usize = 0;

export function framesStart(at: usize): void {
  frames = at + BEFORE * FRAME_BYTES;
}

/** Prepares the root. */
export function framesReset(position: usize): void {
  memory.fill(frames - BEFORE * FRAME_BYTES, 0, FRAMES_BYTES);
  for (let ply = -BEFORE; ply < 0; ply++) store<i32>(frames + ply * FRAME_BYTES, NONE, 160);
  copyPosition(frames, position);
  store<i32>(frames, 1000, 196);
  store<u64>(frames, checkers(frames), 200);
}

/** The frame of a ply, which is also the address of its position. */
@inline
export function frameAt(ply: i32): usize {
  return frames + ply * FRAME_BYTES;
}

/** The frame `plies` before. */
@inline
export function earlier(frame: usize, plies: i32): usize {
  return frame - plies * FRAME_BYTES;
}

@inline
export function next(frame: usize): usize {
  return frame + FRAME_BYTES;
}

@inline
export function staticEval(frame: usize): i32 {
  return load<i32>(frame, 160);
}

@inline
export function setStaticEval(frame: usize, value: i32): void {
  store<i32>(frame, value, 160);
}

@inline
export function currentMove(frame: usize): i32 {
  return load<i32>(frame, 164);
}

/** The move being searched as piece << 6 | target; 0 for a null move and before the root. */
@inline
export function movedPiece(frame: usize): i32 {
  return load<i32>(frame, 168);
}

@inline
export function setMove(frame: usize, move: i32, moved: i32): void {
  store<i32>(frame, move, 164);
  store<i32>(frame, moved, 168);
}

@inline
export function isKiller(frame: usize, move: i32): bool {
  return load<i32>(frame, 172) == move || load<i32>(frame, 176) == move;
}

/** One of the two, the later one first; 0 if there is none. */
@inline
export function killer(frame: usize, i: i32): i32 {
  return load<i32>(frame + (i << 2), 172);
}

@inline
export function addKiller(frame: usize, move: i32): void {
  if (load<i32>(frame, 172) == move) return;
  store<i32>(frame, load<i32>(frame, 172), 176);
  store<i32>(frame, move, 172);
}

@inline
export function clearKillers(frame: usize): void {
  store<u64>(frame, 0, 172);
}

@inline
export function excludedMove(frame: usize): i32 {
  return load<i32>(frame, 180);
}

@inline
export function setExcluded(frame: usize, move: i32): void {
  store<i32>(frame, move, 180);
}

@inline
export function pvLength(frame: usize): i32 {
  return load<i32>(frame, 184);
}

@inline
export function clearPv(frame: usize): void {
  store<i32>(frame, 0, 184);
}

/** The best line is this move, then that of the next frame. */
export function extendPv(frame: usize, move: i32): void {
  const child = next(frame);
  const length = min(pvLength(child), 126);
  store<u16>(frame, move, 1792);
  memory.copy(frame + 1794, child + 1792, length << 1);
  store<i32>(frame, length + 1, 184);
}

@inline
export function cutoffs(frame: usize): i32 {
  return load<i32>(frame, 188);
}

@inline
export function setCutoffs(frame: usize, count: i32): void {
  store<i32>(frame, count, 188);
}

@inline
export function doubleExtensions(frame: usize): i32 {
  return load<i32>(frame, 192);
}

@inline
export function setDoubleExtensions(frame: usize, count: i32): void {
  store<i32>(frame, count, 192);
}

@inline
export function pliesFromNull(frame: usize): i32 {
  return load<i32>(frame, 196);
}

@inline
export function setPliesFromNull(frame: usize, plies: i32): void {
  store<i32>(frame, plies, 196);
}

@inline
export function checkersOf(frame: usize): u64 {
  return load<u64>(frame, 200);
}

@inline
export function setCheckers(frame: usize, pieces: u64): void {
  store<u64>(frame, pieces, 200);
}

@inline
export function moveList(frame: usize): usize {
  return frame + 256;
}

@inline
export function scoredMoves(frame: usize): usize {
  return frame + 768;
}

@inline
export function pickerState(frame: usize): usize {
  return frame + 208;
}

@inline
export function checkSquares(frame: usize): usize {
  return frame + 2240;
}

@inline
export function threats(frame: usize): usize {
  return frame + 2304;
}

/** Every square the enemy attacks; `findThreats` has looked at the position. */
@inline
export function attackedByEnemy(frame: usize): u64 {
  return load<u64>(frame, 2328);
}

@inline
export function pawnRow(frame: usize): usize {
  return <usize>load<u32>(frame, 2336);
}

@inline
export function setPawnRow(frame: usize, row: usize): void {
  store<u32>(frame, <u32>row, 2336);
}

@inline
export function reducedBy(frame: usize): i32 {
  return load<i32>(frame, 2340);
}

@inline
export function setReducedBy(frame: usize, plies: i32): void {
  store<i32>(frame, plies, 2340);
}

@inline
export function bestLine(frame: usize): usize {
  return frame + 1792;
}

@inline
export function triedQuiets(frame: usize): usize {
  return frame + 2048;
}

@inline
export function triedCaptures(frame: usize): usize {
  return frame + 2176;
}
