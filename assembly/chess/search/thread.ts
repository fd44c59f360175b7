// What one thread of the search has for itself, and how it is told to stop. Every thread is an instance of this module:
// globals are its own, the transposition table, the network and the control block are everybody's.
//
// Control block: 0 i32 1 = stop     4 i32 milliseconds after the start when the first thread stops all, 0 never
//                8 f64 start, milliseconds since 1970
//               16 u64 x threads: nodes searched by each
import { evaluationStart } from "./evaluate";
import { FRAMES_BYTES, framesStart, MAX_PLY } from "./frame";
import { HISTORY_BYTES, historyClear, historyStart } from "./history-tables";
import { nnueBytes, nnueStart } from "../nnue/network";
import { tableStart } from "./transposition";

@external("env", "now")
declare function now(): f64;

const KEYS_BYTES: i32 = 2048 + (MAX_PLY + 2) * 8; // up to 256 of the game, then one for each ply
export const ROOT_MOVE_BYTES: i32 = 288;
const ROOT_BYTES: i32 = 256 * ROOT_MOVE_BYTES;

let control: usize = 0;
let threadIndex: i32 = 0;
let nodeLimit: u64 = 0;
export let nodes: u64 = 0;
export let stopped: bool = false;
export let keys: usize = 0;
export let rootMoves: usize = 0;

/** Bytes a thread needs with this network (0: none). */
export function threadBytes(network: usize): i32 {
  return FRAMES_BYTES + HISTORY_BYTES + KEYS_BYTES + ROOT_BYTES + 256 + (network ? nnueBytes(network, MAX_PLY + 2) : 0);
}

/** Gives a thread its memory. `table` is common to all, and so is the control block. `alone`: there is no other thread. */
export function threadStart(index: i32, alone: bool, memoryAt: usize, network: usize, table: usize, tableBytes: u32, controlAt: usize): void {
  threadIndex = index;
  control = controlAt;
  framesStart(memoryAt);
  let at = memoryAt + FRAMES_BYTES;
  historyStart(at);
  at += HISTORY_BYTES;
  keys = at;
  at += KEYS_BYTES;
  rootMoves = at;
  at = (at + ROOT_BYTES + 63) & ~63;
  if (network) nnueStart(network, at, MAX_PLY + 2);
  evaluationStart(network != 0);
  tableStart(table, tableBytes, alone);
  historyClear();
}

/** A slice of work begins: at most so many nodes more. */
export function resume(limit: u64): void {
  nodeLimit = nodes + limit;
  stopped = false;
}

export function resetNodes(): void {
  nodes = 0;
  stopped = false;
}

@inline
export function countNode(): void {
  nodes++;
  if (nodes >= nodeLimit) stopped = true;
  if (!(nodes & 511)) look();
}

/** Looks at the clock and at the control block. */
function look(): void {
  store<u64>(control + (threadIndex << 3), nodes, 16);
  if (load<i32>(control)) {
    stopped = true;
    return;
  }
  if (threadIndex != 0 || nodes & 1023) return;
  const limit = load<i32>(control, 4);
  if (limit && now() - load<f64>(control, 8) >= <f64>limit) {
    store<i32>(control, 1);
    stopped = true;
  }
}

/** At the end of an iteration: everybody may read the count. */
export function publishNodes(): void {
  store<u64>(control + (threadIndex << 3), nodes, 16);
}
