import { commitAll, openBytes, type Pending, UserError, WorkerPool } from "#base";
import { core } from "#chess";
import type { MoveTableName } from "#encodings";
import {
  BAG_KINDS,
  BadGame,
  type BagKind,
  createRawRecords,
  createRecords,
  type DataRecord,
  formatOf,
  refuseOther,
} from "#formats";
import { readGameChunks } from "./game-chunks.js";
import type { ImportedChunk, ImportKind, ImportSettings } from "./game-importer.js";
import { KeyTable } from "./key-table.js";
import { POSITION_REASONS, type PositionReason } from "./select.js";
import { validationPath } from "./split.js";

/** Which games and positions are imported, and how. */
export interface ImportOptions extends Omit<ImportSettings, "packed" | "keys" | "kind"> {
  kind?: ImportKind; // default: "scored"
  dedupe: boolean; // each position only once
  limitGames?: number; // stop after so many games were kept
  maxPositions?: number;
  threads: number;
  signal: AbortSignal;
  onBad(error: BadGame): void; // told of every broken game, which is then left out
  onNoEvals?(games: number): void; // told once, early, if the first games have no evaluation and nothing is kept for it
  onProgress(state: { done: number; total: number | undefined; games: number; positions: number }): void;
}

/** What was made of the games, and what was skipped why. */
export interface ImportResult {
  games: number; // looked at
  kept: number;
  positions: number; // written, validation included
  skipped: Record<string, number>; // games, by reason: with `kept` they are all games
  skippedPositions: Partial<Record<PositionReason, number>>; // of the games that passed the filters
  validation?: { path: string; games: number; positions: number };
}

/**
 * Turns games into training records. Text is cut into pieces of whole games, which workers turn into records; these are
 * written in the order of the games, so that the result does not depend on the number of workers.
 */
export async function importGames(paths: readonly string[], to: string, options: ImportOptions): Promise<ImportResult> {
  const kind = options.kind ?? "scored";
  const packed = kind === "scored" && ["bin", "binpack"].includes(formatOf(to) ?? "");
  checkKind(to, kind, options.moves);
  for (const path of paths) await refuseOther(path, ["pgn"], "games in PGN");
  const sources = await openAll(paths);
  const settings: ImportSettings = {
    games: options.games,
    positions: options.positions,
    validation: options.validation,
    seed: options.seed,
    kind,
    packed,
    moves: options.moves,
    keys: options.dedupe,
  };
  const targets = options.validation > 0 ? [to, validationPath(to)] : [to];
  const writers: Writer[] = [];
  const pool = new WorkerPool("data/import-worker", options.threads);
  try {
    for (const target of targets) writers.push(await createWriter(target, paths[0], kind, packed, options.moves));
    await pool.tell("configure", settings);
    const collector = new Collector(writers, options);
    const known = sources.every(({ size }) => size !== undefined);
    const total = known ? sources.reduce((sum, { size }) => sum + (size ?? 0), 0) : undefined;
    const begun: string[] = []; // the file of each chunk on its way
    const questions = async function* () {
      for (const source of sources) {
        for await (const { bytes } of readGameChunks(source, source.path)) {
          options.signal.throwIfAborted();
          begun.push(source.path);
          yield { argument: { bytes, path: source.path }, transfer: [bytes.buffer] };
        }
      }
    };
    for await (const chunk of pool.map<ImportedChunk>("run", questions())) {
      options.signal.throwIfAborted();
      const wantsMore = await collector.take(chunk, begun.shift() ?? "");
      const done = sources.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
      options.onProgress({ done, total, games: collector.result.games, positions: collector.result.positions });
      if (!wantsMore) break;
    }
    if (collector.result.positions === 0) throw nothingKept(paths, collector.result);
    await commitAll(writers.toReversed());
    const { validation } = collector;
    return { ...collector.result, ...(targets[1] ? { validation: { path: targets[1], ...validation } } : {}) };
  } catch (error) {
    for (const writer of writers) await writer.abort();
    throw error;
  } finally {
    await pool.close();
  }
}

/** Why nothing would be written: a file that stands there already stays as it is. */
function nothingKept(paths: readonly string[], { games, skipped, skippedPositions }: ImportResult): UserError {
  const list = (counts: Record<string, number>, of: string) =>
    Object.entries(counts).map(([reason, count]) => `  ${count} ${of} left out: ${reason}`);
  const reasons = [...list(skipped, "games"), ...list(skippedPositions, "positions")];
  return new UserError(
    "IMPORT_EMPTY",
    games === 0
      ? `${paths.join(", ")}: no game was found, so nothing was written. Expected PGN.`
      : [
          `${paths.join(", ")}: ${games} games were read and no position was kept, so nothing was written.`,
          ...reasons,
        ].join("\n"),
  );
}

/** All files, so that one that is missing is seen before hours of work. */
async function openAll(paths: readonly string[]) {
  const sources = [];
  for (const path of paths) sources.push(await openBytes(path));
  return sources;
}

function checkKind(path: string, kind: ImportKind, moves: MoveTableName | undefined): void {
  const format = formatOf(path);
  const allowed: readonly ImportKind[] | undefined =
    format === "bag" || format === "bagz"
      ? BAG_KINDS
      : format === "jsonl" || format === "parquet"
        ? undefined
        : ["scored"];
  if (allowed && !allowed.includes(kind)) {
    throw new UserError(
      "IMPORT_KIND",
      `${path}: such a file holds ${allowed.join(", ")} records, not ${kind}. Choose one of these kinds.`,
    );
  }
  if ((kind === "move_index") !== (moves !== undefined)) {
    throw new UserError(
      "IMPORT_MOVES",
      "records of the kind move_index need a table of moves, and only they have one.",
    );
  }
}

