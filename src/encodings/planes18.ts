import type { Color, Position } from "#chess";
import { batchOf } from "./batch.js";
import { formatPlacement } from "./placement.js";

/**
 * Writes 18 planes as the side to move sees them, ranks turned for Black: own P N B R Q K, theirs, how often the position
 * occurred with this time (1/3, 2/3, 1 for three or more), the en-passant square, then whole planes for own short and
 * long, their short and long castling right. After OmegaZero.
 */
export function encodePlanes18(position: Position, out: Float32Array): void {
  out.set(batchOf(position, Math.min(position.repetitions(), 255)).planes("planes18", 1));
}

/** The FEN of the planes, which do not say whose move it is; clocks come out fresh. */
export function decodePlanes18(planes: ArrayLike<number>, turn: Color): string {
  const turned = turn === "white" ? 0 : 56;
  const letters = turn === "white" ? "PNBRQKpnbrqk" : "pnbrqkPNBRQK";
  const on = (plane: number, square: number) => planes[plane * 64 + square] === 1;
  const board = formatPlacement((square) => [...letters].find((_, plane) => on(plane, square ^ turned)));
  const rights = [14, 15, 16, 17].map((plane) => on(plane, 0));
  const [K, Q, k, q] = turn === "white" ? rights : [rights[2], rights[3], rights[0], rights[1]];
  const castling = (K ? "K" : "") + (Q ? "Q" : "") + (k ? "k" : "") + (q ? "q" : "");
  const ep = Array.from({ length: 64 }, (_, square) => square).find((square) => on(13, square ^ turned));
  const epName = ep === undefined ? "-" : "abcdefgh"[ep & 7] + (1 + (ep >> 3));
  return `${board} ${turn[0]} ${castling || "-"} ${epName} 0 1`;
}
