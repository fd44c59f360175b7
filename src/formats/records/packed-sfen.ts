// Stockfish's PackedSfenValue, 40 bytes a position: docs/formats/bin.md
import { type ByteSource, concatBytes, createOutput, type Output, openBytes, UserError } from "#base";
import { core } from "#chess";
import {
  badRecord,
  type DataRecord,
  numberField,
  type OnBad,
  type RecordReader,
  type RecordWriter,
  textField,
  throwBad,
} from "./record.js";
import { BATCH_RECORDS, findMove, formatFenAt, formatMove, isLegal, POSITION, putFen, RECORDS } from "./struct.js";

const { RECORD_BYTES, wasm } = core;

/** What the core says is wrong with a record, by its number there. */
const PROBLEMS = [
  "",
  "both kings stand on one square",
  "a piece has a code that means none",
  "its position does not fit into 32 bytes",
  "a pawn stands on the first or last rank",
  "a castling right has no king and rook at home",
  "no pawn can have passed its en-passant square",
  "the side that does not move is in check",
  "its result is not -1, 0 or 1",
  "a side has more than 16 pieces",
];

/** Raw records as they stream in: whole ones, at most BATCH_RECORDS at a time. */
export async function* readPackedBytes(source: ByteSource): AsyncGenerator<Uint8Array> {
  let rest = new Uint8Array(0);
  let done = 0;
  for await (const chunk of source) {
    const bytes = rest.length > 0 ? concatBytes([rest, chunk]) : chunk;
    const whole = bytes.length - (bytes.length % RECORD_BYTES);
    for (let at = 0; at < whole; at += BATCH_RECORDS * RECORD_BYTES) {
      yield bytes.subarray(at, Math.min(whole, at + BATCH_RECORDS * RECORD_BYTES));
    }
    done += whole;
    rest = bytes.slice(whole);
  }
  if (rest.length > 0) throw notWhole(source.path, done + rest.length);
}

const notWhole = (path: string, size: number) =>
  badRecord(
    "BIN_LENGTH",
    { path, record: Math.floor(size / RECORD_BYTES), byte: size - (size % RECORD_BYTES) },
    `the file has ${size} bytes, which is no whole number of 40-byte records; its last ${size % RECORD_BYTES} bytes are cut off.`,
  );

// Records are read and written in the core's memory, byte by byte: views and copies of each would cost more than the rest.
const read16 = (address: number) => core.bytes[address] | (core.bytes[address + 1] << 8);
const readSigned16 = (address: number) => (read16(address) << 16) >> 16;
function put16(address: number, value: number): void {
  core.bytes[address] = value;
  core.bytes[address + 1] = value >> 8;
}

/** What is wrong with the record at an address, or undefined; leaves its position at POSITION. */
function check(address: number): string | undefined {
  const code = wasm.unpackPosition(address, POSITION);
  if (code !== 0) return `${PROBLEMS[code]}.`;
  const move = read16(address + core.RECORD_MOVE_AT);
  if (move !== 0 && !isLegal(move)) return `the move ${formatMove(move)} is not legal in ${formatFenAt(POSITION)}.`;
  return undefined;
}

/** The record at an address; a move of 0 is null. */
function decodeAt(address: number): DataRecord {
  const problem = check(address);
  if (problem !== undefined) throw new UserError("BIN_RECORD", problem);
  const move = read16(address + core.RECORD_MOVE_AT);
  return {
    fen: formatFenAt(POSITION),
    move: move === 0 ? null : formatMove(move),
    score: readSigned16(address + core.RECORD_SCORE_AT),
    ply: read16(address + core.RECORD_PLY_AT),
    result: (core.bytes[address + core.RECORD_RESULT_AT] << 24) >> 24,
  };
}

