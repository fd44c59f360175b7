import { type Color, core, type Piece, type Position, ROLES, type Square } from "#chess";

/** Inputs of a side in the encoding HalfKP. */
export const HALFKP_INPUTS = 41024;
const PER_KING = 641; // 10 kinds of pieces on 64 squares, and one input that is never used
const most = 32;

let out: number | undefined;

/**
 * Writes the inputs that are on for one colour, ascending, and returns how many. An input names the colour's king square,
 * and a piece with its square: 1 + square + 64 * (2 * role + (not own)) + 641 * king, squares turned half around (xor 63)
 * for Black. Kings do not count. As in Stockfish 12.
 */
export function encodeHalfKp(position: Position, color: Color, indices: Uint16Array | Int32Array): number {
  out ??= core.allocate(most * 2);
  position.enter();
  const count = core.wasm.encodeHalfKpFor(core.POSITION, color === "white" ? 0 : 1, out);
  indices.set(new Uint16Array(core.bytes.buffer, out, count));
  return count;
}

/** What one input means: where the colour's king stands, and which piece stands where. */
export function decodeHalfKp(index: number, color: Color): { king: Square; piece: Piece; square: Square } | undefined {
  const flip = color === "white" ? 0 : 63;
  const king = Math.floor(index / PER_KING);
  const man = (index % PER_KING) - 1;
  if (index < 0 || index >= HALFKP_INPUTS || man < 0) return undefined;
  const own = ((man >> 6) & 1) === 0;
  const other: Color = color === "white" ? "black" : "white";
  return { king: king ^ flip, piece: { color: own ? color : other, role: ROLES[man >> 7] }, square: (man & 63) ^ flip };
}
