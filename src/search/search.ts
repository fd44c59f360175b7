import type { Move, Position } from "#chess";

/** What ends a search; several together end it at the first one reached, none lets it run until `stop`. */
export interface SearchLimits {
  depth?: number; // plies
  nodes?: number; // positions, over all threads
  mate?: number; // a mate in so many moves
  softMs?: number; // no new iteration after it; may be stretched or shortened a little as the search goes
  hardMs?: number; // the search ends at once
  multiPv?: number; // how many best lines to find; 1 if not said
  moves?: readonly Move[]; // only these at the root
  noise?: { cp: number; seed: number }; // evaluations are wrong by up to so many centipawns: a weaker player
}

/** One line of play, best first. */
export interface SearchLine {
  /** Centipawns for the side to move; a mate in n plies is 32000 - n, being mated in n is n - 32000. */
  scoreCp: number;
  depth: number;
  selDepth: number;
  pv: readonly Move[]; // at least one
}

/** What a search knows after an iteration. */
export interface SearchReport {
  lines: readonly SearchLine[];
  depth: number; // of the last whole iteration
  nodes: number;
  timeMs: number;
  hashFull: number; // thousandths
}

/** From here on a score is a mate. */
export const MATE_FOUND_CP = 31_744;

/** A search of one position at a time. */
export interface Search {
  /**
   * Finds the best lines of a position that has a legal move; `onReport` hears of every iteration. `startMs` is when the
   * clock began to run, in milliseconds since 1970.
   */
  search(
    position: Position,
    limits: SearchLimits,
    onReport?: (report: SearchReport) => void,
    startMs?: number,
  ): Promise<SearchReport>;
  /** Ends the search soon, with what it has. */
  stop(): void;
  /** Gives a running search limits of time, counted from now: what `ponderhit` does. */
  limitTime(softMs: number | undefined, hardMs: number | undefined): void;
  /** Forgets what it learned from earlier positions. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
