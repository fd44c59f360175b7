import type { ContestGame } from "./pairing.js";

/** What a contest counts, game by game, and when it has seen enough: state without input or output. */
export interface Standings<State> {
  /** Games of the contest in all. */
  readonly total: number;
  /** Openings that they take. */
  readonly rounds: number;
  /** The games 0 .. total - 1, in the order in which they are begun. */
  game(index: number): ContestGame;
  /** Whether no further game is needed; it stays so. */
  readonly decided: boolean;
  /** Counts a finished game; `whitePoints` are 0, 0.5 or 1. */
  add(game: ContestGame, whitePoints: number): void;
  /** Where the contest stands: plain data. */
  state(): State;
}
