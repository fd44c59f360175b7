// DeepMind's Bagz: docs/formats/bagz.md. Records of any kind in one or several files, found by their number.
import {
  commitAll,
  createOutput,
  type Output,
  openRandom,
  type Pending,
  type RandomBytes,
  removeFile,
  UserError,
} from "#base";
import { explainShard, shardPaths } from "./shards.js";
import { decodeFrame, encodeFrame } from "./zstd-frame.js";

const INDEX_IN_MEMORY = 1 << 23; // records; the index of a longer file (64 MB) stays on the disk

const damaged = (path: string, problem: string) =>
  new UserError("BAGZ_FILE", `${path}: ${problem} Copy or download it again, or check that it is a Bagz file.`);

/** The file beside a Bagz file where its offsets may stand apart ("separate limits"). */
const limitsPath = (path: string) => path.replace(/[^/\\]*$/, (name) => `limits.${name}`);

/** One file of records. */
class Bag {
  readonly length: number;
  private readonly recordsEnd: number;
  private readonly indexStart: number;
  private index: Uint8Array | undefined;

  constructor(
    readonly path: string,
    private readonly file: RandomBytes,
    private readonly limits = file, // where the offsets stand
  ) {
    const { size } = file;
    if (limits !== file) {
      if (limits.size % 8 !== 0)
        throw damaged(limitsPath(path), `has ${limits.size} bytes of offsets, not a multiple of 8.`);
      this.indexStart = 0;
      this.recordsEnd = size;
      this.length = limits.size / 8;
      return;
    }
    if (size === 0) {
      // DeepMind's writer leaves an empty file if there are no records.
      this.indexStart = 0;
      this.recordsEnd = 0;
      this.length = 0;
      return;
    }
    if (size < 8) throw damaged(path, `has ${size} bytes, too few for a Bagz file.`);
    const start = read64(file.read(size - 8, 8), 0);
    if (start > size - 8) throw damaged(path, `says its index starts at byte ${start}, but it ends at byte ${size}.`);
    if ((size - start) % 8 !== 0) throw damaged(path, `has an index of ${size - start} bytes, not a multiple of 8.`);
    this.indexStart = start;
    this.recordsEnd = start;
    this.length = (size - start) / 8;
  }

  get size(): number {
    return this.file.size;
  }

  /** The bytes of a record as they are stored. */
  get(record: number): Uint8Array {
    const start = record === 0 ? 0 : this.endOf(record - 1);
    const end = this.endOf(record);
    this.checkRange(record, start, end);
    return this.file.read(start, end - start);
  }

  private endOf(record: number): number {
    if (this.length > INDEX_IN_MEMORY) return read64(this.limits.read(this.indexStart + record * 8, 8), 0);
    this.index ??= this.limits.read(this.indexStart, this.length * 8);
    return read64(this.index, record * 8);
  }

  /** Stored bytes of the records from `first` to before `end`, read in large pieces. */
  *range(first: number, end: number): Generator<Uint8Array> {
    const GROUP = 8192;
    let start = first === 0 ? 0 : read64(this.limits.read(this.indexStart + (first - 1) * 8, 8), 0);
    for (let group = first; group < end; group += GROUP) {
      const count = Math.min(GROUP, end - group);
      const index = this.limits.read(this.indexStart + group * 8, count * 8);
      const limit = read64(index, (count - 1) * 8);
      this.checkRange(group, start, limit);
      const data = this.file.read(start, limit - start);
      const base = start;
      for (let i = 0; i < count; i++) {
        const stop = read64(index, i * 8);
        if (stop < start || stop > limit) throw this.outside(group + i, start, stop);
        yield data.subarray(start - base, stop - base);
        start = stop;
      }
    }
  }

  close(): void {
    this.file.close();
    if (this.limits !== this.file) this.limits.close();
  }

  private checkRange(record: number, start: number, end: number): void {
    if (end < start || end > this.recordsEnd) throw this.outside(record, start, end);
  }

  private outside(record: number, start: number, end: number): UserError {
    return damaged(
      this.path,
      `record ${record} should lie between bytes ${start} and ${end}, but the records end at byte ${this.recordsEnd}.`,
    );
  }
}

/** A number of 64 bits, little-endian; one beyond 2^53 comes out as larger than any file. */
function read64(bytes: Uint8Array, at: number): number {
  const low = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  const high = bytes[at + 4] | (bytes[at + 5] << 8) | (bytes[at + 6] << 16) | (bytes[at + 7] << 24);
  return (high >>> 0) * 2 ** 32 + (low >>> 0);
}

/** Bagz files read in any order, by record number, over all shards. */
export class BagReader {
  readonly length: number;
  /** Bytes of all files. */
  readonly size: number;

  private constructor(
    readonly path: string,
    private readonly bags: readonly Bag[],
    private readonly compressed: boolean,
  ) {
    this.length = bags.reduce((sum, bag) => sum + bag.length, 0);
    this.size = bags.reduce((sum, bag) => sum + bag.size, 0);
  }

