import { UserError } from "#base";
import { Position } from "#chess";
import { BadGame, throwBad } from "./bad-game.js";
import type { GameBlock, Result } from "./block.js";
import { GameScanner } from "./scanner.js";
import { decodeText, unescapeValue } from "./text.js";

const NOTE_COMMENT = 1;
const NOTE_NAG = 2;
const NOTE_VARIATION = 3;

// The commands that the core reads into `evals` and `clocksMs` (readCommands in assembly/chess/records/pgn.ts).
const COMMAND = /\[%(eval|clk)[ \t-\r]+([^\]]*)\]/g;
const EVAL = /^(?:[-+]*(?:\d+\.?\d*|\.\d+)|[-+]*[#M][-+#M]*\d+)(?:[, \t-\r].*)?$/s;
const CLOCK = /^\d+(?::\d+)*(?:\.\d*)?(?:[ \t-\r].*)?$/s;

function replaceCommands(text: string, by: (command: string) => string): string {
  return text.replace(COMMAND, (command, name, value) => ((name === "eval" ? EVAL : CLOCK).test(value) ? by(command) : command)); // biome-ignore format: one line
}

/** A comment without those commands, on one line. */
function plainComment(text: string): string {
  if (!text.includes("[%")) return text.replace(/\s+/g, " ").trim();
  const rest = replaceCommands(text, () => " ")
    .replace(/\s+/g, " ")
    .trim();
  return replaceCommands(rest, (command) => `[ ${command.slice(1)}`); // what only looks like one now that others are gone
}

/** A game as it was read. Moves and numbers are there at once; texts are decoded when they are asked for. */
export class Game {
  /** Moves of the main line; all legal. */
  readonly moves: Uint16Array;
  /**
   * Centipawns in White's view, a mate as +-(32000 - plies), or NO_EVAL: `evals[0]` before the first move,
   * `evals[n]` after n plies. What a player found before a move (`{+0.19/6 0.06s}` after it) is the eval before that move.
   */
  readonly evals: Int16Array;
  /** Time left to the side that made the n-th move, or NO_CLOCK; `clocksMs[0]` stood before the first move. */
  readonly clocksMs: Int32Array;
  readonly result: Result;
  /** The number of the game in its file, from 1. */
  readonly number: number;
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** The name of a variant whose rules we do not know; then there are tags but no moves. */
  readonly unsupportedVariant: string | undefined;
  /** The text of the game, as it was. */
  readonly text: Uint8Array;

  private readonly tagWords: Int32Array;
  private readonly notes: Int32Array;
  private readonly startBytes: Uint8Array;
  private tagMap: Map<string, string> | undefined;

  constructor(
    block: GameBlock,
    index: number,
    /** The file it is from, for messages. */
    readonly source: string,
  ) {
    const { text, tags, notes, moves, evals, clocksMs } = block.copy(index);
    this.text = text;
    this.tagWords = tags;
    this.notes = notes;
    this.moves = moves;
    this.evals = evals;
    this.clocksMs = clocksMs;
    this.startBytes = block.start(index).bytes();
    this.result = block.result(index);
    this.number = block.number(index);
    this.line = block.line(index);
    this.unsupportedVariant = block.unsupportedVariant(index);
  }

  /** The tags in the order of the file; of a name that occurs twice, the first. */
  get tags(): ReadonlyMap<string, string> {
    if (this.tagMap) return this.tagMap;
    this.tagMap = new Map();
    const words = this.tagWords;
    for (let i = 0; i < words.length; i += 4) {
      const name = decodeText(this.text, words[i], words[i] + words[i + 1]);
      const value = decodeText(this.text, words[i + 2], words[i + 2] + (words[i + 3] & 0x7fffffff));
      if (!this.tagMap.has(name)) this.tagMap.set(name, words[i + 3] < 0 ? unescapeValue(value) : value);
    }
    return this.tagMap;
  }

  /** The position before the first move: a fresh one each time. */
  get start(): Position {
    return new Position(this.startBytes);
  }

  get plies(): number {
    return this.moves.length;
  }

  /** Comments after so many plies (0: before the first move), without `[%eval]` and `[%clk]`. */
  comments(ply: number): string[] {
    return this.notesAt(ply, NOTE_COMMENT).flatMap(([from, length]) => {
      const text = plainComment(decodeText(this.text, from, from + length));
      return text === "" ? [] : [text];
    });
  }

  /** Numeric annotation glyphs after so many plies: 1 is "!", 2 is "?", and so on. */
  nags(ply: number): number[] {
    return this.notesAt(ply, NOTE_NAG).map(([nag]) => nag);
  }

  /**
   * The variations written after so many plies: alternatives to the last of these moves. They are read only here, each
   * a game without tags that may have variations of its own; `onBad` is told of broken ones, which are left out.
   */
  variations(ply: number, onBad: (error: BadGame) => void = throwBad): Game[] {
    return this.notesAt(ply, NOTE_VARIATION).flatMap(([from, length]) => {
      const fail = (reason: string) => onBad(new BadGame(this.source, this.number, this.line, reason));
      if (ply === 0) {
        fail("a variation stands before the first move.");
        return [];
      }
      const text = this.text.subarray(from, from + length);
      let isBad = false;
      const options = {
        source: this.source,
        onBad: (error: BadGame) => {
          isBad = true;
          fail(`in a variation, ${error.reason}`);
        },
      };
      const lines = parseFrom(text, this.positionAt(ply - 1), options);
      if (isBad) return [];
      if (lines.length === 1 && lines[0].plies > 0 && lines[0].tagWords.length === 0) return lines;
      fail("a variation is not one line of moves.");
      return [];
    });
  }

  /** The position after so many plies. */
  positionAt(ply: number): Position {
    const position = this.start;
    for (const move of this.moves.subarray(0, ply)) position.play(move);
    return position;
  }

  private notesAt(ply: number, kind: number): [number, number][] {
    const found: [number, number][] = [];
    const { notes } = this;
    const wanted = (kind << 24) | ply;
    for (let i = 0; i < notes.length; i += 3) if (notes[i] === wanted) found.push([notes[i + 1], notes[i + 2]]);
    return found;
  }
}

/** What a file of games is called in messages, and what happens to broken games. */
export interface ReadGamesOptions {
  source?: string; // the file's name, for messages
  onBad?: (error: BadGame) => void; // told of every broken game, which is then skipped; throws if not given
}

const BINARY_CHECK = 65536; // bytes at the start of a file that are looked at

/** A few zeros alone are damage, and read as white space; many, or other bytes that no text has, are something else. */
function refuseBinary(chunk: Uint8Array, before: number, source: string): void {
  const bytes = chunk.subarray(0, Math.max(0, BINARY_CHECK - before));
  const zero = bytes.indexOf(0);
  if (zero < 0) return;
  const zeros = bytes.reduce((sum, byte) => sum + (byte === 0 ? 1 : 0), 0);
  const isText = zeros < bytes.length / 4 && !bytes.some((byte) => (byte > 0 && byte < 8) || (byte > 13 && byte < 26));
  if (isText) return;
  throw new UserError(
    "PGN_BINARY",
    `${source}: byte ${before + zero} is 0, which no text has. This is a binary file; expected games in PGN.`,
  );
}

/** Games in blocks of a few thousand, as the core reads them: the fast way. A block is valid until the next one. */
export async function* readGameBlocks(
  bytes: AsyncIterable<Uint8Array>,
  { source = "PGN", onBad = throwBad }: ReadGamesOptions = {},
): AsyncGenerator<GameBlock> {
  const scanner = new GameScanner(source, onBad);
  try {
    let read = 0;
    for await (const chunk of bytes) {
      if (read < BINARY_CHECK) refuseBinary(chunk, read, source);
      read += chunk.length;
      yield* scanner.push(chunk);
    }
    yield* scanner.end();
  } finally {
    scanner.release();
  }
}

/** Games one by one. They hold copies and may be kept. */
export async function* readGames(
  bytes: AsyncIterable<Uint8Array>,
  options: ReadGamesOptions = {},
): AsyncGenerator<Game> {
  for await (const block of readGameBlocks(bytes, options)) {
    for (let i = 0; i < block.length; i++) yield new Game(block, i, options.source ?? "PGN");
  }
}

function parseFrom(text: Uint8Array, start: Position | undefined, options: ReadGamesOptions): Game[] {
  const { source = "PGN", onBad = throwBad } = options;
  const scanner = new GameScanner(source, onBad, start);
  const games: Game[] = [];
  const keep = (blocks: Iterable<GameBlock>) => {
    for (const block of blocks) for (let i = 0; i < block.length; i++) games.push(new Game(block, i, source));
  };
  try {
    keep(scanner.push(text));
    keep(scanner.end());
  } finally {
    scanner.release();
  }
  return games;
}

/** The games in a text, all at once: for small ones. */
export function parseGames(text: string | Uint8Array, options: ReadGamesOptions = {}): Game[] {
  return parseFrom(typeof text === "string" ? new TextEncoder().encode(text) : text, undefined, options);
}
