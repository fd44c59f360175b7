// What a page and the worker that trains in it say to each other: plain data.
import type { MatchState } from "#arena";
import type { Inspection, JudgedPosition } from "#data";
import type { MetricsLine, StepReport } from "#training";

/** What to train, in the page's own words. */
export interface TrainPlan {
  address: string; // of the games
  player: string; // whose moves are learnt; "" for everybody's
  start: string; // a shipped family whose weights to begin with; "" for a new tiny network
  steps: number;
  value: "eval" | "result"; // what a position is worth: its [%eval] comment, or how the game ended
  threads: number; // 0: one per core
}

/** A network as it stood after an epoch, or where the training was stopped. */
export interface TrainedNetwork {
  epoch: number;
  step: number;
  bytes: Uint8Array<ArrayBuffer>; // a .safetensors file
}

export type ToTrainer =
  | { type: "look"; address: string }
  | { type: "train"; plan: TrainPlan; resume: boolean }
  | { type: "stop" }
  | { type: "match"; network: Uint8Array; games: number }; // against random moves

export type FromTrainer =
  | { type: "looked"; games: Inspection }
  | { type: "note"; text: string }
  | { type: "begun"; positions: number; unseen: number } // to learn from, and to judge by
  | { type: "step"; report: StepReport }
  | { type: "metrics"; lines: MetricsLine[]; isResumed: boolean } // isResumed: all of them, earlier ones count no more
  | { type: "network"; network: TrainedNetwork; boards: JudgedPosition[] } // with unseen positions, the worst first
  | { type: "ended"; isWhole: boolean } // false: it was stopped, and can be resumed
  | { type: "matched"; state: MatchState; isOver: boolean }
  | { type: "failed"; message: string };