interface Writer extends Pending {
  /** Takes rows of .bin records, or records. */
  write(rows: Uint8Array | DataRecord[]): Promise<void>;
}

async function createWriter(
  path: string,
  from: string,
  kind: ImportKind,
  packed: boolean,
  moves: MoveTableName | undefined,
): Promise<Writer> {
  if (packed) {
    const writer = await createRawRecords(path, "packed", from);
    return {
      write: (rows) => writer.write({ bytes: rows as Uint8Array, ends: new Uint32Array(0) }),
      finish: () => writer.finish(),
      commit: () => writer.commit(),
      abort: () => writer.abort(),
    };
  }
  const bagKind = BAG_KINDS.find((each) => each === kind) as BagKind | undefined;
  const writer = await createRecords(path, { kind: bagKind, moves });
  return {
    write: (rows) => writer.write(rows as DataRecord[]),
    finish: () => writer.finish(),
    commit: () => writer.commit(),
    abort: () => writer.abort(),
  };
}

const EARLY_GAMES = 1000; // of real games with evaluations, some have one long before
const DUPLICATE = POSITION_REASONS.indexOf("duplicate");

/** Takes what the workers made of the games, in order: counts, limits, duplicates, and to which file it goes. */
class Collector {
  readonly result: ImportResult = { games: 0, kept: 0, positions: 0, skipped: {}, skippedPositions: {} };
  readonly validation = { games: 0, positions: 0 };
  private readonly seen: KeyTable | undefined;
  private source = "";
  private gamesBefore = 0; // in the chunks of this file before this one
  private linesBefore = 0;

  constructor(
    private readonly writers: readonly Writer[],
    private readonly options: ImportOptions,
  ) {
    if (options.dedupe) this.seen = new KeyTable(1 << 16);
  }

  /** False once nothing more is wanted. */
  async take(chunk: ImportedChunk, source: string): Promise<boolean> {
    if (source !== this.source) {
      this.source = source;
      this.gamesBefore = 0;
      this.linesBefore = 0;
    }
    for (const { game, line, reason } of chunk.bad) {
      this.options.onBad(new BadGame(source, this.gamesBefore + game, this.linesBefore + line, reason));
    }
    this.gamesBefore += chunk.rowCounts.length;
    this.linesBefore += chunk.lines;
    let row = 0;
    let from = 0; // rows not yet written, all for one side
    let side = 0;
    const flush = async (to: number) => {
      if (to > from) await this.write(chunk, from, to, side);
      from = to;
    };
    for (let game = 0; game < chunk.rowCounts.length; game++) {
      const { limitGames, maxPositions } = this.options;
      const { result } = this;
      if (result.kept === limitGames || result.positions === maxPositions) {
        await flush(row);
        return false;
      }
      const rows = chunk.rowCounts[game];
      result.games++;
      if (result.games === EARLY_GAMES && result.positions === 0 && result.skippedPositions["no eval"])
        this.options.onNoEvals?.(result.games);
      if (rows < 0) {
        this.countSkipped(chunk.skipped, game, 0);
        const reason = chunk.reasons[-1 - rows];
        result.skipped[reason] = (result.skipped[reason] ?? 0) + 1;
        continue;
      }
      const isNew = this.countRepeated(chunk, row, rows);
      const kept = Math.min(isNew ? isNew.length : rows, (maxPositions ?? Infinity) - result.positions);
      result.kept++;
      result.positions += kept;
      this.countSkipped(chunk.skipped, game, isNew ? rows - isNew.length : 0);
      if (chunk.validation[game] !== side) {
        await flush(row);
        side = chunk.validation[game];
      }
      if (side === 1) {
        this.validation.games++;
        this.validation.positions += kept;
      }
      if (kept < rows) {
        await flush(row);
        for (let i = 0; i < kept; i++) {
          const at = isNew ? isNew[i] : row + i;
          await this.write(chunk, at, at + 1, side);
        }
        from = row + rows;
      }
      row += rows;
    }
    await flush(row);
    return this.result.kept !== this.options.limitGames && this.result.positions !== this.options.maxPositions;
  }

  /** The rows of a game whose positions are new, if that matters. */
  private countRepeated({ keys }: ImportedChunk, row: number, count: number): number[] | undefined {
    if (!this.seen || !keys) return undefined;
    const fresh: number[] = [];
    for (let at = row; at < row + count; at++) if (this.seen.add(keys[2 * at], keys[2 * at + 1])) fresh.push(at);
    return fresh;
  }

  private countSkipped(skipped: Uint32Array, game: number, duplicates: number): void {
    const counts = this.result.skippedPositions;
    POSITION_REASONS.forEach((reason, i) => {
      const count = skipped[game * POSITION_REASONS.length + i] + (i === DUPLICATE ? duplicates : 0);
      if (count > 0) counts[reason] = (counts[reason] ?? 0) + count;
    });
  }

  private write({ packed, records }: ImportedChunk, from: number, to: number, side: number): Promise<void> {
    const rows = packed
      ? packed.subarray(from * core.RECORD_BYTES, to * core.RECORD_BYTES)
      : (records ?? []).slice(from, to);
    return this.writers[side].write(rows);
  }
}
