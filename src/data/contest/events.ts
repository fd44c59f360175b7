import type { GameCountState, MatchState, TournamentState } from "#arena";
import type { FaultKind, Report } from "#engine";
import type { ContestSpec } from "./spec.js";

/** How a contest stands, by its kind. */
export type ContestState = MatchState | TournamentState | GameCountState;

/** A game of a contest by name. */
export interface GameLabel {
  index: number; // among all games of the contest, from 0
  round: number; // which opening, from 0
  white: string;
  black: string;
}

/** What happens in a contest, as plain data: enough to show live boards, tables and a log. */
export type ContestEvent =
  | { type: "start"; spec: ContestSpec; names: string[]; total: number; saved: number; state: ContestState }
  | { type: "note"; text: string } // a warning, in words
  | ({ type: "begin"; fen: string; chess960: boolean; moves: string[] } & GameLabel) // moves of the opening, in UCI
  | {
      type: "move";
      index: number; // of the game
      ply: number; // from 1, the opening counted
      move: string; // in UCI
      fen: string; // after it
      report?: Report; // what its player thought
      clockMs?: number; // the mover's, after the move
    }
  | ({ type: "game"; result: string; reason: string; plies: number } & GameLabel)
  | { type: "fault"; index: number; player: string; kind: FaultKind; message: string }
  | { type: "state"; played: number; total: number; secondsLeft: number; state: ContestState }; // after each game

/** Games that a player lost by its own fault, by kind. */
export interface FaultCount {
  player: string;
  kind: FaultKind;
  count: number;
}
