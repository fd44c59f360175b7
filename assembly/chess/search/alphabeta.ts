// Alpha-beta search: principal variation search with a transposition table, and the prunings and reductions known from
// strong open engines, each in its simplest form. One file, top to bottom: the root with its window, a node, the leaves.
// Scores are centipawns for the side to move; MATE_CP - n is a mate in n plies. Numbers without a comment were chosen by
// experience; none has been tuned or tested by matches yet (docs/log/alphabeta.md has what was measured).
import { findChecks, givesCheck } from "./checks";
import { evaluate, expectRoot } from "./evaluate";
import {
  addKiller, attackedByEnemy, checkersOf, clearKillers, clearPv, currentMove, cutoffs, bestLine, doubleExtensions, earlier,
  excludedMove, extendPv, frameAt, framesReset, isKiller, MAX_PLY, moveList, movedPiece, NONE, next, pliesFromNull, pvLength,
  reducedBy, setCheckers, setCutoffs, setDoubleExtensions, setExcluded, setMove, setPliesFromNull, setReducedBy, setStaticEval, staticEval,
  triedCaptures, triedQuiets,
} from "./frame";
import { captureHistory, correction, learnCorrection, learnMain } from "./history-tables";
import { generate, isLegal } from "../rules/movegen";
import { nnuePush } from "../nnue/network";
import {
  findThreats, GOOD, isGoodCapture, isNoisy, learnAfter, learnFromCutoff, learnQuiet, movedBy, nextMove, quietHistory, startPicking, startPickingCaptures,
  startPickingListed, taken, victimValue,
} from "./ordering";
import {
  checkers, colorSet, copyPosition, isInsufficient, key, KING, moveKind, movePromotion, PAWN, PROMOTION, play,
  playNull, QUEEN, roleSet, rule50, side,
} from "../rules/position";
import { HIGHEST_CP, MATE_CP } from "../rules/score";
import { seeAtLeast } from "./see";
import { countNode, keys, nodes, publishNodes, ROOT_MOVE_BYTES, resetNodes, rootMoves, stopped } from "./thread";
import {
  EXACT, entryBound, entryDepth, entryEval, entryMove, entryPv, entryScore, LOWER, NO_BOUND, probe, remember, UPPER,
} from "./transposition";

const INFINITE: i32 = MATE_CP + 1;
const MATE_FOUND: i32 = HIGHEST_CP + 1; // from here on a score is a mate
const UNIT: i32 = 1024; // reductions are counted in parts of a ply

const REDUCTIONS: usize = memory.data(64 * 64 * 4, 64); // [depth][number of the move]

let network: bool = false;
let keyCount: i32 = 0; // positions of the game before the root
let rootCount: i32 = 0;
let firstRoot: i32 = 0; // root moves before it belong to better lines (MultiPV)
let rootDepth: i32 = 0;
let selDepth: i32 = 0;
let nullFrom: i32 = 0; // no null move before this ply: a null move is being verified

// Root moves, 288 bytes each: 0 u16 move, 4 i32 score, 8 i32 score of the last iteration, 12 i32 average, 16 i32 selective depth,
// 20 i32 length of the line, 24 u64 nodes, 32 u16 x 128 the line.

@inline
function rootAt(i: i32): usize {
  return rootMoves + i * ROOT_MOVE_BYTES;
}

/** Where the root moves are, for the driver. */
export function rootTable(): usize {
  return rootMoves;
}

/** Where the keys of the game's earlier positions go, oldest first, at most 256. */
export function gameKeys(): usize {
  return keys;
}

export function selectiveDepth(): i32 {
  return selDepth;
}

export function nodesSearched(): u64 {
  return nodes;
}

