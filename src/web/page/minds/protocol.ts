// What a page and the worker of one player say to each other: plain data, moves in UCI.
import type { Report } from "#engine";
import type { Limits } from "#search";

/** A position with the moves that led to it, as it travels. */
export interface Question {
  fen: string; // where the game began
  chess960: boolean;
  moves: readonly string[];
}

/** Limits without the moves of the root, and with the noise that makes a weaker player. */
export interface Wish extends Omit<Limits, "moves"> {
  noise?: { cp: number; seed: number };
}

/** A move with everything the player thought. */
export interface Thought extends Report {
  move: string;
}

export type ToMind =
  | { type: "open"; player: string }
  | { type: "newGame"; seed: number }
  | { type: "choose"; id: number; question: Question; wish: Wish }
  | { type: "stop"; id: number };

export type FromMind =
  | { type: "ready" } // messages sent to it before are lost: its modules wait for the chess core
  | { type: "opened" }
  | { type: "refused"; message: string }
  | { type: "report"; id: number; report: Report }
  | { type: "chosen"; id: number; thought: Thought }
  | { type: "failed"; id: number; message: string };
