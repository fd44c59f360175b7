// What a worker does for `data import`: text with whole games in, rows or records out.
import { UserError } from "#base";
import { core, formatUci, Position, valueOfScore, winProbability } from "#chess";
import { MOVE_TABLES, type MoveTableName } from "#encodings";
import {
  type BadGame,
  type DataRecord,
  formatFenAt,
  formatMove,
  type GameBlock,
  NO_EVAL,
  readGameBlocks,
} from "#formats";
import { colorOf, type GameFilter, refuseGame, resultNumber } from "./filter.js";
import { hashGame, POSITION_REASONS, type PositionFilter, selectPositions } from "./select.js";

/** What becomes of a position: a .bin record, or an object of one of the other kinds. */
export const IMPORT_KINDS = ["scored", "action_value", "state_value", "behavioral_cloning", "move_index"] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface ImportSettings {
  games: GameFilter;
  positions: PositionFilter;
  validation: number; // share of the games
  seed: number;
  kind: ImportKind;
  packed: boolean; // .bin records as bytes; only of the kind "scored"
  moves?: MoveTableName; // the table of a move_index
  keys: boolean; // whether the keys of the positions are wanted
}

/** The games of one piece of text, in order. */
export interface ImportedChunk {
  /** For each game, broken ones too: 0 or more rows it gave, or -1 - the index of the reason it was left out. */
  rowCounts: Int32Array;
  reasons: string[];
  validation: Uint8Array; // 1 for each game that is for validation
  skipped: Uint32Array; // for each game, positions left out by each of POSITION_REASONS
  lines: number; // of text
  bad: { game: number; line: number; reason: string }[]; // counted within the text, from 1
  packed?: Uint8Array<ArrayBuffer>;
  records?: DataRecord[];
  keys?: Uint32Array<ArrayBuffer>; // low and high half of each row's
}

const WIDE_BYTES = core.POSITION_BYTES + 16;
const NOT_IN_FORMAT = POSITION_REASONS.indexOf("not in this format");

export class GameImporter {
  private readonly position = core.allocate(core.POSITION_BYTES);
  private capacity = 0; // plies for which there is room in the core
  private keep = 0;
  private rows = 0;
  private keyRows = 0;

  constructor(private readonly settings: ImportSettings) {}

