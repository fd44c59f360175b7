// Records as bytes: for work that moves records about without looking into them, such as shuffling.
import { type ByteSource, concatBytes, createOutput, openBytes, type Pending, readText, UserError } from "#base";
import { core } from "#chess";
import { BagReader, BagWriter } from "./bagz.js";
import { encodeChunk, readBinpackBytes } from "./binpack.js";
import { createRecords, formatOf, openRecords, refuseOtherRecords } from "./open.js";
import { readPackedBytes } from "./packed-sfen.js";
import { badRecord, type DataRecord } from "./record.js";
import { sidecarOf, withSidecar } from "./sidecar.js";

const { RECORD_BYTES } = core;

/**
 * What the bytes of a record are: a .bin record of 40 bytes, a line of JSON without its end, or the content of a Bagz
 * record. Formats that are none of these (.plain, Parquet, bullet) come as lines.
 */
export type RawForm = "packed" | "line" | "bag";

/** Records one behind the other; record i ends before `ends[i]`, where the next begins. */
export interface RawBatch {
  bytes: Uint8Array;
  ends: Uint32Array;
}

/** Records as their bytes, in batches: the fast way from file to file. */
export interface RawReader extends AsyncIterable<RawBatch> {
  readonly path: string;
  readonly form: RawForm;
  readonly size: number | undefined; // bytes on the disk, or records where nothing else is known
  readonly progress: number; // how much of `size` was read
}

/** Writes records as their bytes; nothing is seen of the file before `commit`. */
export interface RawWriter extends Pending {
  write(batch: RawBatch): Promise<void>;
}

const encoder = new TextEncoder();

/** Many records in one batch. */
export function joinRecords(records: readonly Uint8Array[]): RawBatch {
  const ends = new Uint32Array(records.length);
  let end = 0;
  for (let i = 0; i < records.length; i++) ends[i] = end += records[i].length;
  return { bytes: concatBytes(records), ends };
}

function packedBatch(bytes: Uint8Array): RawBatch {
  const ends = new Uint32Array(bytes.length / RECORD_BYTES);
  for (let i = 0; i < ends.length; i++) ends[i] = (i + 1) * RECORD_BYTES;
  return { bytes, ends };
}

async function* packedBatches(source: AsyncIterable<Uint8Array>): AsyncGenerator<RawBatch> {
  for await (const bytes of source) yield packedBatch(bytes);
}

const NEWLINE = 10;

/** The lines of a file of JSON, empty ones left out. That each is an object is seen only by its braces. */
async function* lineBatches(source: ByteSource): AsyncGenerator<RawBatch> {
  let held: Uint8Array = new Uint8Array(0);
  let line = 0;
  const split = (text: Uint8Array): RawBatch => {
    const bytes = new Uint8Array(text.length);
    const ends: number[] = [];
    let end = 0;
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf(NEWLINE, at);
      let stop = next < 0 ? text.length : next;
      const following = next < 0 ? text.length : next + 1;
      line++;
      while (stop > at && text[stop - 1] <= 32) stop--;
      if (stop > at) {
        if (text[at] !== 123 || text[stop - 1] !== 125) {
          const start = new TextDecoder().decode(text.subarray(at, Math.min(stop, at + 40)));
          throw badRecord(
            "JSONL_LINE",
            { path: source.path, line },
            `it is ${JSON.stringify(start)}, expected an object {"fen": ...}.`,
          );
        }
        bytes.set(text.subarray(at, stop), end);
        end += stop - at;
        ends.push(end);
      }
      at = following;
    }
    return { bytes: bytes.subarray(0, end), ends: Uint32Array.from(ends) };
  };
  for await (const chunk of source) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      yield split(concatBytes([held, chunk.subarray(0, end)]));
      held = chunk.slice(end);
    } else held = concatBytes([held, chunk]);
  }
  if (held.length > 0) yield split(held);
}

async function* bagBatches(reader: BagReader, count: (records: number) => void): AsyncGenerator<RawBatch> {
  const GROUP = 1024;
  try {
    let records: Uint8Array[] = [];
    let done = 0;
    for (const content of reader.contents()) {
      if (content instanceof UserError)
        throw badRecord(content.code, { path: reader.path, record: done }, content.message);
      records.push(content);
      count(++done);
      if (records.length < GROUP) continue;
      yield joinRecords(records);
      records = [];
    }
    if (records.length > 0) yield joinRecords(records);
  } finally {
    reader.close();
  }
}

