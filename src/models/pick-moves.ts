import { MOVE_TABLES } from "#encodings";
import { constant, type Tensor } from "#tensor";
import { LOGITS_OF_1858 } from "./regroup-moves.js";

const { size } = MOVE_TABLES.moves4672;
const PLANES = size / 64;

/**
 * The logits of some moves of each position, straight from the squares: [8, 8, n, 73] and indices of the table [n, k]
 * -> [n, k]. A position has some thirty legal moves, and to put all 4672 logits into their order took longer than to
 * compute them. `n` must be a number.
 */
export function pickMoves(squares: Tensor, moves: Tensor, table: "moves4672" | "moves1858"): Tensor {
  const n = squares.dim(2) as number;
  // One of the 4672 is plane * 64 + square; its logit stands at (square * n + row) * 73 + plane.
  const named = table === "moves1858" ? LOGITS_OF_1858 : Array.from({ length: size }, (_, index) => index);
  const offsets = Int32Array.from(named, (index) => (index % 64) * n * PLANES + Math.floor(index / 64));
  const rows = Int32Array.from({ length: n }, (_, row) => row * PLANES);
  const indices = constant(offsets, [offsets.length], "int32")
    .gather(moves)
    .add(constant(rows, [n, 1], "int32"));
  return squares.reshape([-1]).gather(indices);
}
