// What the two sides of a search worker say to each other.
import type { SearchReport } from "../search.js";
import type { ThinkingTime } from "../time.js";

/** Limits as a thread needs them: times are set, moves stand in the job. */
export interface ThreadLimits extends ThinkingTime {
  depth?: number;
  nodes?: number; // over all threads
  mate?: number;
  multiPv?: number;
  noise?: { cp: number; seed: number };
}

/** Addresses in the memory of the module, common to all threads. */
export interface Layout {
  control: number;
  image: number; // 0: no network
  table: number;
  tableBytes: number;
  threads: number[]; // memory of each thread
}

/** A position to search, as the core wants it. */
export interface Job {
  position: Uint8Array; // the core's struct
  keys: bigint[]; // positions that can be repeated, oldest first
  moves: number[]; // at the root
  limits: ThreadLimits;
  startMs: number; // since 1970
  age: number; // of the table's entries
}

export type ToWorker =
  | { type: "create"; image: Uint8Array | undefined; hashBytes: number; threads: number; shared: boolean }
  | { type: "join"; memory: WebAssembly.Memory; layout: Layout; index: number }
  | { type: "go"; job: Job }
  | { type: "clear" }
  | { type: "evaluate"; job: Job }
  // Only without shared memory; else the control block is written directly.
  | { type: "stop" }
  | { type: "time"; softMs: number; hardMs: number };

export type FromWorker =
  | { type: "created"; memory: WebAssembly.Memory | undefined; layout: Layout }
  | { type: "joined" }
  | { type: "cleared" }
  | { type: "evaluated"; cp: number }
  | { type: "report"; report: SearchReport }
  | { type: "done"; report: SearchReport }
  | { type: "failed"; message: string };

// The control block, in numbers of 4 bytes: see assembly/chess/search/thread.ts. The soft time stands behind the node counts,
// for the driver alone reads it.
export const STOP = 0;
export const HARD_MS = 1;
export const NODES_AT = 16; // bytes
export const SOFT_MS_AT = (threads: number): number => NODES_AT / 4 + threads * 2;
export const controlBytes = (threads: number): number => NODES_AT + threads * 8 + 8;
