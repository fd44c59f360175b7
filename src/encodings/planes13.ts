import { UserError } from "#base";
import type { Position } from "#chess";
import { batchOf } from "./batch.js";
import { formatPlacement } from "./placement.js";

const LETTERS = "PNBRQKpnbrqk";
const META = 12 * 64;

/**
 * Writes 13 planes: white P N B R Q K, black P N B R Q K, and one of facts. Its rows, rank 1 first: the rights K, Q, k, q,
 * the side to move (1 for White), the en-passant file as one 1, and two rows of zeros. Seen from White, whoever moves.
 */
export function encodePlanes13(position: Position, out: Float32Array): void {
  out.set(batchOf(position).planes("planes13", 1));
}

/** The FEN of the planes, for standard chess; the clocks are not in them and come out fresh. */
export function decodePlanes13(planes: ArrayLike<number>): string {
  const board = formatPlacement((square) => {
    const found = [...LETTERS].filter((_, plane) => planes[plane * 64 + square] === 1);
    if (found.length > 1) throw new UserError("PLANES13", `planes13: ${found.join(" and ")} stand on one square.`);
    return found[0];
  });
  const row = (n: number) => planes[META + n * 8];
  const castling = [..."KQkq"].filter((_, right) => row(right) === 1).join("");
  const white = row(4) === 1;
  const file = Array.from({ length: 8 }, (_, i) => planes[META + 40 + i]).indexOf(1);
  const ep = file < 0 ? "-" : `${"abcdefgh"[file]}${white ? 6 : 3}`;
  return `${board} ${white ? "w" : "b"} ${castling || "-"} ${ep} 0 1`;
}