/** Sets the root: a position, how many earlier positions of the game stand at `gameKeys`, and its moves at `list`. */
export function setRoot(position: usize, earlierPositions: i32, list: usize, count: i32, withNetwork: bool): void {
  network = withNetwork;
  framesReset(position);
  keyCount = earlierPositions;
  rootCount = count;
  nullFrom = 0;
  resetNodes();
  if (network) nnuePush(0, frameAt(0));
  expectRoot(frameAt(0));
  for (let i = 0; i < count; i++) {
    const root = rootAt(i);
    memory.fill(root, 0, ROOT_MOVE_BYTES);
    store<u16>(root, load<u16>(list + (i << 1)));
    store<i32>(root, -INFINITE, 4);
    store<i32>(root, -INFINITE, 8);
    store<i32>(root, -INFINITE, 12);
    store<i32>(root, 1, 20);
    store<u16>(root, load<u16>(list + (i << 1)), 32);
  }
  if (load<i32>(REDUCTIONS + 4104) != 0) return;
  for (let depth = 1; depth < 64; depth++) {
    for (let number = 1; number < 64; number++) {
      const plies = 0.55 + (Math.log(depth) * Math.log(number)) / 2.1;
      store<i32>(REDUCTIONS + (((depth << 6) | number) << 2), <i32>(plies * UNIT));
    }
  }
}

/** The static evaluation of the root, which is not in check. */
export function rootEvaluation(): i32 {
  return evaluate(frameAt(0), 0);
}

/** A new iteration: this one's scores are the last one's from now on. */
export function beginIteration(): void {
  for (let i = 0; i < rootCount; i++) store<i32>(rootAt(i), load<i32>(rootAt(i), 4), 8);
}

/** Sorts the root moves from `first` on by score, equal ones by their last score, else as they were. */
function sortRoots(first: i32, last: i32): void {
  const kept = rootAt(rootCount);
  for (let i = first + 1; i < last; i++) {
    const score = load<i32>(rootAt(i), 4);
    const before = load<i32>(rootAt(i), 8);
    let j = i;
    while (j > first) {
      const other = load<i32>(rootAt(j - 1), 4);
      if (other > score || (other == score && load<i32>(rootAt(j - 1), 8) >= before)) break;
      j--;
    }
    if (j == i) continue;
    memory.copy(kept, rootAt(i), ROOT_MOVE_BYTES);
    memory.copy(rootAt(j + 1), rootAt(j), (i - j) * ROOT_MOVE_BYTES);
    memory.copy(rootAt(j), kept, ROOT_MOVE_BYTES);
  }
}

/** Searches the best line among the root moves from `first` on; false if it was stopped before the end. */
export function searchLine(depth: i32, first: i32): bool {
  firstRoot = first;
  rootDepth = depth;
  selDepth = 0;
  // Aspiration window: around the average of the last scores, widened whenever the score falls outside
  const average = load<i32>(rootAt(first), 12);
  let window = 14 + abs(average) / 40;
  let alpha = -INFINITE;
  let beta = INFINITE;
  if (depth >= 4 && average != -INFINITE) {
    alpha = max(average - window, -INFINITE);
    beta = min(average + window, INFINITE);
  }
  let failedHigh = 0;
  while (true) {
    const score = search(0, max(1, depth - failedHigh), alpha, beta, false);
    sortRoots(first, rootCount);
    if (stopped) break;
    if (score <= alpha) {
      beta = (alpha + beta) / 2;
      alpha = max(score - window, -INFINITE);
      failedHigh = 0;
    } else if (score >= beta) {
      beta = min(score + window, INFINITE);
      if (failedHigh < 3) failedHigh++;
    } else break;
    window += window / 2;
    if (window > 800) {
      alpha = -INFINITE;
      beta = INFINITE;
    }
  }
  sortRoots(0, first + 1);
  publishNodes();
  return !stopped;
}

/** Mate scores count from the root in the search, from the position in the table. */
@inline
function toTable(score: i32, ply: i32): i32 {
  return score >= MATE_FOUND ? score + ply : score <= -MATE_FOUND ? score - ply : score;
}

@inline
function fromTable(score: i32, ply: i32): i32 {
  return score >= MATE_FOUND ? score - ply : score <= -MATE_FOUND ? score + ply : score;
}

/** Nearly nothing, and not always the same: a search that sees only draws still looks around. */
@inline
function drawScore(): i32 {
  return 1 - <i32>(nodes & 2);
}

