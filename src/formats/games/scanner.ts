import { messageOf, UserError } from "#base";
import { core, parseFen, START_FEN } from "#chess";
import { BadGame, explainError } from "./bad-game.js";
import { type BlockMemory, GAME_BYTES, GameBlock, NOTE_BYTES, TAG_BYTES } from "./block.js";
import { decodeText, unescapeValue } from "./text.js";
import { parseVariant } from "./variant.js";

// Room for one block. A block is handed out when any of these is used up.
const INPUT = 1 << 20; // bytes of text; grows for a game that is longer
const LONGEST_GAME = 1 << 24; // bytes; a longer one is reported and skipped, so that memory stays flat
const GAMES = 4096;
const TAGS = 1 << 16;
const SLOTS = 1 << 18;
const NOTES = 1 << 18;

const EVENT = [...'[Event "'].map((char) => char.charCodeAt(0)); // with this a game begins

const READER_BYTES = 64;
const MARGIN = 64; // before the text: a line end, so that the first line begins like any other

// What readGame returns and its modes, as in assembly/chess/records/pgn.ts
const GAME = 0;
const MORE = 1;
const NEEDS_START = 2;
const FULL = 3;
const FIRST = 0;
const PLAY = 1;
const SKIP = 2;

interface Memory extends BlockMemory {
  reader: number;
  input: number;
  inputBytes: number;
  usual: number; // the position games start from unless they say otherwise
}

const USUAL_START = parseFen(START_FEN);

const idle: Memory[] = []; // of readers that have finished: the core's memory is never given back

function takeMemory(): Memory {
  const used = idle.pop();
  if (used) return used;
  const memory: Memory = {
    reader: core.allocate(READER_BYTES),
    games: core.allocate(GAMES * GAME_BYTES),
    tags: core.allocate(TAGS * TAG_BYTES),
    moves: core.allocate(SLOTS * 2),
    evals: core.allocate(SLOTS * 2),
    clocks: core.allocate(SLOTS * 4),
    notes: core.allocate(NOTES * NOTE_BYTES),
    starts: core.allocate(GAMES * core.POSITION_BYTES),
    input: core.allocate(MARGIN + INPUT) + MARGIN,
    inputBytes: INPUT,
    usual: core.allocate(core.POSITION_BYTES),
  };
  const scratch = core.allocate(core.POSITION_BYTES + core.MOVE_LIST_BYTES);
  core.words.set([memory.moves, memory.evals, memory.clocks], memory.reader / 4 + 5);
  core.words.set([memory.usual, scratch], memory.reader / 4 + 11);
  return memory;
}

/** Text of games goes in by pieces, blocks of games come out. Used by the readers of game.ts. */
export class GameScanner {
  private readonly memory = takeMemory();
  private filled = 0; // bytes of text in the input
  private at = 0; // where in it the next game is looked for
  private line = 1; // of `at`
  private game = 0; // games seen so far
  private dropping = false; // inside a game that is too long: its text is thrown away
  private firstTag = 0; // of the block being filled, and so on
  private numbers: number[] = [];
  private lines: number[] = [];
  private variants = new Map<number, string>();

  constructor(
    private readonly source: string,
    private readonly onBad: (error: BadGame) => void,
    start = USUAL_START,
  ) {
    core.bytes.set(start.bytes(), this.memory.usual);
    core.bytes[this.memory.input - 1] = 10;
  }

  /** Gives the memory back; the scanner must not be used again. */
  release(): void {
    idle.push(this.memory);
  }

  /** Takes the next piece of the text. */
  *push(chunk: Uint8Array): Generator<GameBlock> {
    for (let taken = 0; taken < chunk.length; ) {
      const count = Math.min(chunk.length - taken, this.memory.inputBytes - this.filled);
      core.bytes.set(chunk.subarray(taken, taken + count), this.memory.input + this.filled);
      this.filled += count;
      taken += count;
      if (this.filled === this.memory.inputBytes) {
        yield* this.scan(false);
        this.makeRoom();
      }
    }
  }

