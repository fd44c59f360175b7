import { Random, UserError } from "#base";
import { createRawRecords, openRawRecords, type RawBatch, type RawReader } from "#formats";
import { Buckets } from "./buckets.js";

export interface ShuffleOptions {
  seed: number; // the same seed and the same file give the same order
  memoryBytes: number; // what a heap may take; the whole takes some four times that
  signal: AbortSignal;
  onProgress(state: { stage: "spread" | "gather"; done: number; total: number | undefined; records: number }): void;
}

const BATCH = 8192; // records written at once

/**
 * Puts the records of a file into a random order, every order being equally likely, however large the file is: each
 * record is thrown onto a heap at random; then the heaps are shuffled in memory, one after the other.
 */
export async function shuffleRecords(
  from: string,
  to: string,
  { seed, memoryBytes, signal, onProgress }: ShuffleOptions,
): Promise<{ records: number }> {
  const reader = await openRawRecords(from);
  const writer = await createRawRecords(to, reader.form, from);
  const random = new Random(seed);
  const heaps = await Buckets.create(to, heapCount(reader, memoryBytes));
  let records = 0;
  try {
    for await (const batch of reader) {
      signal.throwIfAborted();
      await spread(batch, heaps, random);
      records += batch.ends.length;
      onProgress({ stage: "spread", done: reader.progress, total: reader.size, records });
    }
    let done = 0;
    for (let heap = 0; heap < heaps.length; heap++) {
      const { bytes, starts, ends } = await heaps.take(heap);
      const order = random.shuffle(Uint32Array.from(starts.keys()));
      for (let first = 0; first < order.length; first += BATCH) {
        signal.throwIfAborted();
        await writer.write(gather(bytes, starts, ends, order.subarray(first, first + BATCH)));
      }
      done += order.length;
      onProgress({ stage: "gather", done, total: records, records });
    }
    await writer.commit();
    return { records };
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    await heaps.close();
  }
}

/** How many heaps keep each within its memory. Of a compressed file, the size is a guess on the safe side. */
function heapCount(reader: RawReader, memoryBytes: number): number {
  const { size, form, path } = reader;
  if (size === undefined) return 64; // a pipe: enough for some ten gigabytes
  const growth =
    form === "bag" ? 200 : /\.(zst|gz|bz2)$/i.test(path) ? 12 : /\.(binpack|parquet)$/i.test(path) ? 20 : 1.2;
  const count = Math.ceil((size * growth) / memoryBytes);
  if (count > 4096) {
    throw new UserError(
      "SHUFFLE_MEMORY",
      `${path}: so large a file needs ${count} heaps on the disk, more than 4096. Allow more memory with --memory.`,
    );
  }
  return Math.max(1, count);
}

async function spread({ bytes, ends }: RawBatch, heaps: Buckets, random: Random): Promise<void> {
  let start = 0;
  for (let i = 0; i < ends.length; i++) {
    const heap = heaps.length === 1 ? 0 : random.below(heaps.length);
    const full = heaps.add(heap, bytes, start, ends[i]);
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
