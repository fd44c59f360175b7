import { createScratch, type Scratch } from "#base";

const GATHERED = 1 << 18; // bytes kept of each bucket before they go to the disk

/**
 * Buckets into which records are sorted when they do not all fit into memory: each a file without a name, beside `near`.
 * A record is stored with its length before it.
 */
export class Buckets {
  private constructor(
    private readonly files: readonly Scratch[],
    private readonly gathered: readonly Uint8Array[],
    private readonly lengths: Uint32Array,
    private readonly counts: Float64Array,
  ) {}

  get length(): number {
    return this.files.length;
  }

  static async create(near: string, count: number): Promise<Buckets> {
    const files: Scratch[] = [];
    for (let i = 0; i < count; i++) files.push(await createScratch(near));
    const gathered = files.map(() => new Uint8Array(GATHERED));
    return new Buckets(files, gathered, new Uint32Array(count), new Float64Array(count));
  }

  /** Adds bytes[start..end) as one record. What it returns must be awaited, if it is a promise. */
  add(bucket: number, bytes: Uint8Array, start: number, end: number): Promise<void> | undefined {
    const size = end - start;
    this.counts[bucket]++;
    if (size + 4 > GATHERED) return this.addLarge(bucket, bytes.slice(start, end));
    const room = this.gathered[bucket];
    let at = this.lengths[bucket];
    if (at + size + 4 <= GATHERED) {
      room[at] = size;
      room[at + 1] = size >> 8;
      room[at + 2] = size >> 16;
      room[at + 3] = size >> 24;
      at += 4;
      for (let i = start; i < end; i++) room[at++] = bytes[i]; // for records of some 40 bytes faster than `set`
      this.lengths[bucket] = at;
      return undefined;
    }
    this.counts[bucket]--;
    const again = bytes.slice(start, end);
    return this.flush(bucket).then(() => this.add(bucket, again, 0, again.length));
  }

  private async addLarge(bucket: number, record: Uint8Array): Promise<void> {
    await this.flush(bucket);
    await this.files[bucket].write(new Uint8Array(Uint32Array.of(record.length).buffer));
    await this.files[bucket].write(record);
  }

  private async flush(bucket: number): Promise<void> {
    const length = this.lengths[bucket];
    this.lengths[bucket] = 0;
    if (length > 0) await this.files[bucket].write(this.gathered[bucket].subarray(0, length));
  }

  /** All of a bucket in memory, and where each record begins, its length not counted. */
  async take(bucket: number): Promise<{ bytes: Uint8Array; starts: Uint32Array; ends: Uint32Array }> {
    await this.flush(bucket);
    const file = this.files[bucket];
    const bytes = file.read(0, file.size);
    const count = this.counts[bucket];
    const starts = new Uint32Array(count);
    const ends = new Uint32Array(count);
    for (let i = 0, at = 0; i < count; i++) {
      const size = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
      starts[i] = at + 4;
      ends[i] = at = at + 4 + size;
    }
    await file.close();
    return { bytes, starts, ends };
  }

  async close(): Promise<void> {
    for (const file of this.files) await file.close().catch(() => {});
  }
}
