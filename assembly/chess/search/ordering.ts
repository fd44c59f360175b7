// In which order moves are searched: the table's move, good captures, the killers, quiet moves by their history, bad
// captures. Each kind is generated and scored only when the search comes to it. `startPicking` begins, `nextMove`
// goes on until it returns 0; the state stands in the frame:
//
//   0 i32 stage   4 i32 the table's move   8 u32 x 3 the next scored move, the end of them, the end of the bad captures
//  20 i32 centipawns that a good capture wins at least   24 i32 stage after the table's move   28 i32 stage after good captures
//
// A scored move is 32 bits, the score above the move, so that one comparison orders both.
import { bishopAttacks, bit, FILE_A, FILE_H, kingAttacks, knightAttacks, rookAttacks } from "../rules/attacks";
import { givesCheck } from "./checks";
import { placeGain } from "./evaluate";
import {
  attackedByEnemy, earlier, isKiller, killer, moveList, movedPiece, pawnRow, pickerState, scoredMoves, setPawnRow, threats,
} from "./frame";
import {
  captureHistory, continuationHistory, continuationRow, historyIn, learnCapture, learnContinuation, learnIn, learnMain,
  mainHistory, pawnHistoryRow,
} from "./history-tables";
import { generate, generateNoisy, generateQuiet, isLegal } from "../rules/movegen";
import {
  BISHOP, CASTLING, colorSet, EN_PASSANT, KING, KNIGHT, kingSquare, moveFrom, moveKind, movePromotion, moveTo, occupied, PAWN,
  PROMOTION, pieceOn, QUEEN, ROOK, roleSet, side, WHITE,
} from "../rules/position";
import { seeAtLeast } from "./see";

// Stages
const TABLE: i32 = 0;
const FIND_CAPTURES: i32 = 1;
const GOOD_CAPTURES: i32 = 2;
const FIRST_KILLER: i32 = 3;
const SECOND_KILLER: i32 = 4;
const FIND_QUIETS: i32 = 5;
const QUIETS: i32 = 6;
const BAD_CAPTURES: i32 = 7;
const FIND_EVASIONS: i32 = 8;
const EVERYTHING: i32 = 9; // in check and at the root all moves are scored at once
const OVER: i32 = 10;

/** What good captures of `startPicking` win at least: a bishop for a knight is no loss. */
export const GOOD: i32 = -20;

const CAPTURE_FIRST: i32 = 18000; // scores are 16 bits
const KILLER: i32 = 16000;
const LAST: i32 = -32000;

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

/** piece << 6 | target */
@inline
export function movedBy(p: usize, move: i32): i32 {
  return (pieceOn(p, moveFrom(move)) << 6) | moveTo(move);
}

/** How well a quiet move did here, with these pawns, and after the moves before it; `findThreats` has looked at the position. */
@inline
export function quietHistory(frame: usize, move: i32, moved: i32): i32 {
  return (
    mainHistory(side(frame), move, attackedByEnemy(frame)) +
    historyIn(pawnRow(frame), moved) / 2 +
    continuationHistory(movedPiece(earlier(frame, 1)), moved) +
    continuationHistory(movedPiece(earlier(frame, 2)), moved) +
    continuationHistory(movedPiece(earlier(frame, 4)), moved) / 2
  );
}

@inline
function captureScore(frame: usize, move: i32): i32 {
  const role = max(taken(frame, move), 0);
  const score = victimValue(role) * 8 + captureHistory(movedBy(frame, move), role) / 4;
  if (moveKind(move) != PROMOTION) return score;
  return movePromotion(move) == QUEEN ? score + 3000 : LAST;
}

/** Finds the squares the enemy attacks and the histories that go with the pawns: what quiet moves are judged by. */
export function findThreats(p: usize): void {
  const them = side(p) ^ 1;
  const enemy = colorSet(p, them);
  const all = occupied(p);
  const at = threats(p);
  const pawns = roleSet(p, PAWN) & enemy;
  let attacked =
    them == WHITE ? ((pawns & ~FILE_A) << 7) | ((pawns & ~FILE_H) << 9) : ((pawns & ~FILE_A) >> 9) | ((pawns & ~FILE_H) >> 7);
  store<u64>(at, attacked);
  let knights = roleSet(p, KNIGHT) & enemy;
  for (; knights; knights &= knights - 1) attacked |= knightAttacks(<i32>ctz(knights));
  let bishops = roleSet(p, BISHOP) & enemy;
  for (; bishops; bishops &= bishops - 1) attacked |= bishopAttacks(<i32>ctz(bishops), all);
  store<u64>(at, attacked, 8);
  let rooks = roleSet(p, ROOK) & enemy;
  for (; rooks; rooks &= rooks - 1) attacked |= rookAttacks(<i32>ctz(rooks), all);
  store<u64>(at, attacked, 16);
  let queens = roleSet(p, QUEEN) & enemy;
  for (; queens; queens &= queens - 1) {
    const square = <i32>ctz(queens);
    attacked |= bishopAttacks(square, all) | rookAttacks(square, all);
  }
  store<u64>(at, attacked | kingAttacks(kingSquare(p, them)), 24);
  setPawnRow(p, pawnHistoryRow(p));
}

