import type { Move } from "#chess";

/** What the clocks of both sides show. */
export interface Clock {
  whiteMs: number;
  blackMs: number;
  whiteIncrementMs: number;
  blackIncrementMs: number;
  movesToGo?: number; // until the next time control, if there is one
}

/** What ends a search; several together end it at the first one reached, none lets it run until told to stop. */
export interface Limits {
  nodes?: number; // positions, over all threads
  depth?: number; // plies
  mate?: number; // a mate in so many moves was found
  moveTimeMs?: number;
  clock?: Clock;
  overheadMs?: number; // lost between our answer and the clock, each move; 0 by default
  deadlineMs?: number; // an answer later than this does not count, whatever the other limits say
  multiPv?: number; // how many best lines to find; 1 by default
  moves?: readonly Move[]; // only these at the root
}

/** Whether nothing ends a search but a signal. */
export const isEndless = ({ nodes, depth, mate, moveTimeMs, clock, deadlineMs }: Limits): boolean =>
  !clock && [nodes, depth, mate, moveTimeMs, deadlineMs].every((limit) => limit === undefined);
