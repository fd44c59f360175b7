// Batches for training, of any family: files with their weights, a limit, an order, a mix, and where to go on. Nothing here
// depends on who is ready first: what a batch holds follows from the seed and its number alone, so that a run goes on
// exactly where it stopped.
import { mixSeed, UserError } from "#base";
import type { BatchSource } from "./batch-source.js";
import { type DataSource, parseSource } from "./data-source.js";
import { GatheredRecords, RecordOrder } from "./record-order.js";
import { BLOCK, type RandomRows } from "./record-source.js";
import type { FileRows, RowBatch, RowEncoder, RowFormat } from "./row-format.js";

/** Where batches come from, and how their rows are made. */
export interface BatchOptions<B, S extends RandomRows = RandomRows> {
  /** Files, as `parseSource` reads them; without weights, each record is as likely as any other. */
  sources: readonly (string | DataSource)[];
  format: RowFormat<B, S>;
  seed: number;
  shuffledRows?: number; // at once, of blocks from all over the file; 65,536 by default
  limit?: number; // positions taken at most, from the front of each file in proportion to its size; 0 for all
  workers?: number; // threads that encode, if the format uses any; 1 by default
  scratch?: string; // a file beside which there is room for what has to be unpacked; by default the source itself
}

/** Shuffled, mixed, encoded batches of some files. Training and validation are two of these, over different files. */
export class Batches<B, S extends RandomRows = RandomRows> implements BatchSource<B> {
  private constructor(
    private readonly options: BatchOptions<B, S>,
    private readonly named: readonly DataSource[],
    private readonly files: readonly S[],
    private readonly encoder: RowEncoder<B, S>,
  ) {}

  static async open<B, S extends RandomRows>(options: BatchOptions<B, S>): Promise<Batches<B, S>> {
    const { format, seed, limit = 0, workers = 1 } = options;
    const named = options.sources.map((source) => (typeof source === "string" ? parseSource(source) : source));
    if (named.length === 0) throw new UserError("DATA_NONE", "no file of records was given.");
    const rowLimit = Math.ceil(limit / format.positionsPerRow);
    const files: S[] = [];
    try {
      for (const { path, resultShare } of named) {
        if (resultShare !== undefined && !format.mixesResults)
          throw new UserError(
            "DATA_SETTING",
            `${path}: networks of this family do not take a resultShare for a single file.`,
          );
        // Of several files all must be known before it can be said how much of the limit is whose.
        files.push(
          await format.open(path, { scratch: options.scratch ?? path, limit: named.length === 1 ? rowLimit : 0 }),
        );
      }
      const encoder = await format.encoder({ seed, files: named, workers });
      return new Batches(options, named, limited(files, rowLimit), encoder);
    } catch (error) {
      for (const file of files) await file.close();
      throw error;
    }
  }

  /** Positions in all files; an epoch has that many by default. */
  get positions(): number {
    return this.rows * this.options.format.positionsPerRow;
  }

  private get rows(): number {
    return this.files.reduce((sum, { count }) => sum + count, 0);
  }

  /** Another for other files, another mix or another order. */
  get fingerprint(): string {
    const { named } = this;
    return this.files
      .map(({ count, fingerprint }, i) => {
        const { weight, resultShare } = named[i];
        const first = fingerprint.startsWith(`${count} `) ? "" : `first ${count} of `;
        const mixed = weight === undefined ? "" : ` x${weight}`;
        return `${first}${fingerprint}${mixed}${resultShare === undefined ? "" : ` result ${resultShare}`}`;
      })
      .join("; ");
  }

