import type { Move, Position } from "#chess";
import type { Limits } from "./limits.js";

/** How a question can be steered while it is answered. */
export interface Asking<R> {
  /** When it fires, the answer comes at once with the best found so far; nothing is rejected. */
  signal?: AbortSignal;
  /** Given: the time limits count only from the moment it fires. Until then the search runs on the opponent's time. */
  ponderHit?: AbortSignal;
  /** Hears of every step on the way. */
  onReport?: (report: R) => void;
}

/** One line of play, best first. */
export interface SearchLine {
  /** Centipawns for the side to move; a mate in n plies is 32000 - n, being mated in n is n - 32000. */
  scoreCp: number;
  wdl?: readonly [win: number, draw: number, loss: number]; // probabilities for the side to move, where the search has them
  depth: number;
  selDepth: number;
  visits?: number; // of the line's first move
  pv: readonly Move[]; // at least one
}

/** What a search knows of one move at the root. */
export interface RootMove {
  move: Move;
  share?: number; // of the policy
  visits?: number;
  value?: number; // -1 to 1, for the mover
}

/** A move that was thought of, and what it was taken to be worth to whoever makes it. */
export interface ThoughtMove {
  move: Move;
  value: number; // win minus loss, -1 to 1
  draw: number; // 0 to 1
  wrongTokens: number; // of the board after it, that the network would have written otherwise
}

/** What a search knows after an iteration, and at its end. */
export interface SearchReport {
  lines: readonly SearchLine[]; // best first; the move is the first one's first
  depth: number; // of the last whole iteration
  nodes: number;
  timeMs: number;
  hashFull: number; // thousandths
  moves?: readonly RootMove[]; // where the search keeps statistics of all moves
  thoughts?: readonly (readonly ThoughtMove[])[]; // the variations a network thought of, in their order
}

/** A search of one position at a time. */
export interface Search {
  /** Finds the best lines of a position that has a legal move. The position is read before the call returns. */
  search(position: Position, limits: Limits, asking?: Asking<SearchReport>): Promise<SearchReport>;
  /** Forgets what it learned from earlier positions. */
  clear(): Promise<void>;
  /** Ends a running search too. */
  close(): Promise<void>;
}