  static async open(path: string): Promise<BagReader> {
    const bags: Bag[] = [];
    try {
      const paths = shardPaths(path);
      for (const [i, shard] of paths.entries()) {
        const file = await openRandom(shard).catch((error: unknown) => {
          throw explainShard(error, path, i, paths);
        });
        const limits = await openRandom(limitsPath(shard)).catch(() => undefined);
        bags.push(new Bag(shard, file, limits));
      }
      return new BagReader(path, bags, path.endsWith(".bagz"));
    } catch (error) {
      for (const bag of bags) bag.close();
      throw error;
    }
  }

  /** The content of a record, 0 .. length - 1, of all shards one after the other. */
  get(record: number): Uint8Array {
    let at = record;
    for (const bag of this.bags) {
      if (at < bag.length) return this.unpack(bag.get(at));
      at -= bag.length;
    }
    throw new RangeError(`record ${record} of ${this.length}`);
  }

  /** The contents in order; a frame that is damaged comes as its error. */
  *contents(): Generator<Uint8Array | UserError> {
    for (const bag of this.bags) {
      for (const bytes of bag.range(0, bag.length)) {
        try {
          yield this.unpack(bytes);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          yield error;
        }
      }
    }
  }

  private unpack(bytes: Uint8Array): Uint8Array {
    return this.compressed && bytes.length > 0 ? decodeFrame(bytes) : bytes;
  }

  close(): void {
    for (const bag of this.bags) bag.close();
  }
}

/**
 * Writes records of bytes. A sharded name spreads them evenly over its files, in order; as their number is known only at the
 * end, they wait in a file of their own until then.
 */
export class BagWriter implements Pending {
  private readonly lengths: Uint32Array[] = []; // stored bytes of each record
  private files: readonly Output[] = []; // once they are finished
  private count = 0;

  private constructor(
    private readonly path: string,
    private readonly shards: readonly string[],
    private readonly compressed: boolean,
    private readonly output: Output,
  ) {}

  static async create(path: string): Promise<BagWriter> {
    const shards = shardPaths(path);
    const spool = shards.length === 1 ? path : `${path}.unsharded`;
    return new BagWriter(path, shards, path.endsWith(".bagz"), await createOutput(spool));
  }

  get records(): number {
    return this.count;
  }

  add(content: Uint8Array): Promise<void> | undefined {
    const stored = this.compressed && content.length > 0 ? encodeFrame(content) : content;
    if (this.count % 65536 === 0) this.lengths.push(new Uint32Array(65536));
    this.lengths[this.lengths.length - 1][this.count++ % 65536] = stored.length;
    return this.output.write(stored);
  }

  async finish(): Promise<void> {
    if (this.files.length > 0) return;
    if (this.shards.length === 1) {
      await this.writeIndex(this.output, 0, this.count);
      await this.output.finish();
      this.files = [this.output];
      return;
    }
    await this.output.commit();
    const written: Output[] = [];
    const spool = await openRandom(this.output.path);
    try {
      let at = 0;
      let first = 0;
      for (const [i, shard] of this.shards.entries()) {
        const end = Math.round((this.count * (i + 1)) / this.shards.length);
        const output = await createOutput(shard);
        written.push(output);
        let bytes = 0;
        for (let record = first; record < end; record++) bytes += this.lengthOf(record);
        for (let done = 0; done < bytes; done += 1 << 20) {
          await output.write(spool.read(at + done, Math.min(1 << 20, bytes - done)));
        }
        await this.writeIndex(output, first, end);
        at += bytes;
        first = end;
      }
      for (const output of written) await output.finish();
      this.files = written;
    } catch (error) {
      for (const output of written) await output.abort();
      throw error;
    } finally {
      spool.close();
      await removeFile(this.output.path);
    }
  }

  async commit(): Promise<void> {
    await this.finish();
    await commitAll(this.files);
  }

  private lengthOf(record: number): number {
    return this.lengths[Math.floor(record / 65536)][record % 65536];
  }

  /** End offsets of the records, and last where they start; that is where the last record ends. */
  private async writeIndex(output: Output, first: number, end: number): Promise<void> {
    let offset = 0;
    for (let group = first; group < end; group += 8192) {
      const count = Math.min(8192, end - group);
      const index = new DataView(new ArrayBuffer(count * 8));
      for (let i = 0; i < count; i++) {
        offset += this.lengthOf(group + i);
        index.setUint32(i * 8, offset % 2 ** 32, true);
        index.setUint32(i * 8 + 4, Math.floor(offset / 2 ** 32), true);
      }
      await output.write(new Uint8Array(index.buffer));
    }
  }

  async abort(): Promise<void> {
    for (const file of [this.output, ...this.files]) await file.abort();
  }
}
