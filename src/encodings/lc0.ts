import { assert } from "#base";
import { type Color, core, opposite, type Position, parseFen, ROLES, type Square, START_FEN } from "#chess";

/** Planes of a position with its history, as networks of lc0 see it. */
export const LC0_PLANES = 112;
const HISTORY = 8;
const PER_POSITION = 13;
const start = parseFen(START_FEN);

/**
 * Leela's classical input: for each of the last 8 positions, newest first, own P N B R Q K, theirs, and whether the
 * position had occurred before; then own long and short castling, theirs, whether Black moves, plies since the last
 * capture or pawn move (the number itself), zeros, ones. All as the side to move now sees it, ranks turned for Black.
 * What came before the first known position is left empty if that is the start of a game; otherwise the first one is
 * repeated, with a pawn that may be taken en passant put back. (lc0's encoder.cc, history filled for FENs only.)
 */
export function encodeLc0Planes(position: Position, out: Float32Array): void {
  const line = position.clone();
  out.fill(0);
  let first = false; // nothing is known before this position
  for (let i = 0; i < HISTORY; i++) {
    const at = i * PER_POSITION * 64;
    putMen(line, position.turn, first ? position.passedAtStart : undefined, out.subarray(at, at + 12 * 64));
    if (line.repetitions() >= 1) out.fill(1, at + 12 * 64, at + 13 * 64);
    first ||= line.undo() === undefined;
    if (first && line.key === start.key) break;
  }
  const aux = HISTORY * PER_POSITION * 64;
  const plane = (index: number, value: number) => out.fill(value, aux + index * 64, aux + (index + 1) * 64);
  const own = position.castlingRooks(position.turn);
  const theirs = position.castlingRooks(opposite(position.turn));
  if (own.long !== undefined) plane(0, 1);
  if (own.short !== undefined) plane(1, 1);
  if (theirs.long !== undefined) plane(2, 1);
  if (theirs.short !== undefined) plane(3, 1);
  if (position.turn === "black") plane(4, 1);
  plane(5, position.halfmoves);
  plane(7, 1);
}

/** Twelve planes of pieces; the pawn that has just passed `passed` is shown on the square it came from. */
function putMen(line: Position, viewer: Color, passed: Square | undefined, out: Float32Array): void {
  const turn = viewer === "white" ? 0 : 56;
  for (const { square, role, color } of line.pieces()) {
    const justMoved = passed !== undefined && square === (passed ^ 8) && role === "pawn";
    const shown = justMoved ? passed ^ 8 ^ 16 : square;
    out[(ROLES.indexOf(role) + (color === viewer ? 0 : 6)) * 64 + (shown ^ turn)] = 1;
  }
}

/** The same of many positions at once, inside the core's memory: the fast way. */
export class Lc0Batch {
  private readonly positions: number;
  private readonly known: number; // three bytes each: how many boards there are, which are repetitions, what a pawn had passed
  private readonly out: number;

  constructor(readonly capacity: number) {
    this.positions = core.allocate(capacity * HISTORY * core.POSITION_BYTES);
    this.known = core.allocate(capacity * 3);
    this.out = core.allocate(capacity * LC0_PLANES * 64 * 4);
  }

  /** A view of [positions, LC0_PLANES, 64] numbers that the next call overwrites; copy it, or use it at once. */
  encode(positions: readonly Position[]): Float32Array {
    const count = positions.length;
    assert(count <= this.capacity, `${count} positions in a batch of ${this.capacity}`);
    for (const [index, position] of positions.entries()) this.put(index, position);
    core.wasm.encodeLc0History(this.positions, this.known, count, start.key, this.out);
    return new Float32Array(core.bytes.buffer, this.out, count * LC0_PLANES * 64);
  }

  private put(index: number, position: Position): void {
    const row = this.positions + index * HISTORY * core.POSITION_BYTES;
    let boards = 0;
    let repeated = 0;
    for (; boards < HISTORY; boards++) {
      const state = position.bytes(boards);
      if (state === undefined) break;
      core.bytes.set(state, row + boards * core.POSITION_BYTES);
      if (position.repetitions(boards) >= 1) repeated |= 1 << boards;
    }
    core.bytes.set([boards, repeated, position.passedAtStart ?? core.NO_SQUARE], this.known + 3 * index);
  }
}