/** Opens a file of records by its name, for reading them as bytes. Any damage is an error. */
export async function openRawRecords(path: string): Promise<RawReader> {
  const format = formatOf(path);
  if (format !== undefined) await refuseOtherRecords(path, format);
  if (format === "bin" || format === "binpack" || format === "jsonl") {
    const source = await openBytes(path);
    const batches =
      format === "jsonl"
        ? lineBatches(source)
        : packedBatches(format === "bin" ? readPackedBytes(source) : readBinpackBytes(source));
    return {
      path,
      form: format === "jsonl" ? "line" : "packed",
      size: source.size,
      get progress() {
        return source.bytesRead;
      },
      [Symbol.asyncIterator]: () => batches,
    };
  }
  if (format === "bag" || format === "bagz") {
    const reader = await BagReader.open(path);
    let done = 0;
    return {
      path,
      form: "bag",
      size: reader.length,
      get progress() {
        return done;
      },
      [Symbol.asyncIterator]: () => bagBatches(reader, (records) => (done = records)),
    };
  }
  const records = await openRecords(path);
  return {
    path,
    form: "line",
    size: records.size,
    get progress() {
      return records.bytesRead;
    },
    async *[Symbol.asyncIterator]() {
      for await (const batch of records) yield joinRecords(batch.map((each) => encoder.encode(JSON.stringify(each))));
    },
  };
}

/** The records of a batch, as views. */
export function* eachRecord({ bytes, ends }: RawBatch): Generator<Uint8Array> {
  let start = 0;
  for (const end of ends) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

const CHUNK_BYTES = 32_768 * RECORD_BYTES; // of a .binpack, before it is packed

/** Starts a file for records of a form; `from` is the file they came from. */
export async function createRawRecords(path: string, form: RawForm, from: string): Promise<RawWriter> {
  const format = formatOf(path);
  const fits =
    form === "packed"
      ? format === "bin" || format === "binpack"
      : form === "bag"
        ? format === "bag" || format === "bagz"
        : format === "jsonl" || format === "plain" || format === "parquet" || format === "bullet";
  if (!fits) {
    throw new UserError(
      "FORMAT_OTHER",
      `${path}: the records of ${from} cannot be written to a file of this kind as they are. Keep the ending, and use \`tabiya data convert\` afterwards.`,
    );
  }
  if (format === "bag" || format === "bagz") {
    const writer = await BagWriter.create(path);
    return {
      async write(batch) {
        for (const record of eachRecord(batch)) await writer.add(record);
      },
      finish: () => writer.finish(),
      commit: () => writer.commit(),
      abort: () => writer.abort(),
    };
  }
  if (format === "plain" || format === "parquet" || format === "bullet") {
    const writer = await createRecords(path);
    const decoder = new TextDecoder();
    return {
      write: (batch) =>
        writer.write([...eachRecord(batch)].map((line) => JSON.parse(decoder.decode(line)) as DataRecord)),
      finish: () => writer.finish(),
      commit: () => writer.commit(),
      abort: () => writer.abort(),
    };
  }
  const output = await createOutput(path);
  if (format === "bin") {
    return {
      write: async ({ bytes }) => output.write(bytes),
      finish: () => output.finish(),
      commit: () => output.commit(),
      abort: () => output.abort(),
    };
  }
  if (format === "jsonl") {
    const files = withSidecar(path, [output], () => sidecarText(from));
    return {
      async write({ bytes, ends }) {
        const text = new Uint8Array(bytes.length + ends.length);
        let start = 0;
        ends.forEach((end, i) => {
          text.set(bytes.subarray(start, end), start + i);
          text[end + i] = NEWLINE;
          start = end;
        });
        await output.write(text);
      },
      ...files,
    };
  }
  let held: Uint8Array[] = [];
  let length = 0;
  const flush = async () => {
    const all = concatBytes(held);
    held = [];
    length = 0;
    for (let at = 0; at < all.length; at += CHUNK_BYTES) {
      const chunk = encodeChunk(all.subarray(at, at + CHUNK_BYTES), (index) => {
        throw badRecord("BINPACK_RECORD", { path: from, record: index }, "a .binpack cannot hold it.");
      });
      await output.write(chunk);
    }
  };
  const finish = async () => {
    if (length > 0) await flush();
    await output.finish();
  };
  return {
    async write({ bytes }) {
      held.push(bytes.slice());
      length += bytes.length;
      if (length >= CHUNK_BYTES) await flush();
    },
    finish,
    async commit() {
      await finish();
      await output.commit();
    },
    abort: () => output.abort(),
  };
}

/** Move indices mean nothing without the name of their table, which stands beside the file. */
const sidecarText = (path: string): Promise<string | undefined> =>
  readText(sidecarOf(path)).catch((error: unknown) => {
    if ((error as UserError).code === "FILE_MISSING") return undefined;
    throw error;
  });
