import { UserError } from "#base";
import * as core from "./core.js";
import { POSITION, wasm } from "./core.js";
import {
  CHESS960_AT,
  EP_AT,
  FULLMOVES_AT,
  HALFMOVES_AT,
  KEY_AT,
  MAILBOX_AT,
  NO_SQUARE,
  POSITION_BYTES,
  RIGHTS_AT,
  ROOKS_AT,
  SIDE_AT,
} from "./layout.js";
import type { Move } from "./move.js";
import { COLORS, type Color, opposite, type Piece, ROLES } from "./piece.js";
import { formatSquare, type Square } from "./square.js";

/** Why a game ends by the rules, fifty moves and threefold repetition counted as ends. */
export interface Outcome {
  winner: Color | undefined; // undefined is a draw
  reason: "checkmate" | "stalemate" | "insufficient material" | "fifty moves" | "threefold repetition";
}

function haveSameKey(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = KEY_AT; i < KEY_AT + 8; i++) if (a[i] !== b[i]) return false;
  return true;
}

const SLAB = 32; // states; 5 KB live as long as any of them
let slab = new Uint8Array();

/** The position in the core's memory, in an array of its own. Memory for each alone would cost several times as much to get and to free. */
function copyState(memory: Uint8Array): Uint8Array {
  if (slab.length < POSITION_BYTES) slab = new Uint8Array(SLAB * POSITION_BYTES);
  const state = slab.subarray(0, POSITION_BYTES);
  slab = slab.subarray(POSITION_BYTES);
  state.set(memory.subarray(POSITION, POSITION + POSITION_BYTES));
  return state;
}

const WORTH = [0, 1, 3, 3, 5, 9, 0, 0]; // by role, in pawns

/** `Position.material()` of a struct of the core in memory. */
export function materialAt(bytes: Uint8Array, at: number): number {
  let sum = 0;
  for (let i = at + MAILBOX_AT; i < at + MAILBOX_AT + 64; i++) sum += WORTH[bytes[i] & 7];
  return sum;
}

/**
 * A position and the moves that led to it. `play` and `undo` change it in place; `clone` gives an independent copy
 * with the same history. Make one with `parseFen`.
 */
export class Position {
  /** The core's struct, copied into its memory for each question and out of it after each move. */
  private state: Uint8Array;
  private readonly before: Uint8Array[];
  private readonly played: Move[];

  /** `state` is a complete struct of the core; use `parseFen` for a position of your own. */
  constructor(
    state: Uint8Array,
    before: Uint8Array[] = [],
    played: Move[] = [],
    private readonly passed?: Square, // in the first position, if no capture there is legal
  ) {
    this.state = state;
    this.before = before;
    this.played = played;
  }

  get turn(): Color {
    return COLORS[this.state[SIDE_AT]];
  }

  /** Plies since the last capture or pawn move. */
  get halfmoves(): number {
    return this.state[HALFMOVES_AT] | (this.state[HALFMOVES_AT + 1] << 8);
  }

  /** The number of the move, from 1. */
  get fullmoves(): number {
    return this.state[FULLMOVES_AT] | (this.state[FULLMOVES_AT + 1] << 8);
  }

  /** Whether castling is spelled king takes rook. The rules are the same. */
  get chess960(): boolean {
    return this.state[CHESS960_AT] === 1;
  }

  /** The square on which a pawn can be taken en passant; only if such a capture is legal. */
  get epSquare(): Square | undefined {
    return this.state[EP_AT] === NO_SQUARE ? undefined : this.state[EP_AT];
  }

  /** The square a pawn had just passed when the first position was set up, as its FEN said, capture or not. */
  get passedAtStart(): Square | undefined {
    const ep = (this.before[0] ?? this.state)[EP_AT];
    return ep === NO_SQUARE ? this.passed : ep;
  }

  /** Zobrist key: equal for positions that are the same for the threefold rule. */
  get key(): bigint {
    return new DataView(this.state.buffer, this.state.byteOffset).getBigUint64(KEY_AT, true);
  }

  /** Moves played since the position was set up, oldest first. */
  get history(): readonly Move[] {
    return this.played;
  }

  /** Squares of the rooks that may still castle with the king. */
  castlingRooks(color: Color): { short: Square | undefined; long: Square | undefined } {
    const shift = color === "white" ? 0 : 2;
    const rook = (right: number) => (this.state[RIGHTS_AT] & (1 << right) ? this.state[ROOKS_AT + right] : undefined);
    return { short: rook(shift), long: rook(shift + 1) };
  }

  pieceAt(square: Square): Piece | undefined {
    const code = this.state[MAILBOX_AT + square];
    return code === 0 ? undefined : { color: COLORS[code >> 3], role: ROLES[(code & 7) - 1] };
  }