function isDraw(frame: usize, ply: i32): bool {
  const clock = rule50(frame);
  if (clock >= 100) return !checkersOf(frame) || generate(frame, moveList(frame)) > 0;
  const reach = min(clock, min(pliesFromNull(frame), keyCount + ply));
  const here = keys + ((keyCount + ply) << 3);
  const itsKey = key(frame);
  let seen = 0;
  for (let back = 4; back <= reach; back += 2) {
    if (load<u64>(here - (back << 3)) != itsKey) continue;
    // Once since the root is enough; before the root it must have stood twice.
    if (back < ply || ++seen == 2) return true;
  }
  return isInsufficient(frame);
}

@inline
function hasPieces(p: usize): bool {
  return ((roleSet(p, PAWN) | roleSet(p, KING)) & colorSet(p, side(p))) != colorSet(p, side(p));
}

/** Plays the move into the next frame. `check`: it may give check. */
@inline
function make(frame: usize, ply: i32, move: i32, moved: i32, check: bool): usize {
  const child = next(frame);
  setMove(frame, move, moved);
  copyPosition(child, frame);
  play(child, move);
  setCheckers(child, check ? checkers(child) : 0);
  setPliesFromNull(child, pliesFromNull(frame) + 1);
  store<u64>(keys + ((keyCount + ply + 1) << 3), key(child));
  if (network) nnuePush(ply + 1, child);
  countNode();
  return child;
}

