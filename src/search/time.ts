import type { Color } from "#chess";
import type { Limits } from "./limits.js";

/** How long to think: no new iteration after `softMs`, stretched or shortened a little as the search goes; an end at `hardMs`. */
export interface ThinkingTime {
  softMs?: number;
  hardMs?: number;
}

const MOVE_OVERHEAD_MS = 5; // at most, of a fixed time for the move: nothing is lost for the rest of a game

/** What the limits leave `turn` to think, from the moment the clock runs; undefined where nothing limits it. */
export function thinkingTime(
  turn: Color,
  { clock, moveTimeMs, deadlineMs, overheadMs = 0 }: Pick<Limits, "clock" | "moveTimeMs" | "deadlineMs" | "overheadMs">,
): ThinkingTime {
  const time: ThinkingTime = {};
  if (clock) {
    const [leftMs, incrementMs] =
      turn === "white" ? [clock.whiteMs, clock.whiteIncrementMs] : [clock.blackMs, clock.blackIncrementMs];
    Object.assign(time, allotTime({ leftMs, incrementMs, movesToGo: clock.movesToGo, overheadMs }));
  }
  const endMs = (limitMs: number | undefined) =>
    limitMs === undefined ? Infinity : Math.max(1, limitMs - Math.min(overheadMs, MOVE_OVERHEAD_MS));
  const hardMs = Math.min(time.hardMs ?? Infinity, endMs(moveTimeMs), endMs(deadlineMs));
  return hardMs === Infinity ? time : { ...time, hardMs };
}

/** What the own clock shows. */
export interface OwnClock {
  leftMs: number;
  incrementMs: number;
  movesToGo?: number; // until the next time control
  overheadMs: number; // lost between our answer and the clock, each move
}

/** How long to think: `softMs` is the usual time, `hardMs` what is never exceeded. */
export function allotTime({ leftMs, incrementMs, movesToGo, overheadMs }: OwnClock): Required<ThinkingTime> {
  const left = Math.max(1, leftMs - overheadMs);
  const moves = Math.min(movesToGo ?? 20, 40);
  // What the next moves gain and lose on their way is part of the account: an increment smaller than the overhead is a loss.
  const gains = 0.9 * incrementMs - overheadMs;
  const share = Math.max(0, (movesToGo === undefined ? left : 0.95 * left) / moves + gains);
  const most = movesToGo === 1 ? 0.9 * left : 0.55 * left;
  const hardMs = Math.max(1, Math.min(most, share * 4.5));
  return { softMs: Math.max(1, Math.min(share, hardMs)), hardMs };
}

/**
 * How much of the soft time an iteration may use up, as a factor: less the longer the best move has stood and the larger
 * its share of the nodes, more when the score falls.
 */
export function stretch(stableIterations: number, bestMoveShare: number, scoreDropCp: number): number {
  const steady = 1.25 - 0.06 * Math.min(stableIterations, 8);
  const effort = 1.7 - 1.05 * bestMoveShare;
  const falling = 1 + Math.min(0.6, Math.max(0, scoreDropCp) / 120);
  return steady * effort * falling;
}
