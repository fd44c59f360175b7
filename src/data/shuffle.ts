import { Random, UserError } from "#base";
import { createRawRecords, openRawRecords, type RawBatch, type RawReader } from "#formats";
import { Buckets } from "./buckets.js";

export interface ShuffleOptions {
  seed: number; // the same seed and the same file give the same order
  memoryBytes: number; // what a bucket may take; the whole takes some four times that
  signal: AbortSignal;
  onProgress(state: { stage: "spread" | "gather"; done: number; total: number | undefined; records: number }): void;
}

const BATCH = 8192; // records written at once

/**
 * Puts the records of a file into a random order, every order being equally likely, however large the file is: each
 * record is put into a bucket at random; then the buckets are shuffled in memory, one after the other.
 */
export async function shuffleRecords(
  from: string,
  to: string,
  { seed, memoryBytes, signal, onProgress }: ShuffleOptions,
): Promise<{ records: number }> {
  const reader = await openRawRecords(from);
  const writer = await createRawRecords(to, reader.form, from);
  const random = new Random(seed);
  const buckets = await Buckets.create(to, bucketCount(reader, memoryBytes));
  let records = 0;
  try {
    for await (const batch of reader) {
      signal.throwIfAborted();
      await spread(batch, buckets, random);
      records += batch.ends.length;
      onProgress({ stage: "spread", done: reader.progress, total: reader.size, records });
    }
    let done = 0;
    for (let bucket = 0; bucket < buckets.length; bucket++) {
      const { bytes, starts, ends } = await buckets.take(bucket);
      const order = random.shuffle(Uint32Array.from(starts.keys()));
      for (let first = 0; first < order.length; first += BATCH) {
        signal.throwIfAborted();
        await writer.write(gather(bytes, starts, ends, order.subarray(first, first + BATCH)));
      }
      done += order.length;
      onProgress({ stage: "gather", done, total: records, records });
    }
    if (done === 0) throw new UserError("RECORDS_NONE", `${from}: there is no record in it, so nothing was written.`);
    await writer.commit();
    return { records };
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    await buckets.close();
  }
}

/** How many buckets keep each within its memory. Of a compressed file, the size is a guess on the safe side. */
function bucketCount(reader: RawReader, memoryBytes: number): number {
  const { size, form, path } = reader;
  if (size === undefined) return 64; // a pipe: enough for some ten gigabytes
  const growth =
    form === "bag" ? 200 : /\.(zst|gz|bz2)$/i.test(path) ? 12 : /\.(binpack|parquet)$/i.test(path) ? 20 : 1.2;
  const count = Math.ceil((size * growth) / memoryBytes);
  if (count > 4096) {
    throw new UserError(
      "SHUFFLE_MEMORY",
      `${path}: so large a file needs ${count} buckets on the disk, more than 4096. Allow more memory for it.`,
    );
  }
  return Math.max(1, count);
}

async function spread({ bytes, ends }: RawBatch, buckets: Buckets, random: Random): Promise<void> {
  let start = 0;
  for (let i = 0; i < ends.length; i++) {
    const bucket = buckets.length === 1 ? 0 : random.below(buckets.length);
    const full = buckets.add(bucket, bytes, start, ends[i]);
    if (full) await full;
    start = ends[i];
  }
}

/** Some records in a given order, as one batch. */
function gather(bytes: Uint8Array, starts: Uint32Array, ends: Uint32Array, order: Uint32Array): RawBatch {
  let length = 0;
  for (let i = 0; i < order.length; i++) length += ends[order[i]] - starts[order[i]];
  const out = new Uint8Array(length);
  const outEnds = new Uint32Array(order.length);
  let end = 0;
  for (let i = 0; i < order.length; i++) {
    const stop = ends[order[i]];
    for (let at = starts[order[i]]; at < stop; at++) out[end++] = bytes[at];
    outEnds[i] = end;
  }
  return { bytes: out, ends: outEnds };
}