/** One node. `cut`: it is expected to fail high. */
function search(ply: i32, depth: i32, alpha: i32, beta: i32, cut: bool): i32 {
  if (depth <= 0) return quiescence(ply, alpha, beta);
  if (stopped) return 0;
  const frame = frameAt(ply);
  const root = ply == 0;
  const pv = beta - alpha > 1;
  const inCheck = checkersOf(frame) != 0;
  if (root) store<u64>(keys + (keyCount << 3), key(frame));
  if (pv) {
    clearPv(frame);
    selDepth = max(selDepth, ply);
  }
  if (!root) {
    if (isDraw(frame, ply)) return drawScore();
    if (ply >= MAX_PLY - 1) return inCheck ? 0 : evaluate(frame, ply);
    // Mate distance pruning: nothing can be better than to mate at once, nor worse than to be mated now.
    alpha = max(alpha, -MATE_CP + ply);
    beta = min(beta, MATE_CP - ply - 1);
    if (alpha >= beta) return alpha;
  }
  clearKillers(frameAt(ply + 2));
  setCutoffs(frameAt(ply + 2), 0);
  setDoubleExtensions(frame, root ? 0 : doubleExtensions(earlier(frame, 1)));

  const parent = earlier(frame, 1);
  const lastMove = movedPiece(parent);
  const moveBefore = movedPiece(earlier(frame, 2));
  const reducedHere = root ? 0 : reducedBy(parent);
  setReducedBy(parent, 0);
  const lastWasQuiet = !root && currentMove(parent) != 0 && !isNoisy(parent, currentMove(parent));

  // Transposition table: what is known of the position, and a cutoff if that is enough
  const excluded = excludedMove(frame);
  const hash = key(frame);
  const known = excluded ? 0 : probe(hash);
  const knownBound = known ? entryBound(known) : NO_BOUND;
  const knownScore = known ? fromTable(entryScore(known), ply) : 0;
  const knownDepth = known ? entryDepth(known) : 0;
  let first = root ? <i32>load<u16>(rootAt(firstRoot)) : known ? entryMove(known) : 0;
  const onPv = pv || (known != 0 && entryPv(known));
  if (!pv && known && knownDepth >= depth && knownBound & (knownScore >= beta ? LOWER : UPPER) && rule50(frame) < 90) {
    if (first && knownScore >= beta && !isNoisy(frame, first) && isLegal(frame, first, moveList(frame))) {
      findThreats(frame);
      learnFromCutoff(frame, first, depth, 0, 0, 0, 0);
    }
    return knownScore;
  }
  if (first && !root && !isLegal(frame, first, moveList(frame))) first = 0;

  // Static evaluation, with what the correction history knows of positions like this one
  let raw = NONE;
  let eval = NONE;
  let improving = false;
  if (!inCheck) {
    if (excluded) {
      eval = staticEval(frame);
      raw = eval;
    } else {
      const correct = correction(frame, lastMove, moveBefore); // first: while its memory comes, the network works
      raw = known && entryEval(known) != NONE ? entryEval(known) : evaluate(frame, ply);
      eval = max(-MATE_FOUND + 1, min(MATE_FOUND - 1, raw + correct));
      setStaticEval(frame, eval);
      if (!known) remember(hash, 0, 0, raw, 0, NO_BOUND, onPv);
    }
    const before = staticEval(earlier(frame, 2));
    improving = eval > (before != NONE ? before : staticEval(earlier(frame, 4)));
    if (known && knownBound & (knownScore > eval ? LOWER : UPPER) && abs(knownScore) < MATE_FOUND) eval = knownScore;
  } else setStaticEval(frame, NONE);
  const standing = staticEval(frame);
  const standingBefore = staticEval(parent);

  if (!inCheck && !excluded && standingBefore != NONE) {
    // The last move is judged by what it did to the evaluation, whatever the search finds.
    if (lastWasQuiet) {
      const gain = max(-60, min(45, -(standing + standingBefore))) + 8;
      learnMain(side(parent), currentMove(parent), attackedByEnemy(parent), 20 * gain);
    }
    // A reduction is taken back where it was too good to be true, and goes on where the last move lost ground.
    if (reducedHere >= 3 && standing <= -standingBefore) depth++;
    else if (reducedHere >= 2 && depth >= 2 && standing + standingBefore > 60) depth--;
  }

  // A position so good or so bad that no move need be tried
  if (!pv && !inCheck && !excluded) {
    // Razoring: far below alpha, captures alone must bring it back.
    if (depth <= 4 && eval + 220 * depth + 60 < alpha) {
      const score = quiescence(ply, alpha, alpha + 1);
      if (score <= alpha || stopped) return score;
    }
    // Reverse futility pruning (static null move): far above beta, it will stay there.
    if (depth <= 9 && eval < MATE_FOUND && eval - 72 * (depth - (improving ? 1 : 0)) >= beta && beta > -MATE_FOUND) {
      return (eval + beta) / 2;
    }
    // What the table knows is not deep enough, but far above beta.
    if (known && knownBound & LOWER && knownDepth >= depth - 4 && knownScore >= beta + 130 && abs(beta) < MATE_FOUND && abs(knownScore) < MATE_FOUND) {
      return beta + 130;
    }
    // Null move pruning: above beta even if the other side moves twice; verified where the search is deep (zugzwang).
    if (
      eval >= beta && standing >= beta + 150 - 16 * depth && currentMove(earlier(frame, 1)) != 0 && ply >= nullFrom &&
      hasPieces(frame) && beta > -MATE_FOUND && depth >= 2
    ) {
      const reduction = 4 + depth / 3 + min((eval - beta) / 160, 3);
      const child = next(frame);
      setMove(frame, 0, 0);
      copyPosition(child, frame);
      playNull(child);
      setCheckers(child, 0);
      setPliesFromNull(child, 0);
      store<u64>(keys + ((keyCount + ply + 1) << 3), key(child));
      if (network) nnuePush(ply + 1, child);
      countNode();
      let score = -search(ply + 1, depth - reduction, -beta, -beta + 1, !cut);
      if (stopped) return 0;
      if (score >= beta) {
        if (score >= MATE_FOUND) score = beta;
        if (nullFrom || depth < 14) return score;
        nullFrom = ply + (3 * (depth - reduction)) / 4;
        const verified = search(ply, depth - reduction, beta - 1, beta, false);
        nullFrom = 0;
        if (verified >= beta) return score;
      }
    }
    // ProbCut: a capture that beats beta by far in a shallow search would beat it in a deep one.
    const high = beta + 170 - (improving ? 50 : 0);
    if (depth >= 5 && abs(beta) < MATE_FOUND && !(known && knownDepth >= depth - 3 && knownScore < high)) {
      const wins = high - standing;
      startPickingCaptures(frame, first && isNoisy(frame, first) && seeAtLeast(frame, first, wins) ? first : 0, wins);
      for (let move = nextMove(frame, false); move; move = nextMove(frame, false)) {
        make(frame, ply, move, movedBy(frame, move), true);
        let score = -quiescence(ply + 1, -high, -high + 1);
        if (score >= high) score = -search(ply + 1, depth - 4, -high, -high + 1, !cut);
        if (stopped) return 0;
        if (score >= high) {
          remember(hash, move, toTable(score, ply), raw, depth - 3, LOWER, onPv);
          return score;
        }
      }
    }
  }
  // Internal iterative reduction: without a move of the table the order is poor; a later iteration will have one.
  if (depth >= 4 && !first && (pv || cut) && !excluded) depth--;

  // Singular extension: is the table's move the only good one? If even without it beta is reached, multi-cut; if it is not
  // singular but promises a cutoff, a negative extension.
  let firstExtension = 0;
  if (
    !root && depth >= 7 - (onPv ? 1 : 0) && first && !excluded && knownBound & LOWER && knownDepth >= depth - 3 &&
    abs(knownScore) < MATE_FOUND && ply < rootDepth * 2
  ) {
    const below = knownScore - 2 * depth;
    setExcluded(frame, first);
    const score = search(ply, (depth - 1) / 2, below - 1, below, cut);
    setExcluded(frame, 0);
    if (stopped) return 0;
    if (score < below) {
      firstExtension = 1;
      if (!pv && score < below - 18 && doubleExtensions(frame) < 6) firstExtension = 2;
    } else if (below >= beta) return below;
    else if (knownScore >= beta) firstExtension = -2;
    else if (cut) firstExtension = -1;
  }

  findChecks(frame);
  findThreats(frame);
  if (root) {
    const count = rootCount - firstRoot;
    const list = moveList(frame);
    for (let i = 0; i < count; i++) store<u16>(list + (i << 1), load<u16>(rootAt(firstRoot + i)));
    startPickingListed(frame, count, first);
  } else startPicking(frame, first, inCheck);

  const quiets = triedQuiets(frame);
  const captures = triedCaptures(frame);
  const firstIsNoisy = first != 0 && isNoisy(frame, first);
  const pieces = hasPieces(frame);
  const startAlpha = alpha;
  let quietCount = 0;
  let captureCount = 0;
  let best = -INFINITE;
  let bestMove = 0;
  let number = 0;
  let skipQuiets = false;
  while (true) {
    const move = nextMove(frame, skipQuiets);
    if (!move) break;
    if (move == excluded) continue;
    const role = taken(frame, move);
    const noisy = role >= 0 || moveKind(move) == PROMOTION;
    const check = givesCheck(frame, move);
    if (skipQuiets && !noisy && !check) continue;
    const moved = movedBy(frame, move);
    const history = noisy ? captureHistory(moved, max(role, 0)) : quietHistory(frame, move, moved);
    number++;

    let reduction = load<i32>(REDUCTIONS + (((min(depth, 63) << 6) | min(number, 63)) << 2));
    if (!root && best > -MATE_FOUND && pieces) {
      if (!noisy && !check) {
        // Late move pruning (move count)
        if (number >= (4 + depth * depth) / (improving ? 1 : 2)) skipQuiets = true;
        const left = max(0, depth - 1 - (reduction - history / 10) / UNIT);
        // History pruning
        if (left < 6 && history < -3200 * depth) continue;
        // Futility pruning
        if (!inCheck && left < 9 && standing + 110 + 95 * left + history / 128 <= alpha) {
          skipQuiets = true;
          continue;
        }
        // SEE pruning of quiet moves, and below of captures and checks
        if (!seeAtLeast(frame, move, -24 * left * left)) continue;
      } else if (depth < 9) {
        const least = -95 * depth - history / 48;
        if (!(least <= GOOD && isGoodCapture(frame)) && !seeAtLeast(frame, move, least)) continue;
      }
    }

    let extension = 0;
    if (move == first) extension = firstExtension;
    const nodesBefore = nodes;
    const child = make(frame, ply, move, moved, check);
    if (stopped) return 0;
    if (extension == 2) setDoubleExtensions(frame, doubleExtensions(frame) + 1);
    const ahead = depth - 1 + extension;

    // Late move reductions (LMR): a shallower search with a null window first, a deeper one if it surprises
    let score = 0;
    if (depth >= 2 && number > 1 + (root ? 1 : 0) && (!noisy || cut || !pv)) {
      if (cut) reduction += 2 * UNIT - (onPv ? UNIT / 2 : 0);
      if (onPv) reduction -= UNIT + (pv ? UNIT / 2 : 0);
      if (!improving && !inCheck) reduction += UNIT / 2;
      if (firstIsNoisy && !noisy) reduction += UNIT;
      if (check) reduction -= UNIT;
      if (cutoffs(child) > 3) reduction += UNIT;
      if (noisy) reduction -= UNIT + history / 10;
      else {
        if (isKiller(frame, move)) reduction -= UNIT;
        reduction -= history / 9;
      }
      const reduced = max(1, min(ahead, ahead - reduction / UNIT));
      setReducedBy(frame, ahead - reduced);
      score = -search(ply + 1, reduced, -alpha - 1, -alpha, true);
      setReducedBy(frame, 0);
      if (score > alpha && reduced < ahead) {
        const deeper = ahead + (score > best + 45 ? 1 : 0) - (score < best + 8 ? 1 : 0);
        if (deeper > reduced) score = -search(ply + 1, deeper, -alpha - 1, -alpha, !cut);
        if (!noisy && !stopped) {
          if (score <= alpha) learnAfter(frame, moved, -min(1200, 120 * depth));
          else if (score >= beta) learnAfter(frame, moved, min(1200, 120 * depth));
        }
      }
    } else if (!pv || number > 1) score = -search(ply + 1, ahead, -alpha - 1, -alpha, !cut);
    // Principal variation search: the full window only for the first move, and for one that beats it
    if (pv && (number == 1 || score > alpha)) score = -search(ply + 1, ahead, -beta, -alpha, false);
    if (extension == 2) setDoubleExtensions(frame, doubleExtensions(frame) - 1);
    if (stopped) return 0;
    if (root) noteRoot(move, score, alpha, number, nodes - nodesBefore);

    if (score > best) {
      best = score;
      if (score > alpha) {
        bestMove = move;
        if (pv) extendPv(frame, move);
        if (score >= beta) {
          setCutoffs(frame, cutoffs(frame) + 1);
          if (!noisy) addKiller(frame, move);
          learnFromCutoff(frame, move, depth + (best > beta + 70 ? 1 : 0), quiets, quietCount, captures, captureCount);
          break;
        }
        alpha = score;
      }
    }
    if (move != bestMove) {
      if (noisy) {
        if (captureCount < 32) store<u16>(captures + (captureCount++ << 1), move);
      } else if (quietCount < 64) store<u16>(quiets + (quietCount++ << 1), move);
    }
  }

  if (number == 0) return excluded ? alpha : inCheck ? -MATE_CP + ply : 0;
  // Far above beta is hardly more certain than above it.
  if (best >= beta && abs(best) < MATE_FOUND && abs(beta) < MATE_FOUND) best = (best * depth + beta) / (depth + 1);
  if (!excluded) {
    const bound = best >= beta ? LOWER : pv && bestMove ? EXACT : UPPER;
    if (!(root && firstRoot > 0)) remember(hash, bestMove, toTable(best, ply), raw, depth, bound, onPv);
    if (
      !inCheck && !(bestMove && isNoisy(frame, bestMove)) && !(bound == LOWER && best <= standing) && !(bound == UPPER && best >= standing)
    ) {
      learnCorrection(frame, lastMove, moveBefore, best - standing, depth);
    }
    // Nothing was good enough here: the move that led here was a good one.
    if (best <= startAlpha && lastWasQuiet) learnQuiet(parent, currentMove(parent), min(1100, 110 * depth));
  }
  return best;
}

