import { MOVE_LIST_BYTES, POSITION_BYTES } from "./layout";
import { generate } from "./movegen";
import { copyPosition, play } from "./position";

/** Scratch memory per ply: a position and a list of moves. */
export const PERFT_PLY_BYTES: i32 = POSITION_BYTES + MOVE_LIST_BYTES;

/** Number of lines of `depth` plies; `scratch` has room for PERFT_PLY_BYTES * depth. The last ply is generated, not played. */
export function perft(p: usize, depth: i32, scratch: usize): u64 {
  if (depth <= 0) return 1;
  const list = scratch + POSITION_BYTES;
  const count = generate(p, list);
  if (depth == 1) return count;
  let nodes: u64 = 0;
  for (let i = 0; i < count; i++) {
    copyPosition(scratch, p);
    play(scratch, load<u16>(list + (i << 1)));
    nodes += perft(scratch, depth - 1, scratch + PERFT_PLY_BYTES);
  }
  return nodes;
}