  /**
   * Batches of an epoch (from 0) from the one numbered `from` on: these two numbers are all a run must keep. An epoch has
   * `perEpoch` batches, or as many as all rows fill; it goes on where the last one stopped in each file, and only
   * whole batches are given. Without an epoch, all rows once in the order of the files, the last batch as small as it
   * is.
   */
  async *batches(options: { size: number; epoch?: number; perEpoch?: number; from?: number }): AsyncGenerator<B> {
    const { epoch, from = 0 } = options;
    const size = Math.max(1, Math.round(options.size / this.options.format.positionsPerRow)); // rows
    const { perEpoch = Math.max(1, Math.floor(this.rows / size)) } = options;
    const rows =
      epoch === undefined
        ? this.inOrder(size, from)
        : this.mixed(size, epoch * perEpoch + from, (epoch + 1) * perEpoch);
    yield* this.encoder.encode(rows);
  }

  async close(): Promise<void> {
    await this.encoder.close();
    for (const file of this.files) await file.close();
  }

  private async *inOrder(size: number, from: number): AsyncGenerator<RowBatch<S>> {
    const orders = this.files.map((file) => new RecordOrder(file, undefined, 64));
    const total = this.rows;
    const before = (rows: number) => {
      let first = 0; // of the file, among all
      return this.files.map(({ count }) => {
        const row = Math.max(0, Math.min(count, rows - first));
        first += count;
        return row;
      });
    };
    for (let number = from; number * size < total; number++)
      yield { parts: gather(orders, before(number * size), before((number + 1) * size)), number, shuffled: false };
  }

  /** The rows of a batch stand in the order of the files: for learning it makes no difference. */
  private async *mixed(size: number, from: number, to: number): AsyncGenerator<RowBatch<S>> {
    const { seed, shuffledRows = 65_536, format } = this.options;
    const shares = this.shares();
    const windowBlocks = Math.max(1, Math.round(shuffledRows / BLOCK));
    const orders = this.files.map((file, i) => {
      const orderSeed = format.orderSeed?.(seed, i) ?? mixSeed(seed, i);
      return new RecordOrder(file, orderSeed, windowBlocks);
    });
    for (let number = from; number < to; number++) {
      const parts = gather(orders, placesAt(shares, number * size), placesAt(shares, (number + 1) * size));
      yield { parts, number, shuffled: true };
    }
  }

  /** The part of each file in the mix. */
  private shares(): Share[] {
    const weights = this.named.map(({ weight }, i) => weight ?? this.files[i].count);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    if (!(total > 0) || weights.some((weight) => !(weight >= 0))) {
      throw new UserError("DATA_WEIGHTS", `the weights ${weights.join(", ")} of the files are no shares of a mix.`);
    }
    return weights.map((weight) => ({ weight, total }));
  }
}

interface Share {
  weight: number;
  total: number; // of all weights
}

/** The front of each file, so that there are no more than `limit` rows in all; 0 for all. */
function limited<S extends RandomRows>(files: readonly S[], limit: number): readonly S[] {
  const total = files.reduce((sum, { count }) => sum + count, 0);
  if (limit === 0 || total <= limit) return files;
  return files.map((file) => ({ ...file, count: Math.max(1, Math.floor((limit * file.count) / total)) }));
}

/** How many rows each file has given when `rows` were given in all. No memory is needed: it can be computed anywhere. */
function placesAt(shares: readonly Share[], rows: number): number[] {
  const counts = shares.map(({ weight, total }) => Math.floor((rows * weight) / total + 1e-9));
  // What rounding leaves goes to the largest, so that no other ever steps back.
  const largest = shares.reduce((best, { weight }, i) => (weight > shares[best].weight ? i : best), 0);
  counts[largest] += rows - counts.reduce((sum, each) => sum + each);
  return counts;
}

/** The rows of each file from one number to before another; files without any are left out. */
function gather<S extends RandomRows>(
  orders: readonly RecordOrder<S>[],
  from: readonly number[],
  to: readonly number[],
): FileRows<S>[] {
  return orders.flatMap((order, i) => {
    if (from[i] >= to[i]) return [];
    const rows = new GatheredRecords(to[i] - from[i]);
    order.gather(from[i], to[i], rows);
    return [{ file: order.source, rows }];
  });
}