  /** What becomes of a piece of a file of games. */
  async run(text: Uint8Array, path: string): Promise<ImportedChunk> {
    const { settings } = this;
    const bad: ImportedChunk["bad"] = [];
    const reasons = ["broken"];
    const rowCounts: number[] = [];
    const validation: number[] = [];
    const skipped: Uint32Array[] = [];
    const rows = new Gathered(settings.packed ? text.length * 6 : 0);
    const keys = new Gathered(settings.keys ? text.length : 0);
    const records: DataRecord[] = [];
    const none = new Uint32Array(POSITION_REASONS.length);

    const source = (async function* () {
      yield text;
    })();
    const onBad = (error: BadGame) => bad.push({ game: error.game, line: error.line, reason: error.reason });
    for await (const block of readGameBlocks(source, { source: path, onBad })) {
      for (let game = 0; game < block.length; game++) {
        while (rowCounts.length < block.number(game) - 1) rowCounts.push(-1); // broken ones before it
        const reason = refuseGame(block, game, settings.games);
        const counts = reason === undefined ? new Uint32Array(POSITION_REASONS.length) : none;
        const count = reason === undefined ? this.importGame(block, game, counts) : 0;
        const why = reason ?? (count === 0 ? "no positions" : undefined);
        if (why !== undefined && !reasons.includes(why)) reasons.push(why);
        rowCounts.push(why === undefined ? count : -1 - reasons.indexOf(why));
        validation[rowCounts.length - 1] = this.isForValidation(block, game) ? 1 : 0;
        skipped[rowCounts.length - 1] = counts;
        if (settings.packed) rows.add(core.bytes, this.rows, this.rows + count * core.RECORD_BYTES);
        else for (let row = 0; row < count; row++) records.push(this.record(this.rows + row * WIDE_BYTES));
        if (settings.keys) keys.add(core.bytes, this.keyRows, this.keyRows + count * 8);
      }
    }
    const broken = bad.reduce((most, { game }) => Math.max(most, game), 0);
    while (rowCounts.length < broken) rowCounts.push(-1);

    const flatSkipped = new Uint32Array(rowCounts.length * POSITION_REASONS.length);
    const sides = new Uint8Array(rowCounts.length);
    for (let game = 0; game < rowCounts.length; game++) {
      flatSkipped.set(skipped[game] ?? none, game * POSITION_REASONS.length);
      sides[game] = validation[game] ?? 0;
    }
    let lines = 0;
    for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) lines++;
    return {
      rowCounts: Int32Array.from(rowCounts),
      reasons,
      validation: sides,
      skipped: flatSkipped,
      lines,
      bad,
      ...(settings.packed ? { packed: rows.take() } : { records }),
      ...(settings.keys ? { keys: new Uint32Array(keys.take().buffer) } : {}),
    };
  }

  /** Leaves the rows of a game in the core's memory, and their keys; returns how many. */
  private importGame(block: GameBlock, game: number, counts: Uint32Array): number {
    const { positions, packed, seed } = this.settings;
    const plies = block.plies(game);
    const first = block.first(game);
    this.makeRoom(plies);
    const start = block.startAddress(game);
    const evals = block.evals.subarray(first, first + plies + 1);
    const keep = core.bytes.subarray(this.keep, this.keep + plies);
    const hash =
      positions.perGame === undefined ? 0 : hashGame(block.moves.subarray(first + 1, first + plies + 1), ~seed);
    const whiteBegins = core.bytes[start + core.SIDE_AT] === 0;
    const { player } = this.settings.games;
    const mover = player === undefined ? undefined : colorOf(block, game, player);
    const kept = selectPositions({ evals, plies, whiteBegins, seed: hash, mover }, positions, keep, counts);
    if (kept === 0) return 0;
    const rows = core.wasm.packGame(
      start,
      block.movesAddress + first * 2,
      block.evalsAddress + first * 2,
      this.keep,
      plies,
      resultNumber(block.result(game)),
      positions.value === "eval" ? 1 : 0,
      packed ? 0 : 1,
      this.rows,
      this.keyRows,
      this.position,
    );
    counts[NOT_IN_FORMAT] += kept - rows;
    return rows;
  }

  private makeRoom(plies: number): void {
    if (plies <= this.capacity) return;
    this.capacity = Math.max(1024, 2 * plies);
    this.keep = core.allocate(this.capacity);
    this.keyRows = core.allocate(this.capacity * 8);
    this.rows = core.allocate(this.capacity * (this.settings.packed ? core.RECORD_BYTES : WIDE_BYTES));
  }

  private isForValidation(block: GameBlock, game: number): boolean {
    const { validation, seed } = this.settings;
    if (validation === 0) return false;
    const first = block.first(game);
    return hashGame(block.moves.subarray(first + 1, first + block.plies(game) + 1), seed) < validation * 2 ** 32;
  }

  /** The record of a wide row. */
  private record(row: number): DataRecord {
    const { kind, positions, moves } = this.settings;
    const tail = new DataView(core.bytes.buffer, row + core.POSITION_BYTES, 16);
    const move = tail.getUint16(2, true);
    const score = tail.getInt16(0, true);
    const result = tail.getInt8(6);
    const fen = formatFenAt(row);
    const black = core.bytes[row + core.SIDE_AT] === 1;
    const chess960 = core.bytes[row + core.CHESS960_AT] === 1;
    const uci = () =>
      chess960 ? formatUci(new Position(core.bytes.slice(row, row + core.POSITION_BYTES)), move) : formatMove(move);
    const scored = positions.value === "eval";
    switch (kind) {
      case "scored":
        return { fen, move: uci(), score, ply: tail.getUint16(4, true), result };
      case "state_value":
        return { fen, win_prob: scored ? winProbability(score) : (result + 1) / 2 };
      case "action_value": {
        const after = tail.getInt16(8, true);
        if (scored && after === NO_EVAL) throw new Error("internal: a move without a value was kept");
        return { fen, move: uci(), win_prob: scored ? winProbability(after) : (result + 1) / 2 };
      }
      case "behavioral_cloning":
        return { fen, move: uci() };
      case "move_index":
        if (moves === undefined) throw new UserError("MOVES_MISSING", "move numbers need a table of moves: name one.");
        return {
          fen,
          move_index: MOVE_TABLES[moves].indexOf(move, black, chess960),
          value: scored ? valueOfScore(score) : result,
        };
    }
  }
}

/** Bytes that come in pieces. */
class Gathered {
  private bytes: Uint8Array<ArrayBuffer>;
  private length = 0;

  constructor(expected: number) {
    this.bytes = new Uint8Array(expected);
  }

  add(from: Uint8Array, start: number, end: number): void {
    const size = end - start;
    if (this.length + size > this.bytes.length) {
      const grown = new Uint8Array(2 * (this.length + size));
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    this.bytes.set(from.subarray(start, end), this.length);
    this.length += size;
  }

  /** What was gathered, in a buffer of its own. */
  take(): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(0, this.length);
  }
}
