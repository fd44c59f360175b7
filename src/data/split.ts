import { commitAll, Random, UserError } from "#base";
import { createRawRecords, type DataRecord, eachRecord, openRawRecords, type RawBatch, type RawForm } from "#formats";
import { PawnChooser } from "./pawn-chooser.js";

/** What may stay together when records are split. */
export const SPLIT_BY = ["games", "pawns"] as const;

export interface SplitOptions {
  by?: (typeof SPLIT_BY)[number]; // what stays together: games (the default), or positions with the same pawns
  share: number; // of these, for validation
  seed: number;
  signal: AbortSignal;
  onProgress(state: { done: number; total: number | undefined; records: number }): void;
}

export interface SplitResult {
  records: number;
  games: number; // or pawn structures
  training: number; // records
  validation: number;
}

const SHORTEST = 3; // records of a game on average; a shuffled file seems to have games of two

/** `train.bin` -> `train.validation.bin`: where the validation set goes if no name is given. */
export const validationPath = (path: string): string =>
  path.replace(/((?:\.[a-z]+)(?:\.(?:zst|gz))?)$/i, ".validation$1");

/**
 * Divides a file into training and validation, whole games to either side. Games are told apart by their number where
 * records have one (`game_id`), else by plies that no longer rise or a result that changes: for that the records must
 * stand in the order of the games.
 */
export async function splitRecords(
  from: string,
  to: string,
  validation: string,
  { by = "games", share, seed, signal, onProgress }: SplitOptions,
): Promise<SplitResult> {
  const reader = await openRawRecords(from);
  if (reader.form === "bag" && by === "games") {
    throw new UserError(
      "SPLIT_GAMES",
      `${from}: Bagz records do not know their games. Keep games apart when importing them (validation: ${share}), or split by pawns.`,
    );
  }
  const writers = [
    await createRawRecords(to, reader.form, from),
    await createRawRecords(validation, reader.form, from),
  ];
  const chooser =
    by === "pawns" ? new PawnChooser(reader.form, share, seed) : new Chooser(from, reader.form, share, seed);
  const counts = [0, 0];
  try {
    for await (const batch of reader) {
      signal.throwIfAborted();
      const sides = chooser.sides(batch);
      for (const side of [0, 1]) {
        const part = select(batch, sides, side);
        counts[side] += part.ends.length;
        if (part.ends.length > 0) await writers[side].write(part);
      }
      onProgress({ done: reader.progress, total: reader.size, records: chooser.records });
    }
    if (chooser.records === 0)
      throw new UserError("RECORDS_NONE", `${from}: there is no record in it, so nothing was written.`);
    chooser.check();
    await commitAll(writers.reverse());
  } catch (error) {
    for (const writer of writers) await writer.abort();
    throw error;
  }
  return { records: chooser.records, games: chooser.games, training: counts[0], validation: counts[1] };
}

/** Decides record by record, with one draw for each game. */
class Chooser {
  records = 0;
  games = 0;
  private readonly random: Random;
  private numbered = false;
  private readonly byNumber = new Map<string, number>();
  private lastPly = Number.POSITIVE_INFINITY;
  private lastResult = 0;
  private side = 0;

  constructor(
    private readonly path: string,
    private readonly form: RawForm,
    private readonly share: number,
    seed: number,
  ) {
    this.random = new Random(seed);
  }

  sides(batch: RawBatch): Uint8Array {
    const sides = new Uint8Array(batch.ends.length);
    let i = 0;
    for (const record of eachRecord(batch)) {
      sides[i++] = this.form === "packed" ? this.ofPacked(record) : this.ofLine(record);
      this.records++;
    }
    return sides;
  }

  private ofPacked(record: Uint8Array): number {
    const ply = record[36] | (record[37] << 8);
    const result = (record[38] << 24) >> 24;
    return this.ofPly(ply, record[0] & 1 ? -result : result);
  }

  private ofLine(bytes: Uint8Array): number {
    const record = JSON.parse(new TextDecoder().decode(bytes)) as DataRecord;
    const { game_id: game, ply, result, fen } = record;
    if (game !== undefined) {
      this.numbered = true;
      const name = String(game);
      let side = this.byNumber.get(name);
      if (side === undefined) this.byNumber.set(name, (side = this.draw()));
      return side;
    }
    if (typeof ply !== "number" || typeof result !== "number") {
      throw new UserError(
        "SPLIT_GAMES",
        `${this.path}: record ${this.records} has neither "game_id" nor "ply" and "result", so nothing tells its game.\n` +
          `Keep games apart when importing them (validation: ${this.share}), or split by pawns.`,
      );
    }
    return this.ofPly(ply, fen.split(" ")[1] === "b" ? -result : result);
  }

  /** The side of the next record of a file in the order of the games; the result is White's. */
  private ofPly(ply: number, result: number): number {
    if (ply <= this.lastPly || result !== this.lastResult) this.side = this.draw();
    this.lastPly = ply;
    this.lastResult = result;
    return this.side;
  }

  private draw(): number {
    this.games++;
    return this.random.next() < this.share ? 1 : 0;
  }

  /** Refuses a file whose games were torn apart. */
  check(): void {
    if (this.numbered || this.records < 100 || this.records / this.games >= SHORTEST) return;
    throw new UserError(
      "SPLIT_SHUFFLED",
      `${this.path}: its ${this.records} records look like ${this.games} games: they were shuffled, or few of each game were kept.\n` +
        `Keep games apart when importing them (validation: ${this.share}), or split before shuffling.`,
    );
  }
}

function select({ bytes, ends }: RawBatch, sides: Uint8Array, side: number): RawBatch {
  const out = new Uint8Array(bytes.length);
  const outEnds: number[] = [];
  let end = 0;
  let start = 0;
  for (let i = 0; i < ends.length; i++) {
    if (sides[i] === side) {
      out.set(bytes.subarray(start, ends[i]), end);
      end += ends[i] - start;
      outEnds.push(end);
    }
    start = ends[i];
  }
  return { bytes: out.subarray(0, end), ends: Uint32Array.from(outEnds) };
}