  /** The text has ended. */
  *end(): Generator<GameBlock> {
    yield* this.scan(true);
  }

  private *scan(isLast: boolean): Generator<GameBlock> {
    const { reader, input } = this.memory;
    if (this.dropping && !this.drop()) return;
    for (;;) {
      if (this.numbers.length === GAMES) yield* this.flush();
      this.placeOutput();
      const end = input + this.filled;
      let status = core.wasm.readGame(reader, input + this.at, end, isLast ? 1 : 0, FIRST);
      let trouble: string | undefined;
      let variant: string | undefined;
      if (status === NEEDS_START) {
        const start = this.prepareStart();
        trouble = start.trouble;
        variant = start.unsupported;
        status = core.wasm.readGame(reader, input + this.at, end, isLast ? 1 : 0, trouble || variant ? SKIP : PLAY);
      }
      if (status === GAME) this.take(trouble, variant);
      else if (status === FULL) {
        if (this.numbers.length > 0) yield* this.flush();
        else if (!this.skipHuge(isLast)) break;
      } else {
        if (status !== MORE) this.advance(this.filled);
        break;
      }
    }
    if (this.numbers.length > 0) yield* this.flush();
  }

  /** Tells the core where the next game's output goes. */
  private placeOutput(): void {
    const { reader, games, tags, notes, starts } = this.memory;
    const { words } = core;
    const index = this.numbers.length;
    const entry = (games + index * GAME_BYTES) / 4;
    const before = entry - GAME_BYTES / 4;
    const at = reader / 4;
    words[at] = entry * 4;
    words[at + 1] = index ? words[before + 2] + words[before + 3] * TAG_BYTES : tags;
    words[at + 2] = tags + TAGS * TAG_BYTES;
    words[at + 3] = index ? words[before + 4] + words[before + 5] + 1 : 0;
    words[at + 4] = SLOTS;
    words[at + 8] = index ? words[before + 6] + words[before + 7] * NOTE_BYTES : notes;
    words[at + 9] = notes + NOTES * NOTE_BYTES;
    words[at + 10] = starts + index * core.POSITION_BYTES;
    this.firstTag = words[at + 1];
  }

  /** A tag of the game being read. */
  private tag(name: string): string | undefined {
    const { words, bytes } = core;
    const count = words[words[this.memory.reader / 4] / 4 + 3];
    for (let tag = this.firstTag / 4; tag < this.firstTag / 4 + count * 4; tag += 4) {
      if (decodeText(bytes, words[tag], words[tag] + words[tag + 1]).toLowerCase() !== name) continue;
      return unescapeValue(decodeText(bytes, words[tag + 2], words[tag + 2] + (words[tag + 3] & 0x7fffffff)));
    }
    return undefined;
  }

  /** Puts the starting position of a game with a FEN or Variant tag where the core looks for it. */
  private prepareStart(): { trouble?: string; unsupported?: string } {
    const tag = this.tag("variant");
    const variant = parseVariant(tag);
    if (variant === undefined) return { unsupported: tag };
    try {
      const fen = this.tag("fen")?.trim() || START_FEN;
      core.bytes.set(
        parseFen(fen, { chess960: variant === "chess960" }).bytes(),
        core.words[this.memory.reader / 4 + 10],
      );
      return {};
    } catch (error) {
      if (error instanceof UserError) return { trouble: messageOf(error) };
      throw error;
    }
  }