/** Writes a record to an address. */
function encodeAt(record: DataRecord, address: number): void {
  putFen(textField(record, "fen"));
  const score = numberField(record, "score", -32768, 32767);
  const ply = numberField(record, "ply", 0, 65535);
  const result = numberField(record, "result", -1, 1);
  const clock = read16(POSITION + core.HALFMOVES_AT);
  if (clock > 127) throw new UserError("BIN_RECORD", `the halfmove clock ${clock} is beyond the 127 a .bin can hold.`);
  const move = record.move === null ? 0 : findMove(textField(record, "move"));
  if (move === undefined) {
    throw new UserError("BIN_RECORD", `the move ${record.move} is not legal in ${record.fen}.`);
  }
  if (!wasm.packPosition(POSITION, address)) throw new UserError("BIN_RECORD", `${PROBLEMS[3]}: ${record.fen}`);
  put16(address + core.RECORD_SCORE_AT, Math.round(score));
  put16(address + core.RECORD_MOVE_AT, move);
  put16(address + core.RECORD_PLY_AT, ply);
  core.bytes[address + core.RECORD_RESULT_AT] = result;
  core.bytes[address + 39] = 0xff;
  const problem = check(address);
  if (problem !== undefined) throw new UserError("BIN_RECORD", `${problem} (${record.fen})`);
}

/** One record of 40 bytes as its JSON twin. */
export function decodePacked(bytes: Uint8Array): DataRecord {
  core.bytes.set(bytes, RECORDS);
  return decodeAt(RECORDS);
}

/** A record as 40 bytes in `out`. */
export function encodePacked(record: DataRecord, out: Uint8Array): void {
  encodeAt(record, RECORDS);
  out.set(core.bytes.subarray(RECORDS, RECORDS + RECORD_BYTES));
}

/** Decodes raw records; a bad one goes to `onBad`. */
export function decodeBatch(bytes: Uint8Array, path: string, first: number, onBad: OnBad): DataRecord[] {
  const records: DataRecord[] = [];
  const total = bytes.length / RECORD_BYTES;
  for (let done = 0; done < total; done += BATCH_RECORDS) {
    core.bytes.set(bytes.subarray(done * RECORD_BYTES, (done + BATCH_RECORDS) * RECORD_BYTES), RECORDS);
    const count = Math.min(BATCH_RECORDS, total - done);
    for (let i = 0; i < count; i++) {
      try {
        records.push(decodeAt(RECORDS + i * RECORD_BYTES));
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        const record = first + done + i;
        onBad(badRecord(error.code, { path, record, byte: record * RECORD_BYTES }, error.message));
      }
    }
  }
  return records;
}

/** Whether a name promises that its content is compressed, so that the size on the disk says nothing. */
const isCompressed = (path: string) => /\.(zst|gz|bz2)$/i.test(path) || path === "-";

export async function openPacked(path: string, onBad: OnBad = throwBad): Promise<RecordReader> {
  const source = await openBytes(path);
  const size = isCompressed(path) ? undefined : source.size;
  if (size !== undefined && size % RECORD_BYTES !== 0) throw notWhole(path, size);
  return {
    path,
    format: "bin",
    records: size === undefined ? undefined : size / RECORD_BYTES,
    size: source.size,
    get bytesRead() {
      return source.bytesRead;
    },
    async *[Symbol.asyncIterator]() {
      let first = 0;
      for await (const bytes of readPackedBytes(source)) {
        yield decodeBatch(bytes, path, first, onBad);
        first += bytes.length / RECORD_BYTES;
      }
    },
  };
}

/** Turns records into raw ones, for .bin and .binpack; counts those it took. */
export class PackedEncoder {
  private taken = 0;

  constructor(
    private readonly path: string,
    private readonly onBad: OnBad,
  ) {}

  get records(): number {
    return this.taken;
  }

  *encode(records: readonly DataRecord[]): Generator<Uint8Array> {
    for (let start = 0; start < records.length; start += BATCH_RECORDS) {
      const end = Math.min(records.length, start + BATCH_RECORDS);
      let address = RECORDS;
      for (let i = start; i < end; i++) {
        try {
          encodeAt(records[i], address);
          address += RECORD_BYTES;
          this.taken++;
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          this.onBad(badRecord(error.code, { path: this.path, record: this.taken }, error.message));
        }
      }
      yield core.bytes.slice(RECORDS, address);
    }
  }
}

export async function createPacked(path: string, onBad: OnBad = throwBad): Promise<RecordWriter> {
  const output: Output = await createOutput(path);
  const encoder = new PackedEncoder(path, onBad);
  return {
    get records() {
      return encoder.records;
    },
    async write(records) {
      for (const bytes of encoder.encode(records)) await output.write(bytes);
    },
    finish: () => output.finish(),
    commit: () => output.commit(),
    abort: () => output.abort(),
  };
}
