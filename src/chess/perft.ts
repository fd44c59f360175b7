import { UserError } from "#base";
import { POSITION, SCRATCH, wasm } from "./core.js";
import type { Move } from "./move.js";
import type { Position } from "./position.js";

const MAXIMUM_DEPTH = 20; // far beyond any patience

/** The number of lines of `depth` legal moves: the usual check of a move generator. */
export function perft(position: Position, depth: number): number {
  if (!Number.isInteger(depth) || depth < 0 || depth > MAXIMUM_DEPTH) {
    throw new UserError("PERFT_DEPTH", `Perft depth is ${depth}, expected a whole number from 0 to ${MAXIMUM_DEPTH}.`);
  }
  position.enter();
  return Number(wasm.perft(POSITION, depth, SCRATCH));
}

/** Perft of `depth - 1` after each legal move. */
export function perftDivide(position: Position, depth: number): { move: Move; nodes: number }[] {
  return position.moves().map((move) => {
    const nodes = perft(position.play(move), depth - 1);
    position.undo();
    return { move, nodes };
  });
}