  /** The entry of a game is complete: keeps it, or reports what is wrong. */
  private take(trouble: string | undefined, variant: string | undefined): void {
    const { words, bytes } = core;
    const entry = words[this.memory.reader / 4] / 4;
    const error = words[entry + 10];
    const text = words[entry] - this.memory.input;
    this.advance(text);
    const line = this.line;
    this.game++;
    if (error !== 0 || trouble !== undefined) {
      const errorAt = words[entry + 11];
      let reason = trouble;
      let errorLine = line;
      if (reason === undefined) {
        const start = words[this.memory.reader / 4 + 10];
        const black = bytes[start + core.SIDE_AT];
        const ply = black + words[entry + 13];
        const number = (bytes[start + core.FULLMOVES_AT] | (bytes[start + core.FULLMOVES_AT + 1] << 8)) + (ply >> 1);
        const where = variant === undefined ? `(move ${number}, ${ply & 1 ? "Black" : "White"})` : "";
        reason = explainError(error, decodeText(bytes, errorAt, errorAt + words[entry + 12]), where);
        errorLine = line + core.wasm.countLines(words[entry], errorAt);
      }
      const end = words[entry + 1] - this.memory.input;
      this.advance(end);
      this.onBad(new BadGame(this.source, this.game, errorLine, reason, words[entry + 3]));
      return;
    }
    this.advance(words[entry + 1] - this.memory.input);
    if (variant !== undefined) this.variants.set(this.numbers.length, variant);
    this.numbers.push(this.game);
    this.lines.push(line);
  }

  private advance(to: number): void {
    const { input } = this.memory;
    this.line += core.wasm.countLines(input + this.at, input + to);
    this.at = to;
  }

  private *flush(): Generator<GameBlock> {
    const block = new GameBlock(this.memory, this.numbers.length, this.numbers, this.lines, this.variants);
    this.numbers = [];
    this.lines = [];
    this.variants = new Map();
    yield block;
  }

  /** Moves the text not yet read to the front; if that is all of it, enlarges the input or gives the game up. */
  private makeRoom(): void {
    const { memory } = this;
    if (this.at === 0 && memory.inputBytes >= LONGEST_GAME) this.giveUp(`is longer than ${LONGEST_GAME >> 20} MB`);
    const from = memory.input + this.at;
    const left = this.filled - this.at;
    if (this.at === 0) {
      memory.inputBytes *= 4;
      memory.input = core.allocate(MARGIN + memory.inputBytes) + MARGIN;
    }
    core.bytes[memory.input - 1] = core.bytes[from - 1];
    core.bytes.copyWithin(memory.input, from, from + left);
    this.filled = left;
    this.at = 0;
  }

  /** A game that does not fit into an empty block: it is reported and skipped. False if its end is not in sight. */
  private skipHuge(isLast: boolean): boolean {
    const { reader, input } = this.memory;
    const problem = "has more moves, tags or comments than a game can";
    const status = core.wasm.readGame(reader, input + this.at, input + this.filled, isLast ? 1 : 0, SKIP);
    if (status !== GAME) return this.giveUp(problem);
    this.take(`the game ${problem}.`, undefined);
    return true;
  }

  private giveUp(problem: string): boolean {
    let text = this.at;
    while (text < this.filled && core.bytes[this.memory.input + text] <= 32) text++;
    this.advance(text);
    this.game++;
    this.onBad(new BadGame(this.source, this.game, this.line, `the game ${problem}. Is this a file of games?`));
    this.dropping = true;
    return this.drop();
  }

  /** Throws text away up to the next game; false if that is not in sight. */
  private drop(): boolean {
    const { input } = this.memory;
    const end = input + this.filled;
    const { bytes } = core;
    const isEvent = (at: number) => bytes[at - 1] === 10 && EVENT.every((byte, i) => bytes[at + i] === byte);
    let next = input + this.at + 1;
    do next = bytes.indexOf(EVENT[0], next + 1);
    while (next >= 0 && next + EVENT.length <= end && !isEvent(next));
    this.dropping = next < 0 || next + EVENT.length > end;
    // The start of a game that is cut in two here is found when the rest of it is there.
    this.advance(this.dropping ? Math.max(this.at, this.filled - EVENT.length - 1) : next - input);
    return !this.dropping;
  }
}
