// What stands in the records of DeepMind's three data sets, and Bagz files of them as records with names.
import { UserError } from "#base";
import { BagReader, BagWriter } from "./bagz.js";
import {
  badRecord,
  type DataRecord,
  kindOf,
  numberField,
  type OnBad,
  type RecordReader,
  type RecordWriter,
  textField,
  throwBad,
} from "./record.js";

/** The kinds of records that Bagz files hold. */
export const BAG_KINDS = ["action_value", "state_value", "behavioral_cloning"] as const;
/** A kind of record that Bagz files hold. */
export type BagKind = (typeof BAG_KINDS)[number];

const decoder = new TextDecoder("utf-8", { fatal: true });
const encoder = new TextEncoder();

function varint(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined) throw new UserError("BAGZ_RECORD", "the record ends inside a length.");
    value |= (byte & 127) << shift;
    if (byte < 128) return { value, next: at };
  }
  throw new UserError("BAGZ_RECORD", "a length is larger than any record.");
}

function text(bytes: Uint8Array, start: number, end: number): string {
  if (end > bytes.length) {
    throw new UserError("BAGZ_RECORD", `a text of ${end - start} bytes goes beyond the record's ${bytes.length}.`);
  }
  let result = "";
  for (let i = start; i < end; i++) {
    if (bytes[i] > 127) return decoder.decode(bytes.subarray(start, end));
    result += String.fromCharCode(bytes[i]);
  }
  return result;
}

const isUci = (move: string) => /^[a-h][1-8][a-h][1-8][nbrq]?$/.test(move);

/** One record as its JSON twin. Which of the three kinds it is follows from its length. */
export function decodeBagRecord(bytes: Uint8Array): DataRecord {
  const { value, next } = varint(bytes, 0);
  const fen = text(bytes, next, next + value);
  if (!/^[1-8/pnbrqkPNBRQK]+ [wb] /.test(fen)) {
    throw new UserError("BAGZ_RECORD", `it begins with ${JSON.stringify(fen.slice(0, 40))}, which is no FEN.`);
  }
  const at = next + value;
  const left = bytes.length - at;
  const probability = (from: number): number => {
    const found = new DataView(bytes.buffer, bytes.byteOffset + from, 8).getFloat64(0);
    if (!(found >= 0 && found <= 1)) {
      throw new UserError("BAGZ_RECORD", `the win probability is ${found}, expected 0 to 1.`);
    }
    return found;
  };
  if (left === 8) return { fen, win_prob: probability(at) };
  if (left === 4 || left === 5) {
    const move = text(bytes, at, bytes.length);
    if (isUci(move)) return { fen, move };
  } else if (left > 9) {
    const length = varint(bytes, at);
    const end = length.next + length.value;
    if (end + 8 === bytes.length) {
      const move = text(bytes, length.next, end);
      if (isUci(move)) return { fen, move, win_prob: probability(end) };
    }
  }
  throw new UserError("BAGZ_RECORD", `after the FEN come ${left} bytes that are no move and no win probability.`);
}

/** A record as the bytes of a kind. */
export function encodeBagRecord(record: DataRecord, kind: BagKind): Uint8Array {
  const fen = encoder.encode(textField(record, "fen"));
  const move = kind === "state_value" ? new Uint8Array(0) : encoder.encode(textField(record, "move"));
  const parts: number[] = [];
  const putLength = (length: number) => {
    for (let rest = length; ; rest >>= 7) {
      parts.push(rest < 128 ? rest : (rest & 127) | 128);
      if (rest < 128) break;
    }
  };
  putLength(fen.length);
  const fenAt = parts.length;
  if (kind === "action_value") putLength(move.length);
  const size = parts.length + fen.length + move.length + (kind === "behavioral_cloning" ? 0 : 8);
  const bytes = new Uint8Array(size);
  bytes.set(parts.slice(0, fenAt));
  bytes.set(fen, fenAt);
  bytes.set(parts.slice(fenAt), fenAt + fen.length);
  bytes.set(move, parts.length + fen.length);
  if (kind !== "behavioral_cloning") {
    new DataView(bytes.buffer).setFloat64(size - 8, numberField(record, "win_prob", 0, 1));
  }
  return bytes;
}

const BATCH = 1024;

export async function openBag(path: string, onBad: OnBad = throwBad): Promise<RecordReader> {
  const reader = await BagReader.open(path);
  let done = 0;
  return {
    path,
    format: path.endsWith(".bagz") ? "bagz" : "bag",
    records: reader.length,
    size: reader.size,
    get bytesRead() {
      return reader.length === 0 ? 0 : Math.round((reader.size * done) / reader.length);
    },
    async *[Symbol.asyncIterator]() {
      try {
        let records: DataRecord[] = [];
        for (const content of reader.contents()) {
          try {
            if (content instanceof UserError) throw content;
            records.push(decodeBagRecord(content));
          } catch (error) {
            if (!(error instanceof UserError || error instanceof TypeError)) throw error;
            const code = error instanceof UserError ? error.code : "BAGZ_RECORD"; // text that is not UTF-8
            onBad(badRecord(code, { path, record: done }, error.message));
          }
          done++;
          if (records.length < BATCH) continue;
          yield records;
          records = [];
        }
        yield records;
      } finally {
        reader.close();
      }
    },
  };
}

/** Writes records of one kind, or of the kind of the first one. */
export async function createBag(
  path: string,
  kind: BagKind | undefined,
  onBad: OnBad = throwBad,
): Promise<RecordWriter> {
  const writer = await BagWriter.create(path);
  let written = kind;
  return {
    get records() {
      return writer.records;
    },
    async write(records) {
      for (const record of records) {
        if (written === undefined) {
          const found = kindOf(record) as BagKind;
          if (!BAG_KINDS.includes(found)) {
            throw new UserError(
              "BAGZ_KIND",
              `${path}: a Bagz file holds ${BAG_KINDS.join(", ")} records; these are of the kind ${found}.\nSay which kind to make of them.`,
            );
          }
          written = found;
        }
        let bytes: Uint8Array;
        try {
          bytes = encodeBagRecord(record, written);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          onBad(badRecord(error.code, { path, record: writer.records }, error.message));
          continue;
        }
        const full = writer.add(bytes);
        if (full) await full;
      }
    },
    finish: () => writer.finish(),
    commit: () => writer.commit(),
    abort: () => writer.abort(),
  };
}
