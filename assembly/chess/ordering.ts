// In which order moves are searched: the table's move, good captures, killers, quiet moves by their history, bad captures.
import { bishopAttacks, bit, knightAttacks, pawnAttacks, rookAttacks } from "./attacks";
import { earlier, isKiller, moveList, moveScores, movedPiece } from "./frame";
import { captureHistory, continuationHistory, learnCapture, learnContinuation, learnMain, mainHistory } from "./history";
import {
  BISHOP,
  CASTLING,
  colorSet,
  EN_PASSANT,
  KNIGHT,
  kingSquare,
  moveFrom,
  moveKind,
  movePromotion,
  moveTo,
  occupied,
  PAWN,
  PROMOTION,
  pieceOn,
  QUEEN,
  ROOK,
  roleSet,
  side,
} from "./position";
import { seeAtLeast } from "./see";

const FIRST: i32 = 1 << 28;
const GOOD_CAPTURE: i32 = 1 << 24;
const KILLER: i32 = 1 << 22;
const BAD_CAPTURE: i32 = -(1 << 24);
const LIMIT: i32 = 16384; // of a history

/** Values of what is taken, by role, for ordering. */
const VICTIMS: usize = memory.data<i32>([100, 320, 330, 500, 950, 0]);

@inline
export function victimValue(role: i32): i32 {
  return load<i32>(VICTIMS + (role << 2));
}

/** The role a move takes, or -1. */
@inline
export function taken(p: usize, move: i32): i32 {
  const kind = moveKind(move);
  if (kind == EN_PASSANT) return 0;
  if (kind == CASTLING) return -1;
  return (pieceOn(p, moveTo(move)) & 7) - 1;
}

/** Takes or promotes. */
@inline
export function isNoisy(p: usize, move: i32): bool {
  return taken(p, move) >= 0 || moveKind(move) == PROMOTION;
}

/** Whether a legal move gives check; of castling it says no, which happens to be nearly always right. */
export function givesCheck(p: usize, move: i32): bool {
  const us = side(p);
  const from = moveFrom(move);
  const to = moveTo(move);
  const kind = moveKind(move);
  if (kind == CASTLING) return false;
  const king = kingSquare(p, us ^ 1);
  const role = kind == PROMOTION ? movePromotion(move) : (pieceOn(p, from) & 7) - 1;
  let occ = (occupied(p) ^ bit(from)) | bit(to);
  if (kind == EN_PASSANT) occ ^= bit(to ^ 8);
  if (role == PAWN && pawnAttacks(us, to) & bit(king)) return true;
  if (role == KNIGHT && knightAttacks(to) & bit(king)) return true;
  // Sliders: the man that moved, and those that it uncovered.
  const own = colorSet(p, us) & ~bit(from);
  const queens = roleSet(p, QUEEN);
  let diagonal = (roleSet(p, BISHOP) | queens) & own;
  let straight = (roleSet(p, ROOK) | queens) & own;
  if (role == BISHOP || role == QUEEN) diagonal |= bit(to);
  if (role == ROOK || role == QUEEN) straight |= bit(to);
  return (bishopAttacks(king, occ) & diagonal) != 0 || (rookAttacks(king, occ) & straight) != 0;
}

/** piece << 6 | target */
@inline
export function movedBy(p: usize, move: i32): i32 {
  return (pieceOn(p, moveFrom(move)) << 6) | moveTo(move);
}

/** How well a quiet move did here and after the moves before it. */
@inline
export function quietHistory(frame: usize, move: i32, moved: i32): i32 {
  return (
    mainHistory(side(frame), move) +
    continuationHistory(movedPiece(earlier(frame, 1)), moved) +
    continuationHistory(movedPiece(earlier(frame, 2)), moved) +
    continuationHistory(movedPiece(earlier(frame, 4)), moved) / 2
  );
}

/** Gives every move of the list its place. */
export function scoreMoves(frame: usize, count: i32, first: i32): void {
  const list = moveList(frame);
  const scores = moveScores(frame);
  for (let i = 0; i < count; i++) {
    const move = <i32>load<u16>(list + (i << 1));
    let score: i32;
    if (move == first) score = FIRST;
    else {
      const role = taken(frame, move);
      const moved = movedBy(frame, move);
      if (role >= 0) score = GOOD_CAPTURE + victimValue(role) * 24 + captureHistory(moved, role);
      else if (moveKind(move) == PROMOTION) score = 0;
      else if (isKiller(frame, move)) score = KILLER;
      else score = quietHistory(frame, move, moved);
      if (moveKind(move) == PROMOTION) score = movePromotion(move) == QUEEN ? max(score, GOOD_CAPTURE) + 20000 : BAD_CAPTURE;
    }
    store<i32>(scores + (i << 2), score);
  }
}

/** Brings the best of the moves from `i` on to place `i` and returns it. Captures that lose material go to the end. */
export function pickMove(frame: usize, i: i32, count: i32): i32 {
  const list = moveList(frame);
  const scores = moveScores(frame);
  while (true) {
    let best = i;
    let bestScore = load<i32>(scores + (i << 2));
    for (let j = i + 1; j < count; j++) {
      const score = load<i32>(scores + (j << 2));
      if (score > bestScore) {
        bestScore = score;
        best = j;
      }
    }
    const move = <i32>load<u16>(list + (best << 1));
    if (bestScore >= GOOD_CAPTURE - LIMIT && bestScore < FIRST && !seeAtLeast(frame, move, -20)) {
      store<i32>(scores + (best << 2), BAD_CAPTURE + (bestScore - GOOD_CAPTURE));
      continue;
    }
    if (best != i) {
      store<u16>(list + (best << 1), load<u16>(list + (i << 1)));
      store<i32>(scores + (best << 2), load<i32>(scores + (i << 2)));
      store<u16>(list + (i << 1), move);
      store<i32>(scores + (i << 2), bestScore);
    }
    return move;
  }
}

@inline
function learnQuiet(frame: usize, move: i32, bonus: i32): void {
  const moved = movedBy(frame, move);
  learnMain(side(frame), move, bonus);
  learnContinuation(movedPiece(earlier(frame, 1)), moved, bonus);
  learnContinuation(movedPiece(earlier(frame, 2)), moved, bonus);
  learnContinuation(movedPiece(earlier(frame, 4)), moved, bonus);
}

/** After a cutoff: the best move gains, those tried before it lose. */
export function learnFromCutoff(frame: usize, best: i32, depth: i32, quiets: usize, quietCount: i32, captures: usize, captureCount: i32): void {
  const bonus = min(1800, 180 * depth - 80);
  const malus = -min(1600, 200 * depth - 60);
  const role = taken(frame, best);
  if (role >= 0 || moveKind(best) == PROMOTION) learnCapture(movedBy(frame, best), max(role, 0), bonus);
  else {
    learnQuiet(frame, best, bonus);
    for (let i = 0; i < quietCount; i++) learnQuiet(frame, load<u16>(quiets + (i << 1)), malus);
  }
  for (let i = 0; i < captureCount; i++) {
    const move = <i32>load<u16>(captures + (i << 1));
    learnCapture(movedBy(frame, move), max(taken(frame, move), 0), malus);
  }
}
