import { mixSeed, UserError } from "#base";
import { badRecord } from "#formats";
import type { BatchSource } from "../batches/batch-source.js";
import { GatheredRecords, RecordOrder } from "../batches/record-order.js";
import { openRecordSource, type RecordSource } from "../batches/record-source.js";
import type { NnueBatch } from "./trainer.js";

const WINDOW = 512; // blocks shuffled at once, from all over a file

/** Batches of .bin records from files of any size, mixed as the files' sizes have it; the trainer reads them as they are. */
export class NnueSource implements BatchSource<NnueBatch> {
  private constructor(
    private readonly sources: readonly RecordSource[],
    private readonly seed: number,
  ) {}

  static async open(
    paths: readonly string[],
    { seed, limit = 0 }: { seed: number; limit?: number },
  ): Promise<NnueSource> {
    if (paths.length === 0) throw new UserError("DATA_NONE", "no file of records was given.");
    const sources: RecordSource[] = [];
    for (const path of paths) {
      const source = await openRecordSource(path);
      sources.push(source);
      if (source.form !== "packed")
        throw new UserError(
          "DATA_FORM",
          `${path}: networks of this family learn from .bin and .binpack files.\nMake one with: tabiya data convert ${path} -o NEW.bin`,
        );
    }
    const total = sources.reduce((sum, { count }) => sum + count, 0);
    const share = limit > 0 ? Math.min(1, limit / total) : 1;
    const limited = sources.map((source) => ({ ...source, count: Math.max(1, Math.floor(source.count * share)) }));
    return new NnueSource(limited, seed);
  }

  get positions(): number {
    return this.sources.reduce((sum, { count }) => sum + count, 0);
  }

  get fingerprint(): string {
    return this.sources.map(({ count, fingerprint }) => `${count} of ${fingerprint}`).join("; ");
  }

  async *batches(options: {
    size: number;
    epoch?: number;
    perEpoch?: number;
    from?: number;
  }): AsyncGenerator<NnueBatch> {
    const { size, epoch, from = 0 } = options;
    const { perEpoch = Math.max(1, Math.floor(this.positions / size)) } = options;
    const orders = this.sources.map((source, i) => {
      const seed = epoch === undefined ? undefined : mixSeed(this.seed, i);
      return new RecordOrder(source, seed, WINDOW);
    });
    const first = epoch === undefined ? from : epoch * perEpoch + from;
    const end = epoch === undefined ? Math.ceil(this.positions / size) : (epoch + 1) * perEpoch;
    for (let batch = first; batch < end; batch++) {
      const rows = epoch === undefined ? Math.min(size, this.positions - batch * size) : size;
      yield this.gather(orders, batch * size, batch * size + rows, epoch !== undefined);
    }
  }

  async close(): Promise<void> {
    for (const source of this.sources) await source.close();
  }

  /** Rows of an endless mix of the files, or of the files one behind another. */
  private gather(orders: readonly RecordOrder[], from: number, to: number, mixed: boolean): NnueBatch {
    const rows = new GatheredRecords(to - from);
    const places: { path: string; end: number }[] = []; // rows of the batch before `end` are of this file
    const begins = mixed ? this.mixedPlaces(from) : this.plainPlaces(from);
    const ends = mixed ? this.mixedPlaces(to) : this.plainPlaces(to);
    let count = 0;
    orders.forEach((order, i) => {
      order.gather(begins[i], ends[i], rows);
      count += ends[i] - begins[i];
      places.push({ path: order.source.path, end: count });
    });
    const describe = (row: number) => {
      const { path } = places.find(({ end }) => row < end)!;
      const problem = `its position is not one of chess.\nLeave such records out with: tabiya data convert ${path} -o NEW.bin`;
      return badRecord("DATA_RECORD", { path, record: rows.numbers[row] }, problem);
    };
    return { records: rows.batch.bytes, describe };
  }

  /** How many rows each file has given when `rows` were given in all. */
  private mixedPlaces(rows: number): number[] {
    const total = this.positions;
    const places = this.sources.map(({ count }) => Math.floor((rows * count) / total));
    // What rounding leaves goes to the largest, so that no other ever steps back.
    const largest = this.sources.reduce((best, { count }, i) => (count > this.sources[best].count ? i : best), 0);
    places[largest] += rows - places.reduce((a, b) => a + b);
    return places;
  }

  private plainPlaces(rows: number): number[] {
    let before = 0;
    return this.sources.map(({ count }) => {
      const place = Math.max(0, Math.min(count, rows - before));
      before += count;
      return place;
    });
  }
}