// What `quietScore` looks at, found once for a list of moves: what the enemy attacks with pawns, with minor pieces too, with
// rooks too, with anything; and the histories with the pawns and after the last moves.
let byPawns: u64 = 0;
let byMinors: u64 = 0;
let byRooks: u64 = 0;
let byAny: u64 = 0;
let withPawns: usize = 0;
let afterOne: usize = 0;
let afterTwo: usize = 0;
let afterFour: usize = 0;

function startScoring(p: usize): void {
  withPawns = pawnRow(p);
  afterOne = continuationRow(movedPiece(earlier(p, 1)));
  afterTwo = continuationRow(movedPiece(earlier(p, 2)));
  afterFour = continuationRow(movedPiece(earlier(p, 4)));
  const at = threats(p);
  byPawns = load<u64>(at);
  byMinors = load<u64>(at, 8);
  byRooks = load<u64>(at, 16);
  byAny = load<u64>(at, 24);
}

/** A quiet move by its history, whether it checks, flees from a lesser piece or walks into one, and where it puts its man. */
@inline
function quietScore(frame: usize, move: i32): i32 {
  const from = moveFrom(move);
  const to = moveTo(move);
  const moved = movedBy(frame, move);
  const history =
    mainHistory(side(frame), move, byAny) + historyIn(withPawns, moved) / 2 + historyIn(afterOne, moved) +
    historyIn(afterTwo, moved) + historyIn(afterFour, moved) / 2;
  let score = history / 8;
  if (moveKind(move) == CASTLING) return score;
  const role = (moved >> 6 & 7) - 1;
  score += 2 * placeGain(role, side(frame), from, to);
  if (givesCheck(frame, move) && seeAtLeast(frame, move, -75)) score += 2300;
  if (role == PAWN || role == KING) return score;
  const dangers = role == QUEEN ? byRooks : role == ROOK ? byMinors : byPawns;
  const worth = role == QUEEN ? 7000 : role == ROOK ? 3600 : 2000;
  if (dangers & bit(from)) score += worth;
  if (dangers & bit(to)) score -= worth;
  return score;
}

@inline
function put(at: usize, score: i32, move: i32): void {
  store<i32>(at, (score << 16) | move);
}

/** Scores the `count` moves of the list behind `at`, except the table's; returns their end. */
function scoreCaptures(frame: usize, at: usize, count: i32, first: i32): usize {
  const list = moveList(frame);
  for (let i = 0; i < count; i++) {
    const move = <i32>load<u16>(list + (i << 1));
    if (move == first) continue;
    put(at, captureScore(frame, move), move);
    at += 4;
  }
  return at;
}

function scoreQuiets(frame: usize, at: usize, count: i32, first: i32): usize {
  const list = moveList(frame);
  startScoring(frame);
  for (let i = 0; i < count; i++) {
    const move = <i32>load<u16>(list + (i << 1));
    if (move == first || isKiller(frame, move)) continue;
    put(at, quietScore(frame, move), move);
    at += 4;
  }
  return at;
}

function scoreAll(frame: usize, at: usize, count: i32, first: i32): usize {
  const list = moveList(frame);
  startScoring(frame);
  for (let i = 0; i < count; i++) {
    const move = <i32>load<u16>(list + (i << 1));
    if (move == first) continue;
    let score: i32;
    if (isNoisy(frame, move)) {
      score = captureScore(frame, move);
      if (score != LAST) score = max(score, -4000) + (seeAtLeast(frame, move, GOOD) ? CAPTURE_FIRST : -CAPTURE_FIRST);
    } else score = isKiller(frame, move) ? KILLER : quietScore(frame, move);
    put(at, score, move);
    at += 4;
  }
  return at;
}

function start(frame: usize, first: i32, stage: i32, afterCaptures: i32, threshold: i32): void {
  const state = pickerState(frame);
  const scored = <u32>scoredMoves(frame);
  store<i32>(state, first ? TABLE : stage);
  store<i32>(state, first, 4);
  store<u32>(state, scored, 8);
  store<u32>(state, scored, 12);
  store<u32>(state, scored, 16);
  store<i32>(state, threshold, 20);
  store<i32>(state, stage, 24);
  store<i32>(state, afterCaptures, 28);
}

/** All legal moves. `first`, the table's move, must be legal, or 0. */
@inline
export function startPicking(frame: usize, first: i32, inCheck: bool): void {
  start(frame, first, inCheck ? FIND_EVASIONS : FIND_CAPTURES, FIRST_KILLER, GOOD);
}

/** Captures and promotions that win at least `threshold` centipawns; `first` is one of them, or 0. */
@inline
export function startPickingCaptures(frame: usize, first: i32, threshold: i32): void {
  start(frame, first, FIND_CAPTURES, OVER, threshold);
}

/** The moves that stand in the frame's list. */
export function startPickingListed(frame: usize, count: i32, first: i32): void {
  start(frame, first, EVERYTHING, OVER, 0);
  store<u32>(pickerState(frame), <u32>scoreAll(frame, scoredMoves(frame), count, first), 12);
}

