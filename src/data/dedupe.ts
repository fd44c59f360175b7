import { UserError } from "#base";
import { createRawRecords, openRawRecords, type RawBatch, type RawReader } from "#formats";
import { Buckets } from "./buckets.js";
import { KeyTable } from "./key-table.js";
import { positionKeys } from "./position-keys.js";

/** The memory that finding repeated positions may take, and who is told. */
export interface DedupeOptions {
  memoryBytes: number; // for one bucket of keys; the marks take a bit for each record besides
  signal: AbortSignal;
  onProgress(state: { stage: "read" | "write"; done: number; total: number | undefined; records: number }): void;
}

const ENTRY_BYTES = 100; // of memory for each key in a bucket: its record and its place in a table

/**
 * Keeps the first of all records with the same position, in the order of the file. Keys and record numbers are sorted
 * into buckets on the disk by key, so that one bucket at a time tells which of its records came before; the file is read
 * twice. Two positions with the same 64-bit key would be taken for one: among a billion, some chance in forty.
 */
export async function dedupeRecords(
  from: string,
  to: string,
  { memoryBytes, signal, onProgress }: DedupeOptions,
): Promise<{ records: number; kept: number }> {
  if (from === "-") throw new UserError("DEDUPE_PIPE", "a pipe cannot be read twice; give dedupe a file.");
  const reader = await openRawRecords(from);
  const buckets = await Buckets.create(to, bucketCount(reader, memoryBytes));
  let records = 0;
  let repeated: Uint8Array;
  try {
    for await (const batch of reader) {
      signal.throwIfAborted();
      await spreadKeys(positionKeys(batch, reader.form, from, records), records, buckets);
      records += batch.ends.length;
      onProgress({ stage: "read", done: reader.progress, total: reader.size, records });
    }
    repeated = new Uint8Array(Math.ceil(records / 8));
    for (let bucket = 0; bucket < buckets.length; bucket++) {
      signal.throwIfAborted();
      await markRepeated(buckets, bucket, repeated);
    }
  } finally {
    await buckets.close();
  }

  const again = await openRawRecords(from);
  const writer = await createRawRecords(to, again.form, from);
  let kept = 0;
  try {
    let first = 0;
    for await (const batch of again) {
      signal.throwIfAborted();
      const left = without(batch, repeated, first);
      first += batch.ends.length;
      kept += left.ends.length;
      await writer.write(left);
      onProgress({ stage: "write", done: again.progress, total: again.size, records: first });
    }
    if (kept === 0) throw new UserError("RECORDS_NONE", `${from}: there is no record in it, so nothing was written.`);
    await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  }
  return { records, kept };
}

/** As many buckets as keep each within its memory, if no record is smaller than 30 bytes. */
function bucketCount({ size, form, path }: RawReader, memoryBytes: number): number {
  if (size === undefined) return 64;
  const growth = form === "bag" ? 30 : /\.(zst|gz|bz2)$/i.test(path) ? 12 : /\.(binpack|parquet)$/i.test(path) ? 15 : 1;
  return Math.min(4096, Math.max(1, Math.ceil(((size * growth) / 30) * (ENTRY_BYTES / memoryBytes))));
}

async function spreadKeys(keys: Uint32Array, first: number, buckets: Buckets): Promise<void> {
  const entry = new Uint8Array(16);
  const view = new DataView(entry.buffer);
  for (let i = 0; i < keys.length; i += 2) {
    view.setUint32(0, keys[i], true);
    view.setUint32(4, keys[i + 1], true);
    view.setFloat64(8, first + (i >> 1), true);
    const full = buckets.add(keys[i + 1] % buckets.length, entry, 0, 16);
    if (full) await full;
  }
}

async function markRepeated(buckets: Buckets, bucket: number, repeated: Uint8Array): Promise<void> {
  const { bytes, starts } = await buckets.take(bucket);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const seen = new KeyTable();
  for (const start of starts) {
    if (seen.add(view.getUint32(start, true), view.getUint32(start + 4, true))) continue;
    const record = view.getFloat64(start + 8, true);
    repeated[Math.floor(record / 8)] |= 1 << (record % 8);
  }
}

/** The records of a batch that are not marked. */
function without({ bytes, ends }: RawBatch, marks: Uint8Array, first: number): RawBatch {
  const kept = new Uint8Array(bytes.length);
  const keptEnds = new Uint32Array(ends.length);
  let count = 0;
  let end = 0;
  let start = 0;
  for (let i = 0; i < ends.length; i++) {
    const record = first + i;
    if (!(marks[Math.floor(record / 8)] & (1 << (record % 8)))) {
      kept.set(bytes.subarray(start, ends[i]), end);
      end += ends[i] - start;
      keptEnds[count++] = end;
    }
    start = ends[i];
  }
  return { bytes: kept.subarray(0, end), ends: keptEnds.subarray(0, count) };
}
