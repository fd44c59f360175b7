// Stockfish's .binpack: chunks of chains of positions, docs/formats/binpack.md. The core unpacks chains into records of 40
// bytes and packs them again; here are the chunks.
import { type ByteSource, concatBytes, createOutput, openBytes } from "#base";
import { core } from "#chess";
import { decodeBatch, PackedEncoder } from "./packed-sfen.js";
import { badRecord, type OnBad, type RecordReader, type RecordWriter, throwBad } from "./record.js";
import { LIST, POSITION } from "./struct.js";

const { RECORD_BYTES, wasm } = core;
const HEADER = 8;
const LARGEST_CHUNK = 100 * 1024 * 1024; // as Stockfish's own reader has it
const LARGEST_CHAIN = 65_536; // records
const CHUNK_RECORDS = 32_768; // records of a chunk we write: at most a megabyte, whatever they hold

const PROBLEMS: Record<number, string> = {
  [-1]: "the chain is cut off",
  [-2]: "the position that opens the chain is impossible",
  [-3]: "a move of the chain is not legal",
};

let room: { chain: number; data: number; capacity: number } | undefined;

/** Memory of the core for a chunk, and for the records of a chain or the chains of some records. */
function makeRoom(bytes: number): { chain: number; data: number } {
  room ??= { chain: core.allocate(LARGEST_CHAIN * RECORD_BYTES), data: 0, capacity: 0 };
  if (room.capacity < bytes) {
    room.capacity = Math.max(bytes, 2 << 20);
    room.data = core.allocate(room.capacity);
  }
  return room;
}

async function* readChunks(source: ByteSource): AsyncGenerator<{ bytes: Uint8Array; start: number }> {
  const held: Uint8Array[] = [];
  let length = 0;
  let start = 0;
  for await (const piece of source) {
    held.push(piece);
    length += piece.length;
    for (;;) {
      if (length < HEADER) break;
      if (held[0].length < HEADER) held.splice(0, held.length, concatBytes(held));
      const view = new DataView(held[0].buffer, held[0].byteOffset, HEADER);
      const size = view.getUint32(4, true);
      if (view.getUint32(0) !== 0x42494e50 || size > LARGEST_CHUNK) {
        throw badRecord(
          "BINPACK_CHUNK",
          { path: source.path, byte: start },
          'no chunk begins here (expected "BINP" and a size).',
        );
      }
      if (length < HEADER + size) break;
      const all = concatBytes(held);
      yield { bytes: all.subarray(HEADER, HEADER + size), start: start + HEADER };
      start += HEADER + size;
      length -= HEADER + size;
      held.splice(0, held.length, all.subarray(HEADER + size));
    }
  }
  if (length > 0) {
    throw badRecord("BINPACK_CUT", { path: source.path, byte: start }, "the file ends in the middle of a chunk.");
  }
}

/**
 * The raw 40-byte records of a file, a chain at a time. Of a chain that is damaged the records before the damage are kept;
 * the rest of its chunk cannot be read, and the next chunk goes on.
 */
export async function* readBinpackBytes(source: ByteSource, onBad: OnBad = throwBad): AsyncGenerator<Uint8Array> {
  let record = 0;
  for await (const { bytes, start } of readChunks(source)) {
    const { chain, data } = makeRoom(bytes.length);
    let batch: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      // The memory is everybody's between two batches, so the rest of the chunk is put there again.
      if (batch.length === 0) core.bytes.set(bytes.subarray(at), data + at);
      const used = wasm.readChain(data + at, data + bytes.length, chain, POSITION, LIST);
      const count = wasm.chainLength();
      if (count > 0) batch.push(core.bytes.slice(chain, chain + count * RECORD_BYTES));
      record += count;
      if (used < 0) {
        const problem = `${PROBLEMS[used]}; the ${bytes.length - at} bytes to the end of its chunk are lost.`;
        onBad(badRecord("BINPACK_CHAIN", { path: source.path, record, byte: start + at }, problem));
        break;
      }
      at += used;
      if (batch.length >= 64) {
        yield concatBytes(batch);
        batch = [];
      }
    }
    if (batch.length > 0) yield concatBytes(batch);
  }
}

export async function openBinpack(path: string, onBad: OnBad = throwBad): Promise<RecordReader> {
  const source = await openBytes(path);
  return {
    path,
    format: "binpack",
    records: undefined,
    size: source.size,
    get bytesRead() {
      return source.bytesRead;
    },
    async *[Symbol.asyncIterator]() {
      let first = 0;
      for await (const bytes of readBinpackBytes(source, onBad)) {
        yield decodeBatch(bytes, path, first, onBad);
        first += bytes.length / RECORD_BYTES;
      }
    },
  };
}

/** Packs raw records into one chunk, header included. Those that cannot be packed go to `bad`, by their number. */
export function encodeChunk(records: Uint8Array, bad: (index: number) => void): Uint8Array {
  const { chain, data } = makeRoom(LARGEST_CHAIN * RECORD_BYTES);
  const parts: Uint8Array[] = [];
  const count = records.length / RECORD_BYTES;
  for (let done = 0; done < count; ) {
    const next = Math.min(count - done, LARGEST_CHAIN);
    core.bytes.set(records.subarray(done * RECORD_BYTES, (done + next) * RECORD_BYTES), chain);
    const length = wasm.writeChains(chain, next, data, POSITION, LIST);
    parts.push(core.bytes.slice(data, data + length));
    done += wasm.packedCount();
    if (wasm.packedCount() < next) bad(done++);
  }
  const body = concatBytes(parts);
  const header = new DataView(new ArrayBuffer(HEADER));
  header.setUint32(0, 0x42494e50);
  header.setUint32(4, body.length, true);
  return concatBytes([new Uint8Array(header.buffer), body]);
}

export async function createBinpack(path: string, onBad: OnBad = throwBad): Promise<RecordWriter> {
  const output = await createOutput(path);
  const encoder = new PackedEncoder(path, onBad);
  let refused = 0;
  let chunks = 0; // records in chunks written
  let held: Uint8Array[] = [];
  let length = 0;
  const flush = async () => {
    if (length === 0) return;
    const bytes = encodeChunk(concatBytes(held), (index) => {
      refused++;
      const problem = "it has no move, or a ply beyond 16383, which a .binpack cannot hold.";
      onBad(badRecord("BINPACK_RECORD", { path, record: chunks + index }, problem));
    });
    chunks += length / RECORD_BYTES;
    held = [];
    length = 0;
    if (bytes.length > HEADER) await output.write(bytes);
  };
  const finish = async () => {
    try {
      await flush();
    } catch (error) {
      await output.abort();
      throw error;
    }
    await output.finish();
  };
  return {
    get records() {
      return encoder.records - refused;
    },
    async write(records) {
      for (const bytes of encoder.encode(records)) {
        held.push(bytes);
        length += bytes.length;
        if (length >= CHUNK_RECORDS * RECORD_BYTES) await flush();
      }
    },
    finish,
    async commit() {
      await finish();
      await output.commit();
    },
    abort: () => output.abort(),
  };
}
