import { UserError } from "#base";
import { core, parseFen } from "#chess";
import {
  badRecord,
  type DataRecord,
  decodeBagRecord,
  decodePacked,
  eachRecord,
  kindOf,
  type RawBatch,
  type RawForm,
} from "#formats";

const { RECORD_BYTES } = core;
const GROUP = 4096; // records unpacked at once
const KEY = 128; // where the struct of a position has its key
let room: { records: number; positions: number } | undefined;

/**
 * The keys of the positions in a batch, each as two halves of 32 bits, low first. Clocks do not count. Where a position has
 * a record for each of its moves, the move is part of the key. `first` is the number of the first record, for messages.
 */
export function positionKeys(batch: RawBatch, form: RawForm, path: string, first: number): Uint32Array {
  if (form === "packed") return packedKeys(batch.bytes, path, first);
  const decoder = new TextDecoder();
  const keys = new Uint32Array(2 * batch.ends.length);
  let i = 0;
  for (const bytes of eachRecord(batch)) {
    try {
      const record = form === "bag" ? decodeBagRecord(bytes) : (JSON.parse(decoder.decode(bytes)) as DataRecord);
      if (typeof record.fen !== "string") throw new UserError("RECORD_FIELD", '"fen" is missing.');
      const { key } = parseFen(record.fen);
      const mixed = kindOf(record) === "action_value" ? key ^ textHash(record.move ?? "") : key;
      keys[i++] = Number(mixed & 0xffffffffn);
      keys[i++] = Number(mixed >> 32n);
    } catch (error) {
      if (!(error instanceof UserError || error instanceof SyntaxError)) throw error;
      const code = error instanceof UserError ? error.code : "JSONL_LINE";
      throw badRecord(code, { path, record: first + (i >> 1) }, error.message);
    }
  }
  return keys;
}

/** A hash of a short text over 64 bits (FNV-1a). */
function textHash(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++) {
    hash = ((hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return hash;
}

function packedKeys(bytes: Uint8Array, path: string, first: number): Uint32Array {
  room ??= { records: core.allocate(GROUP * RECORD_BYTES), positions: core.allocate(GROUP * core.POSITION_BYTES) };
  const { records, positions } = room;
  const total = bytes.length / RECORD_BYTES;
  const keys = new Uint32Array(2 * total);
  for (let done = 0; done < total; done += GROUP) {
    const count = Math.min(GROUP, total - done);
    core.bytes.set(bytes.subarray(done * RECORD_BYTES, (done + count) * RECORD_BYTES), records);
    const good = core.wasm.unpackRecords(records, count, positions);
    if (good < count) {
      const record = done + good;
      explainRecord(bytes.subarray(record * RECORD_BYTES, (record + 1) * RECORD_BYTES), path, first + record);
    }
    const words = new Uint32Array(core.bytes.buffer, positions, (count * core.POSITION_BYTES) / 4);
    for (let i = 0, at = KEY / 4; i < count; i++, at += core.POSITION_BYTES / 4) {
      keys[2 * (done + i)] = words[at];
      keys[2 * (done + i) + 1] = words[at + 1];
    }
  }
  return keys;
}

/** Throws what is wrong with a .bin record that the core refused. */
function explainRecord(bytes: Uint8Array, path: string, record: number): never {
  try {
    decodePacked(bytes);
  } catch (error) {
    if (error instanceof UserError) {
      throw badRecord(error.code, { path, record, byte: record * RECORD_BYTES }, error.message);
    }
    throw error;
  }
  throw new Error(`internal: record ${record} of ${path} was refused and is good`);
}