  *pieces(): Generator<Piece & { square: Square }> {
    for (let square = 0; square < 64; square++) {
      const piece = this.pieceAt(square);
      if (piece) yield { square, ...piece };
    }
  }

  /** What the pieces of both sides are worth in pawns, kings nothing; 78 at the start. */
  material(): number {
    return materialAt(this.state, 0);
  }

  /** The legal moves. */
  moves(): Move[] {
    this.enter();
    const count = wasm.generate(POSITION, core.LIST);
    const moves: Move[] = [];
    for (let i = core.LIST >> 1; moves.length < count; i++) moves.push(core.moves[i]); // six times as fast as Array.from
    return moves;
  }

  isLegal(move: Move): boolean {
    this.enter();
    const first = core.LIST >> 1;
    const end = first + wasm.generate(POSITION, core.LIST);
    for (let i = first; i < end; i++) if (core.moves[i] === move) return true;
    return false;
  }

  /** Plays a legal move. */
  play(move: Move): this {
    if (!this.isLegal(move)) {
      const name = formatSquare((move >> 6) & 63) + formatSquare(move & 63);
      throw new UserError("MOVE_ILLEGAL", `The move ${name} is not legal here.`);
    }
    return this.playUnchecked(move);
  }

  /** Plays a move that came from `moves()` of this very position; any other ruins it. For searches. */
  playUnchecked(move: Move): this {
    this.before.push(this.state);
    this.played.push(move);
    this.enter();
    wasm.play(POSITION, move);
    this.state = copyState(core.bytes);
    return this;
  }

  /** Takes the last move back and returns it; undefined at the start. */
  undo(): Move | undefined {
    const state = this.before.pop();
    if (state) this.state = state;
    return this.played.pop();
  }

  clone(): Position {
    return new Position(this.state, [...this.before], [...this.played], this.passed);
  }

  isCheck(): boolean {
    this.enter();
    return wasm.checkers(POSITION) !== 0n;
  }

  /** How often this position, or the one some plies ago, had stood on the board before, since the last capture or pawn move. */
  repetitions(pliesAgo = 0): number {
    const at = this.before.length - pliesAgo;
    const state = pliesAgo === 0 ? this.state : this.before[at];
    let count = 0;
    const first = Math.max(0, at - (state[HALFMOVES_AT] | (state[HALFMOVES_AT + 1] << 8)));
    for (let i = at - 4; i >= first; i -= 2) if (haveSameKey(this.before[i], state)) count++;
    return count;
  }

  /** How many plies ago this position last stood on the board; undefined if it is new. */
  repeatedAfter(): number | undefined {
    const { length } = this.before;
    const first = Math.max(0, length - this.halfmoves);
    for (let i = length - 4; i >= first; i -= 2) if (haveSameKey(this.before[i], this.state)) return length - i;
    return undefined;
  }

  /** Keys of the earlier positions since the last capture or pawn move, oldest first: what can still be repeated. */
  repeatableKeys(): bigint[] {
    const first = Math.max(0, this.before.length - this.halfmoves);
    return this.before
      .slice(first)
      .map((state) => new DataView(state.buffer, state.byteOffset).getBigUint64(KEY_AT, true));
  }

  /** How the game has ended, or undefined if it goes on. */
  outcome(): Outcome | undefined {
    this.enter();
    if (wasm.generate(POSITION, core.LIST) === 0) {
      if (wasm.checkers(POSITION) === 0n) return { winner: undefined, reason: "stalemate" };
      return { winner: opposite(this.turn), reason: "checkmate" };
    }
    if (wasm.isInsufficient(POSITION)) return { winner: undefined, reason: "insufficient material" };
    if (this.halfmoves >= 100) return { winner: undefined, reason: "fifty moves" };
    if (this.halfmoves >= 8 && this.repetitions() >= 2) return { winner: undefined, reason: "threefold repetition" };
    return undefined;
  }

  /** Centipawns the move wins (or loses) if both sides go on capturing on its target square, either free to stop. */
  see(move: Move): number {
    this.enter();
    return wasm.see(POSITION, move, core.SCRATCH);
  }

  /** The core's struct of this position or of the one some plies ago, for batch work; not to be changed. */
  bytes(): Uint8Array;
  bytes(pliesAgo: number): Uint8Array | undefined;
  bytes(pliesAgo = 0): Uint8Array | undefined {
    return pliesAgo === 0 ? this.state : this.before[this.before.length - pliesAgo];
  }

  /** Puts the position into the core's memory, where the next call looks for it. */
  enter(): void {
    core.bytes.set(this.state, POSITION);
  }
}