/** Writes down what a root move turned out to be worth. */
function noteRoot(move: i32, score: i32, alpha: i32, number: i32, spent: u64): void {
  let i = firstRoot;
  while (load<u16>(rootAt(i)) != move) i++;
  const root = rootAt(i);
  store<u64>(root, load<u64>(root, 24) + spent, 24);
  if (number > 1 && score <= alpha) {
    store<i32>(root, -INFINITE, 4); // at most as good as the best: how bad nobody knows
    return;
  }
  const average = load<i32>(root, 12);
  store<i32>(root, score, 4);
  store<i32>(root, average == -INFINITE ? score : (average + score) / 2, 12);
  store<i32>(root, selDepth, 16);
  const child = frameAt(1);
  const length = min(pvLength(child), 127);
  store<i32>(root, length + 1, 20);
  store<u16>(root, move, 32);
  memory.copy(root + 34, bestLine(child), length << 1);
}

/** Quiescence search, the leaves: only captures and promotions, or all answers to a check, until the position is quiet. */
function quiescence(ply: i32, alpha: i32, beta: i32): i32 {
  if (stopped) return 0;
  const frame = frameAt(ply);
  const pv = beta - alpha > 1;
  const inCheck = checkersOf(frame) != 0;
  if (pv) {
    clearPv(frame);
    selDepth = max(selDepth, ply);
  }
  if (isDraw(frame, ply)) return drawScore();
  if (ply >= MAX_PLY - 1) return inCheck ? 0 : evaluate(frame, ply);

  const hash = key(frame);
  const known = probe(hash);
  const knownScore = known ? fromTable(entryScore(known), ply) : 0;
  const onPv = pv || (known != 0 && entryPv(known));
  if (!pv && known && entryBound(known) & (knownScore >= beta ? LOWER : UPPER)) return knownScore;

  let raw = NONE;
  let best = -INFINITE;
  let hope = -INFINITE;
  if (!inCheck) {
    const correct = correction(frame, movedPiece(earlier(frame, 1)), movedPiece(earlier(frame, 2)));
    raw = known && entryEval(known) != NONE ? entryEval(known) : evaluate(frame, ply);
    best = max(-MATE_FOUND + 1, min(MATE_FOUND - 1, raw + correct));
    setStaticEval(frame, best);
    if (known && entryBound(known) & (knownScore > best ? LOWER : UPPER) && abs(knownScore) < MATE_FOUND) best = knownScore;
    if (best >= beta) {
      if (abs(best) < MATE_FOUND && abs(beta) < MATE_FOUND) best = (best + beta) / 2;
      if (!known) remember(hash, 0, toTable(best, ply), raw, 0, LOWER, onPv);
      return best;
    }
    // Stand pat, and the margin of delta pruning
    alpha = max(alpha, best);
    hope = best + 180;
  } else setStaticEval(frame, NONE);

  let first = known ? entryMove(known) : 0;
  if (first && !((inCheck || isNoisy(frame, first)) && isLegal(frame, first, moveList(frame)))) first = 0;
  if (inCheck) {
    findChecks(frame);
    findThreats(frame);
    startPicking(frame, first, true);
  } else startPickingCaptures(frame, first, -INFINITE); // whether they lose is asked below, of those that matter
  let bestMove = 0;
  let quietEvasions = 0;
  for (let move = nextMove(frame, false); move; move = nextMove(frame, false)) {
    if (best > -MATE_FOUND) {
      if (!inCheck) {
        if (moveKind(move) == PROMOTION) {
          if (movePromotion(move) != QUEEN) continue;
        } else {
          // Delta pruning: not even the captured piece brings it to alpha.
          const gain = hope + victimValue(max(taken(frame, move), 0));
          if (gain <= alpha) {
            best = max(best, gain);
            continue;
          }
        }
        if (!seeAtLeast(frame, move, hope <= alpha ? 1 : GOOD)) continue;
      } else if (!isNoisy(frame, move)) {
        if (++quietEvasions > 2) continue;
      } else if (!seeAtLeast(frame, move, -80)) continue;
    }
    make(frame, ply, move, movedBy(frame, move), true);
    const score = -quiescence(ply + 1, -beta, -alpha);
    if (stopped) return 0;
    if (score > best) {
      best = score;
      if (score > alpha) {
        bestMove = move;
        if (pv) extendPv(frame, move);
        if (score >= beta) break;
        alpha = score;
      }
    }
  }
  if (best == -INFINITE) return -MATE_CP + ply; // in check and without a move
  remember(hash, bestMove, toTable(best, ply), raw, 0, best >= beta ? LOWER : UPPER, onPv);
  return best;
}
