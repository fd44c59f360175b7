import { core, Position } from "#chess";
import { decodeText, unescapeValue } from "./text.js";

// The layouts of assembly/chess/records/pgn.ts
export const GAME_BYTES = 64;
export const TAG_BYTES = 16;
export const NOTE_BYTES = 12;

/** How a game ended; the index is the code of a game's `result`. */
export const RESULTS = ["*", "1-0", "0-1", "1/2-1/2"] as const;
/** The result of a game as PGN writes it. */
export type Result = (typeof RESULTS)[number];

/** No `[%eval]` was written after this move. */
export const NO_EVAL = -32768;
/** No `[%clk]` was written after this move. */
export const NO_CLOCK = -1;

/** Where a reader keeps its arrays in the core's memory. */
export interface BlockMemory {
  games: number;
  tags: number;
  moves: number;
  evals: number;
  clocks: number;
  notes: number;
  starts: number;
}

const encoder = new TextEncoder();
const names = new Map<string, Uint8Array>();

/** The bytes of a tag's name, made once. */
function nameBytes(name: string): Uint8Array {
  let bytes = names.get(name);
  if (!bytes) names.set(name, (bytes = encoder.encode(name)));
  return bytes;
}

/**
 * Many games as the core left them in its memory: the fast way to read. Each game has one slot per position, from
 * `first(game)`: slot 0 is the start, slot n is the position after n plies. `moves[slot]` led to that position,
 * `evals[slot]` and `clocksMs[slot]` stood in the comment after that move (those of slot 0, before the first).
 *
 * A block is valid until the next one is asked for. Its arrays are views on the core's memory, which whoever makes room
 * there (`core.allocate`) may detach: take them anew for each block. The `...Address` fields are for code of the core.
 */
export class GameBlock {
  constructor(
    private readonly memory: BlockMemory,
    /** Games in this block. */
    readonly length: number,
    private readonly numbers: readonly number[],
    private readonly lines: readonly number[],
    private readonly variants: ReadonlyMap<number, string>,
  ) {}

  private word(game: number, index: number): number {
    return core.words[(this.memory.games + game * GAME_BYTES) / 4 + index];
  }

  /** The moves, one per slot; that of a game's slot 0 is 0. */
  get moves(): Uint16Array {
    return new Uint16Array(core.bytes.buffer, this.memory.moves, this.slots);
  }

  /** Centipawns in White's view, a mate as +-(32000 - plies); NO_EVAL if there was none. */
  get evals(): Int16Array {
    return new Int16Array(core.bytes.buffer, this.memory.evals, this.slots);
  }

  /** Time left on the clock of the side that moved; NO_CLOCK if it was not written. */
  get clocksMs(): Int32Array {
    return new Int32Array(core.bytes.buffer, this.memory.clocks, this.slots);
  }

  get movesAddress(): number {
    return this.memory.moves;
  }

  get evalsAddress(): number {
    return this.memory.evals;
  }

  get clocksAddress(): number {
    return this.memory.clocks;
  }

  /** Slots of all games together. */
  get slots(): number {
    return this.length === 0 ? 0 : this.first(this.length - 1) + this.plies(this.length - 1) + 1;
  }

  /** The slot of the game's starting position. */
  first(game: number): number {
    return this.word(game, 4);
  }

  plies(game: number): number {
    return this.word(game, 5);
  }

  /** As the game's last word says, or if there is none, its Result tag. */
  result(game: number): Result {
    return RESULTS[this.word(game, 8)];
  }

  /** Whether the move text ended without a result. */
  lacksResult(game: number): boolean {
    return (this.word(game, 9) & 1) !== 0;
  }

  /** The name of a variant whose rules we do not know: such a game has tags but no moves. */
  unsupportedVariant(game: number): string | undefined {
    return this.variants.get(game);
  }

  /** The game's number in the file, from 1; broken games count. */
  number(game: number): number {
    return this.numbers[game];
  }

  /** The line of the file on which the game begins, from 1. */
  line(game: number): number {
    return this.lines[game];
  }

  /** Where the struct of the starting position is. */
  startAddress(game: number): number {
    return this.memory.starts + game * core.POSITION_BYTES;
  }

  start(game: number): Position {
    const address = this.startAddress(game);
    return new Position(core.bytes.slice(address, address + core.POSITION_BYTES));
  }

  /** The value of a tag. */
  tag(game: number, name: string): string | undefined {
    const wanted = nameBytes(name);
    const { bytes, words } = core;
    let tag = this.word(game, 2) / 4;
    next: for (let left = this.word(game, 3); left > 0; left--, tag += TAG_BYTES / 4) {
      if (words[tag + 1] !== wanted.length) continue;
      const at = words[tag];
      for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) continue next;
      const length = words[tag + 3];
      const text = decodeText(bytes, words[tag + 2], words[tag + 2] + (length & 0x7fffffff));
      return length < 0 ? unescapeValue(text) : text;
    }
    return undefined;
  }

  /** The whole number a tag holds, as "2400" in WhiteElo; undefined if it is absent or something else. */
  tagNumber(game: number, name: string): number | undefined {
    const text = this.tag(game, name);
    return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  }

  /** What a Game object is made of: copies, relative to the game's text. */
  copy(game: number): {
    text: Uint8Array;
    tags: Int32Array;
    notes: Int32Array;
    moves: Uint16Array;
    evals: Int16Array;
    clocksMs: Int32Array;
  } {
    const { bytes, words } = core;
    const text = this.word(game, 0);
    const first = this.first(game);
    const end = first + this.plies(game) + 1;
    const tags = words.slice(this.word(game, 2) / 4, this.word(game, 2) / 4 + this.word(game, 3) * 4);
    for (let i = 0; i < tags.length; i += 2) tags[i] -= text;
    const notes = words.slice(this.word(game, 6) / 4, this.word(game, 6) / 4 + this.word(game, 7) * 3);
    for (let i = 0; i < notes.length; i += 3) if (notes[i] >> 24 !== 2) notes[i + 1] -= text;
    return {
      text: bytes.slice(text, this.word(game, 1)),
      tags,
      notes,
      moves: this.moves.slice(first + 1, end),
      evals: this.evals.slice(first, end),
      clocksMs: this.clocksMs.slice(first, end),
    };
  }
}
