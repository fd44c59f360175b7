// Batches for training, made by worker threads while the network learns. Nothing here depends on who is ready first: what
// a batch holds follows from the seed and its number alone, so that a run goes on exactly where it stopped.
import { mixSeed, readText, UserError, WorkerPool } from "#base";
import { MOVE_TABLE_NAMES, type MoveTableName } from "#encodings";
import { badRecord } from "#formats";
import type { BatchEncoding, BatchKinds } from "./batch-encoder.js";
import type { BatchRows, FileNotes } from "./batch-rows.js";
import { type DataSource, parseSource } from "./data-source.js";
import { GatheredRecords, RecordOrder } from "./record-order.js";
import { BLOCK, openRecordSource, type RecordSource, windowsOf } from "./record-source.js";

export interface BatchOptions<E extends BatchEncoding = BatchEncoding> {
  /** Files, as `parseSource` reads them; without weights, each record is as likely as any other. */
  sources: readonly (string | DataSource)[];
  encoding: E;
  seed: number;
  shuffleRecords?: number; // records shuffled at once, of blocks from all over the file; 65,536 if not said
  limit?: number; // records taken at most, from the front of each file as its size has it; 0 for all
  workers?: number; // 1 if not said
  scratch?: string; // a file beside which there is room for what has to be unpacked; the source itself if not said
}

interface Mixed {
  order: RecordOrder;
  share: number; // of the rows
}

/** Shuffled, mixed, encoded batches of some files. Training and validation are two of these, over different files. */
export class Batches<E extends BatchEncoding = BatchEncoding> {
  private constructor(
    private readonly options: BatchOptions<E>,
    private readonly named: readonly DataSource[],
    private readonly sources: readonly RecordSource[],
    private readonly pool: WorkerPool,
  ) {}

  static async open<E extends BatchEncoding>(options: BatchOptions<E>): Promise<Batches<E>> {
    const sources: RecordSource[] = [];
    const pool = new WorkerPool("training/batches/batch-worker", options.workers ?? 1);
    try {
      const files: Record<string, FileNotes> = {};
      const named = options.sources.map((source) => (typeof source === "string" ? parseSource(source) : source));
      if (named.length === 0) throw new UserError("DATA_NONE", "no file of records was given to train on.");
      for (const { path, resultShare } of named) {
        const source = await openRecordSource(path, options.scratch ?? path);
        sources.push(source);
        if (options.encoding.kind === "windows") sources[sources.length - 1] = windowsOf(source, options.encoding);
        files[path] = { moves: await moveTableOf(path), resultShare };
      }
      await pool.tell("configure", { encoding: options.encoding, files });
      return new Batches(options, named, limited(sources, Math.ceil((options.limit ?? 0) / contextOf(options))), pool);
    } catch (error) {
      await pool.close();
      for (const source of sources) await source.close();
      throw error;
    }
  }

  /** Records in all files; an epoch has so many. */
  get positions(): number {
    return this.rows * contextOf(this.options);
  }

  private get rows(): number {
    return this.sources.reduce((sum, { count }) => sum + count, 0);
  }

