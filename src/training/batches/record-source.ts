import { concatBytes, createScratch, openRandom, type RandomBytes, type Scratch, UserError } from "#base";
import { core } from "#chess";
import {
  BagReader,
  badRecord,
  eachRecord,
  formatOf,
  joinRecords,
  openRawRecords,
  type RawBatch,
  type RawForm,
  refuseOtherRecords,
} from "#formats";

/** Rows of a file found by their number. */
export interface RandomRows {
  readonly path: string;
  readonly count: number;
  /** What tells this file from another: its size and a hash of parts of it. */
  readonly fingerprint: string;
  /** Rows `first` to before `first + count`. */
  read(first: number, count: number): RawBatch;
  close(): Promise<void>;
}

/** A file whose rows are its records, in the form they have there. */
export interface RecordSource extends RandomRows {
  readonly form: RawForm;
}

/** Records read at once, neighbours in the file; a source is read in such blocks, in any order. */
export const BLOCK = 256;

/**
 * Opens a file for reading its records in any order. A .bin or Bagz file is read where it lies; any other, or a compressed
 * one, is unpacked once into a file without a name beside `scratchNear`, which goes when we do.
 */
export async function openRecordSource(path: string, scratchNear = path): Promise<RecordSource> {
  const format = formatOf(path);
  if (format !== undefined) await refuseOtherRecords(path, format);
  const source =
    format === "bag" || format === "bagz"
      ? bagSource(await BagReader.open(path))
      : format === "bin" && path.toLowerCase().endsWith(".bin")
        ? packedSource(path, await openRandom(path))
        : await unpack(path, scratchNear);
  if (source.count > 0) return source;
  await source.close();
  throw new UserError("DATA_EMPTY", `${path}: there are no records in it.`);
}

export const FNV_START = 0x811c9dc5;

/** FNV-1a, to be begun with FNV_START. */
export const fnv = (hash: number, bytes: Uint8Array): number => {
  let result = hash;
  for (let i = 0; i < bytes.length; i++) result = Math.imul(result ^ bytes[i], 0x01000193);
  return result;
};

/** A hash over the first, the last and some other blocks. */
function fingerprintOf(count: number, read: (first: number, count: number) => RawBatch): string {
  let hash = FNV_START;
  const SAMPLES = 16;
  for (let i = 0; i < SAMPLES && count > 0; i++) {
    const first = Math.floor((i * Math.max(0, count - BLOCK)) / (SAMPLES - 1));
    hash = fnv(hash, read(first, Math.min(BLOCK, count - first)).bytes);
  }
  return `${count} records, ${(hash >>> 0).toString(16).padStart(8, "0")}`;
}

/** Where records of packed positions end, `size` positions to a row. */
export function packedEnds(count: number, size = 1): Uint32Array {
  const ends = new Uint32Array(count);
  for (let i = 0; i < count; i++) ends[i] = (i + 1) * size * core.RECORD_BYTES;
  return ends;
}

function packedSource(path: string, file: RandomBytes): RecordSource {
  if (file.size % core.RECORD_BYTES !== 0) {
    file.close();
    throw badRecord(
      "BIN_LENGTH",
      { path, record: Math.floor(file.size / core.RECORD_BYTES), byte: file.size - (file.size % core.RECORD_BYTES) },
      `the file has ${file.size} bytes, which is no whole number of 40-byte records.`,
    );
  }
  const count = file.size / core.RECORD_BYTES;
  const read = (first: number, length: number) => ({
    bytes: file.read(first * core.RECORD_BYTES, length * core.RECORD_BYTES),
    ends: packedEnds(length),
  });
  return {
    path,
    form: "packed",
    count,
    fingerprint: fingerprintOf(count, read),
    read,
    close: async () => file.close(),
  };
}

function bagSource(reader: BagReader): RecordSource {
  const read = (first: number, count: number) =>
    joinRecords(Array.from({ length: count }, (_, i) => reader.get(first + i)));
  const { path, length: count } = reader;
  return { path, form: "bag", count, fingerprint: fingerprintOf(count, read), read, close: async () => reader.close() };
}

/** Copies the records of any file to the disk. */
async function unpack(path: string, scratchNear: string): Promise<RecordSource> {
  const reader = await openRawRecords(path);
  const writer = new BlockWriter(scratchNear);
  try {
    for await (const batch of reader) {
      for (const record of eachRecord(batch)) if (writer.add(record.slice())) await writer.flush();
    }
    const blocks = await writer.finish();
    return { ...blocks, path, form: reader.form, fingerprint: fingerprintOf(blocks.count, blocks.read) };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Records on the disk, found by their numbers. */
export type BlockRecords = Pick<RandomRows, "count" | "read" | "close">;

/** Writes records to a file without a name; all that is kept in memory is where each block begins. */
export class BlockWriter {
  private readonly starts = [0];
  private held: Uint8Array[] = [];
  private count = 0;
  private scratch: Scratch | undefined; // not before there is something to write

  constructor(private readonly near: string) {}

  /** Takes a record, whose bytes must not change any more; true if it is time to flush. */
  add(record: Uint8Array): boolean {
    this.held.push(record);
    return ++this.count % BLOCK === 0;
  }

  /** Writes the block that is full. */
  async flush(): Promise<void> {
    this.scratch ??= await createScratch(this.near);
    await this.scratch.write(formatBlock(this.held));
    this.starts.push(this.scratch.size);
    this.held = [];
  }

  async finish(): Promise<BlockRecords> {
    if (this.held.length > 0) await this.flush();
    const { scratch, starts, count } = this;
    const readBlock = (block: number) => parseBlock(scratch!.read(starts[block], starts[block + 1] - starts[block]));
    const read = (first: number, length: number): RawBatch => {
      const records: Uint8Array[] = [];
      for (let block = Math.floor(first / BLOCK); block * BLOCK < first + length; block++) {
        const from = Math.max(0, first - block * BLOCK);
        records.push(...readBlock(block).slice(from, first + length - block * BLOCK));
      }
      return joinRecords(records);
    };
    return { count, read, close: async () => scratch?.close() };
  }

  async abort(): Promise<void> {
    await this.scratch?.close();
  }
}

/** A block: how many records, the length of each, then the records. */
function formatBlock(records: readonly Uint8Array[]): Uint8Array {
  const lengths = Uint32Array.from([records.length, ...records.map(({ length }) => length)]);
  return concatBytes([new Uint8Array(lengths.buffer), ...records]);
}

function parseBlock(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = view.getUint32(0, true);
  let at = 4 + 4 * count;
  return Array.from({ length: count }, (_, i) => {
    const end = at + view.getUint32(4 + 4 * i, true);
    const record = bytes.subarray(at, end);
    at = end;
    return record;
  });
}