/** Takes the best of the moves between the picker's two ends. */
function takeBest(state: usize): i32 {
  const from = <usize>load<u32>(state, 8);
  const end = <usize>load<u32>(state, 12);
  v128.store(end, i32x4.splat(i32.MIN_VALUE)); // four at a time: none behind the end wins
  let tops = v128.load(from);
  for (let at = from + 16; at < end; at += 16) tops = i32x4.max_s(tops, v128.load(at));
  tops = i32x4.max_s(tops, v128.shuffle<i32>(tops, tops, 2, 3, 0, 1));
  tops = i32x4.max_s(tops, v128.shuffle<i32>(tops, tops, 1, 0, 3, 2));
  const best = i32x4.extract_lane(tops, 0);
  let place = from;
  let found = i32x4.bitmask(i32x4.eq(v128.load(place), tops));
  while (!found) {
    place += 16;
    found = i32x4.bitmask(i32x4.eq(v128.load(place), tops));
  }
  place += ctz(found) << 2; // no two are equal, for each ends in its move
  store<i32>(place, load<i32>(from));
  store<u32>(state, <u32>(from + 4), 8);
  return best;
}

/** The next move, or 0. With `skipQuiets`, of the quiet moves only those that give check (`findChecks` must have looked). */
export function nextMove(frame: usize, skipQuiets: bool): i32 {
  const state = pickerState(frame);
  while (true) {
    const left = load<u32>(state, 8) < load<u32>(state, 12);
    switch (load<i32>(state)) {
      case TABLE:
        store<i32>(state, load<i32>(state, 24));
        return load<i32>(state, 4);
      case FIND_CAPTURES: {
        const end = scoreCaptures(frame, scoredMoves(frame), generateNoisy(frame, moveList(frame)), load<i32>(state, 4));
        store<u32>(state, <u32>end, 12);
        store<i32>(state, GOOD_CAPTURES);
        break;
      }
      case GOOD_CAPTURES: {
        if (!left) {
          store<i32>(state, load<i32>(state, 28));
          break;
        }
        const best = takeBest(state);
        if (best >> 16 != LAST && seeAtLeast(frame, best & 0xffff, load<i32>(state, 20))) return best & 0xffff;
        const bad = <usize>load<u32>(state, 16);
        store<i32>(bad, best);
        store<u32>(state, <u32>(bad + 4), 16);
        break;
      }
      case FIRST_KILLER:
      case SECOND_KILLER: {
        const stage = load<i32>(state);
        store<i32>(state, stage + 1);
        const move = killer(frame, stage - FIRST_KILLER);
        if (!move || move == load<i32>(state, 4) || isNoisy(frame, move) || !isLegal(frame, move, moveList(frame))) break;
        if (!skipQuiets || givesCheck(frame, move)) return move;
        break;
      }
      case FIND_QUIETS: {
        const at = <usize>load<u32>(state, 16);
        store<u32>(state, <u32>at, 8);
        store<u32>(state, <u32>scoreQuiets(frame, at, generateQuiet(frame, moveList(frame)), load<i32>(state, 4)), 12);
        store<i32>(state, QUIETS);
        break;
      }
      case QUIETS:
        if (!left) {
          store<u32>(state, <u32>scoredMoves(frame), 8);
          store<u32>(state, load<u32>(state, 16), 12);
          store<i32>(state, BAD_CAPTURES);
        } else if (skipQuiets) {
          const at = <usize>load<u32>(state, 8);
          store<u32>(state, <u32>(at + 4), 8);
          const move = load<i32>(at) & 0xffff;
          if (givesCheck(frame, move)) return move;
        } else return takeBest(state) & 0xffff;
        break;
      case BAD_CAPTURES: {
        if (!left) return 0;
        const at = <usize>load<u32>(state, 8);
        store<u32>(state, <u32>(at + 4), 8);
        return load<i32>(at) & 0xffff;
      }
      case FIND_EVASIONS: {
        const end = scoreAll(frame, scoredMoves(frame), generate(frame, moveList(frame)), load<i32>(state, 4));
        store<u32>(state, <u32>end, 12);
        store<i32>(state, EVERYTHING);
        break;
      }
      case EVERYTHING:
        return left ? takeBest(state) & 0xffff : 0;
      default:
        return 0;
    }
  }
}

/** Whether the move just picked is a capture that wins at least what was asked. */
@inline
export function isGoodCapture(frame: usize): bool {
  return load<i32>(pickerState(frame)) == GOOD_CAPTURES;
}

/** A quiet move did well, or badly; `findThreats` has looked at the position. */
export function learnQuiet(frame: usize, move: i32, bonus: i32): void {
  const moved = movedBy(frame, move);
  learnMain(side(frame), move, attackedByEnemy(frame), bonus);
  learnIn(pawnRow(frame), moved, bonus);
  learnAfter(frame, moved, bonus);
}

/** The same, but only for the moves before it. */
export function learnAfter(frame: usize, moved: i32, bonus: i32): void {
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