  /** Another for other files, another mix or another order. */
  get fingerprint(): string {
    const { named } = this;
    return this.sources
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
   * `perEpoch` batches, or as many as all records fill; it goes on where the last one stopped in each file, and only
   * whole batches are given. Without an epoch, all records once in the order of the files, the last batch as small as it
   * is.
   */
  async *batches(options: {
    size: number;
    epoch?: number;
    perEpoch?: number;
    from?: number;
  }): AsyncGenerator<BatchKinds[E["kind"]]> {
    const { epoch, from = 0 } = options;
    const context = contextOf(this.options);
    const size = Math.max(1, Math.round(options.size / context)); // rows
    const { perEpoch = Math.max(1, Math.floor(this.rows / size)) } = options;
    const asked: BatchParts[] = []; // on their way, for messages
    const questions =
      epoch === undefined
        ? this.inOrder(size, from)
        : this.mixed(size, epoch * perEpoch + from, (epoch + 1) * perEpoch);
    const noted = async function* () {
      for await (const parts of questions) {
        asked.push(parts);
        yield formatQuestion(parts);
      }
    };
    for await (const answer of this.pool.map<Answer<E>>("encode", noted())) {
      const parts = asked.shift();
      if (answer.bad) throw explain(answer.bad, parts?.parts ?? [], context);
      yield answer.arrays;
    }
  }

  async close(): Promise<void> {
    await this.pool.close();
    for (const source of this.sources) await source.close();
  }

  private async *inOrder(size: number, from: number): AsyncGenerator<BatchParts> {
    const orders = this.sources.map((source) => new RecordOrder(source, undefined, 64));
    const total = this.rows;
    for (let start = from * size, batch = from; start < total; start += size, batch++) {
      const parts: BatchPart[] = [];
      let first = 0; // of the source, among all
      for (const order of orders) {
        const { count, path, form } = order.source;
        const begin = Math.max(0, start - first);
        const end = Math.min(count, start + size - first);
        if (begin < end) {
          const rows = new GatheredRecords(end - begin);
          order.gather(begin, end, rows);
          parts.push({ path, form, rows });
        }
        first += count;
      }
      yield { parts, seed: mixSeed(this.options.seed, batch), shuffled: false };
    }
  }

  /** The rows of a batch stand in the order of the files: for learning it makes no difference. */
  private async *mixed(size: number, from: number, to: number): AsyncGenerator<BatchParts> {
    const { seed, shuffleRecords = 65_536 } = this.options;
    const mix = this.mix(Math.max(1, Math.round(shuffleRecords / BLOCK)));
    for (let batch = from; batch < to; batch++) {
      const before = placesAt(mix, batch * size);
      const after = placesAt(mix, (batch + 1) * size);
      const parts: BatchPart[] = [];
      mix.forEach(({ order }, i) => {
        if (before[i] === after[i]) return;
        const rows = new GatheredRecords(after[i] - before[i]);
        order.gather(before[i], after[i], rows);
        parts.push({ path: order.source.path, form: order.source.form, rows });
      });
      yield { parts, seed: mixSeed(seed, batch, 2), shuffled: true };
    }
  }

  private mix(windowBlocks: number): Mixed[] {
    const { seed } = this.options;
    const weights = this.named.map(({ weight }, i) => weight ?? this.sources[i].count);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    if (!(total > 0) || weights.some((weight) => !(weight >= 0))) {
      throw new UserError("DATA_WEIGHTS", `the weights ${weights.join(", ")} of the files are no shares of a mix.`);
    }
    return this.sources.map((source, i) => ({
      order: new RecordOrder(source, mixSeed(seed, i), windowBlocks),
      share: weights[i] / total,
    }));
  }
}

/** Records in a row. */
const contextOf = ({ encoding }: BatchOptions): number => (encoding.kind === "windows" ? encoding.context : 1);

/** The front of each file, so that there are no more than `limit` rows in all; 0 for all. */
function limited(sources: readonly RecordSource[], limit: number): readonly RecordSource[] {
  const total = sources.reduce((sum, { count }) => sum + count, 0);
  if (limit === 0 || total <= limit) return sources;
  return sources.map((source) => ({ ...source, count: Math.max(1, Math.floor((limit * source.count) / total)) }));
}

/** How many rows each file has given when `rows` were given in all. No memory is needed: it can be computed anywhere. */
function placesAt(mix: readonly Mixed[], rows: number): number[] {
  const places = mix.map(({ share }) => Math.floor(rows * share + 1e-9));
  // What rounding leaves goes to the largest, so that no other ever steps back.
  const largest = mix.reduce((best, { share }, i) => (share > mix[best].share ? i : best), 0);
  places[largest] = rows - places.reduce((sum, place, i) => (i === largest ? sum : sum + place), 0);
  return places;
}

/** Records of one file in a batch. */
interface BatchPart {
  path: string;
  form: RecordSource["form"];
  rows: GatheredRecords;
}
interface BatchParts {
  parts: BatchPart[];
  seed: number;
  shuffled: boolean;
}
type Answer<E extends BatchEncoding> =
  | { arrays: BatchKinds[E["kind"]]; bad?: undefined }
  | { bad: { row: number; problem: string } };

/** The question to a worker; the records are handed over, not copied. */
function formatQuestion({ parts, seed, shuffled }: BatchParts) {
  const rows = parts.map(({ path, form, rows: { batch } }) => ({ path, form, batch }) satisfies BatchRows);
  return {
    argument: { rows, seed, shuffled },
    transfer: rows.flatMap(({ batch }) => [batch.bytes.buffer, batch.ends.buffer]),
  };
}

/** A bad row by its file and number there. */
function explain(
  { row, problem }: { row: number; problem: string },
  parts: readonly BatchPart[],
  context: number,
): UserError {
  let left = row;
  for (const { path, rows } of parts) {
    if (left < rows.numbers.length) {
      const advice = `Leave such records out with: tabiya data convert ${path} -o NEW`;
      return badRecord("DATA_RECORD", { path, record: rows.numbers[left] * context }, `${problem}\n${advice}`);
    }
    left -= rows.numbers.length;
  }
  throw new Error(`internal: row ${row} is in no file`);
}

/** The table of a file with move numbers, from what stands beside it. */
async function moveTableOf(path: string): Promise<MoveTableName | undefined> {
  if (!/\.(jsonl|parquet)/.test(path)) return undefined;
  const text = await readText(`${path}.meta.json`).catch(() => "{}");
  const { moves } = JSON.parse(text) as { moves?: string };
  return MOVE_TABLE_NAMES.find((name) => name === moves);
}
