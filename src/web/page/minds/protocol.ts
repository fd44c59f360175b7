// What a page and the worker of one player say to each other: plain data, moves in UCI.
import type { Report } from "#engine";
import type { Limits } from "#search";
import type { Description } from "./describe.js";
import type { Inspected, Inspection } from "./inspect.js";

/** A position with the moves that led to it, as it travels. */
export interface Question {
  fen: string; // where the game began
  chess960: boolean;
  moves: readonly string[];
}

/** Limits without the moves of the root. */
export type Wish = Omit<Limits, "moves">;

/** A move with everything the player thought. */
export interface Thought extends Report {
  move: string;
}

export type ToMind =
  | { type: "open"; player: string }
  | { type: "describe"; address: string }
  | { type: "newGame"; seed: number }
  | { type: "choose"; id: number; question: Question; wish: Wish }
  | { type: "inspect"; id: number; question: Question; inspection: Inspection }
  | { type: "stop"; id: number };

export type FromMind =
  | { type: "ready" } // messages sent to it before are lost: its modules wait for the chess core
  | { type: "opened" }
  | { type: "described"; description: Description }
  | { type: "refused"; message: string }
  | { type: "report"; id: number; report: Report }
  | { type: "chosen"; id: number; thought: Thought }
  | { type: "inspected"; id: number; inspected: Inspected }
  | { type: "failed"; id: number; message: string };
