/** What the own clock shows. */
export interface OwnClock {
  leftMs: number;
  incrementMs: number;
  movesToGo?: number; // until the next time control
  overheadMs: number; // lost between our answer and the clock, each move
}

/** How long to think: `softMs` is the usual time, `hardMs` what is never exceeded. */
export function allotTime({ leftMs, incrementMs, movesToGo, overheadMs }: OwnClock): {
  softMs: number;
  hardMs: number;
} {
  const left = Math.max(1, leftMs - overheadMs);
  const moves = Math.min(movesToGo ?? 24, 40);
  // What the next moves gain and lose on their way is part of the account: an increment smaller than the overhead is a loss.
  const gains = 0.75 * incrementMs - overheadMs;
  const share = Math.max(0, (movesToGo === undefined ? left : 0.95 * left) / moves + gains);
  const most = movesToGo === 1 ? 0.9 * left : 0.55 * left;
  const hardMs = Math.max(1, Math.min(most, share * 4.5));
  return { softMs: Math.max(1, Math.min(share * 0.8, hardMs)), hardMs };
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
