import { Random } from "#base";
import type { Color } from "#chess";
import { NO_EVAL } from "#formats";

/** Which positions of a game to keep. */
export interface PositionFilter {
  value: "eval" | "result"; // what a position is worth: its evaluation, or how the game ended
  policy: "played" | "best"; // "best" keeps a position only if the move played in it was the best, by the evaluations
  needsEvalAfter: boolean; // whether a record holds the value of its move
  fromPly: number; // plies of each game that are left out
  perGame?: number; // at most so many, drawn at random
}

/** Centipawns a best move may seem to lose: evaluations before and after a move come from different searches. */
const BEST_MARGIN = 20;

/** Why positions are left out, as the keys of counts. */
export const POSITION_REASONS = [
  "no eval",
  "no eval after the move",
  "not the best move",
  "the opponent's move",
  "last position",
  "opening",
  "sampled out",
  "not in this format",
  "duplicate",
] as const;
export type PositionReason = (typeof POSITION_REASONS)[number];
const [NONE, NONE_AFTER, NOT_BEST, OPPONENT, LAST, OPENING, SAMPLED] = POSITION_REASONS.keys();

/** A game whose positions are chosen from. */
export interface ChosenGame {
  evals: Int16Array; // of each position, in White's view
  plies: number;
  whiteBegins: boolean;
  seed: number; // of what is drawn at random
  mover: Color | undefined; // only positions in which this side moves
}

/**
 * Marks the positions of a game to keep: `keep` has a byte for each position from the start on. `skipped` counts what is
 * left out, in the order of POSITION_REASONS. Returns how many are kept. The last position of a game is never kept, for no
 * move was played in it.
 */
export function selectPositions(
  { evals, plies, whiteBegins, seed, mover }: ChosenGame,
  filter: PositionFilter,
  keep: Uint8Array,
  skipped: Uint32Array,
): number {
  const { value, policy, needsEvalAfter, fromPly, perGame } = filter;
  let kept = 0;
  for (let ply = 0; ply < plies; ply++) {
    let reason = -1;
    const turn = ((ply & 1) === 0) === whiteBegins ? "white" : "black";
    if (ply < fromPly) reason = OPENING;
    else if (mover !== undefined && turn !== mover) reason = OPPONENT;
    else if (value === "eval" && evals[ply] === NO_EVAL) reason = NONE;
    else if (value === "eval" && needsEvalAfter && evals[ply + 1] === NO_EVAL) reason = NONE_AFTER;
    else if (policy === "best") {
      const gain = (evals[ply + 1] - evals[ply]) * (turn === "white" ? 1 : -1);
      if (evals[ply] === NO_EVAL) reason = NONE;
      else if (evals[ply + 1] === NO_EVAL) reason = NONE_AFTER;
      else if (gain < -BEST_MARGIN) reason = NOT_BEST;
    }
    keep[ply] = reason < 0 ? 1 : 0;
    if (reason < 0) kept++;
    else skipped[reason]++;
  }
  if (value === "result" || evals[plies] !== NO_EVAL) skipped[LAST]++;
  else skipped[NONE]++;
  if (perGame !== undefined && kept > perGame) {
    skipped[SAMPLED] += kept - perGame;
    sample(keep, plies, kept, perGame, new Random(seed));
    kept = perGame;
  }
  return kept;
}

/** Leaves `wanted` of the `marked` marks, each with the same probability. */
function sample(keep: Uint8Array, plies: number, marked: number, wanted: number, random: Random): void {
  for (let ply = 0, left = marked, open = wanted; ply < plies; ply++) {
    if (keep[ply] === 0) continue;
    if (random.next() * left < open) open--;
    else keep[ply] = 0;
    left--;
  }
}

/** A hash over the moves of a game, so that the same game always falls on the same side. */
export function hashGame(moves: Uint16Array, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < moves.length; i++) hash = Math.imul(hash ^ moves[i], 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x21f0aaad);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x735a2d97);
  return (hash ^ (hash >>> 15)) >>> 0;
}
