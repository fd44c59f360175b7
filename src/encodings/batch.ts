import { assert } from "#base";
import { core, type Position, parseFen, START_FEN } from "#chess";

const { POSITION_BYTES, RECORD_BYTES, wasm } = core;
const START_KEY = parseFen(START_FEN).key;

/** Numbers a position becomes in each encoding that is one row of a fixed length. */
export const ROW_LENGTHS = {
  "fen-tokens": 77,
  board68: 68,
  planes13: 13 * 64,
  planes18: 18 * 64,
  "lc0-112": 112 * 64,
} as const;

/** Encodings of a position as planes of 64 squares, and what writes them for positions in the core's memory. */
export const ENCODE_PLANES = {
  planes13: (positions, count, _, out) => wasm.encodePlanes13(positions, count, out),
  planes18: (positions, count, repetitions, out) => wasm.encodePlanes18(positions, count, repetitions, out),
  "lc0-112": (positions, count, _, out) => wasm.encodeLc0Planes(positions, count, START_KEY, out),
} satisfies Record<string, (positions: number, count: number, repetitions: number, out: number) => void>;

/** The name of an encoding as planes. */
export type PlanesName = keyof typeof ENCODE_PLANES;

/** HalfKP indices a side has room for in a row; the rest of the row is HALFKP_UNUSED. */
export const HALFKP_ROW = 32;
/** Fills the rest of a row of HalfKP indices. */
export const HALFKP_UNUSED = 65535;

/** HalfKP indices of many positions: [position][mover, other][HALFKP_ROW], and how many of each row are used. */
export interface HalfKpRows {
  indices: Uint16Array;
  counts: Uint8Array;
}

/**
 * Room for positions and what they are encoded to, inside the core's memory: the fast way. What an encoder returns is a
 * view that the next call of the same batch overwrites; copy it, or use it at once.
 */
export class EncoderBatch {
  private readonly positions: number;
  private readonly repetitions: number;
  private readonly counts: number;
  private out: number;
  private outRow: number; // bytes a position has room for there

  constructor(readonly capacity: number) {
    this.outRow = Math.max(ROW_LENGTHS.planes18 * 4, RECORD_BYTES + HALFKP_ROW * 4);
    this.positions = core.allocate(capacity * POSITION_BYTES);
    this.repetitions = core.allocate(capacity);
    this.counts = core.allocate(capacity);
    this.out = core.allocate(capacity * this.outRow);
  }

  /** Puts a position in place; `repetitions` is how often it occurred before in its game (planes18 shows it). */
  put(index: number, position: Position, repetitions = 0): void {
    this.putBytes(index, position.bytes(), repetitions);
  }

  /** The same, of the core's struct of a position. */
  putBytes(index: number, state: Uint8Array, repetitions = 0): void {
    assert(index >= 0 && index < this.capacity, `position ${index} of a batch of ${this.capacity}`);
    core.bytes.set(state, this.positions + index * POSITION_BYTES);
    core.bytes[this.repetitions + index] = repetitions;
  }

  /**
   * Puts .bin records in place as positions; returns how many were good: all, or those before the first bad one. An
   * en-passant square stays as the record has it.
   */
  putRecords(records: Uint8Array): number {
    const count = this.takeRecords(records);
    core.bytes.fill(0, this.repetitions, this.repetitions + count);
    return wasm.unpackRecords(this.out, count, this.positions);
  }

  fenTokens(count: number): Uint8Array {
    wasm.encodeFenTokens(this.positions, this.check(count), this.out);
    return new Uint8Array(core.bytes.buffer, this.out, count * ROW_LENGTHS["fen-tokens"]);
  }

  board68(count: number): Uint16Array {
    wasm.encodeBoard68(this.positions, this.check(count), this.out);
    return new Uint16Array(core.bytes.buffer, this.out, count * ROW_LENGTHS.board68);
  }

  planes(name: PlanesName, count: number): Float32Array {
    const row = ROW_LENGTHS[name] * 4;
    if (row > this.outRow) {
      this.out = core.allocate(this.capacity * row);
      this.outRow = row;
    }
    ENCODE_PLANES[name](this.positions, this.check(count), this.repetitions, this.out);
    return new Float32Array(core.bytes.buffer, this.out, count * ROW_LENGTHS[name]);
  }

  halfkp(count: number): HalfKpRows {
    wasm.encodeHalfKp(this.positions, this.check(count), this.out, this.counts);
    return this.halfKpRows(this.out, count);
  }

  /** .bin records straight to HalfKP rows; as many as were good before the first bad record. */
  halfkpOfRecords(records: Uint8Array): HalfKpRows {
    const count = this.takeRecords(records);
    const rows = this.out + this.capacity * RECORD_BYTES;
    const good = wasm.unpackHalfKp(this.out, count, this.positions, rows, this.counts);
    return this.halfKpRows(rows, good);
  }

  private halfKpRows(address: number, count: number): HalfKpRows {
    return {
      indices: new Uint16Array(core.bytes.buffer, address, count * 2 * HALFKP_ROW),
      counts: core.bytes.subarray(this.counts, this.counts + count),
    };
  }

  private takeRecords(records: Uint8Array): number {
    const count = records.length / RECORD_BYTES;
    assert(Number.isInteger(count), `${records.length} bytes are no whole number of records`);
    core.bytes.set(records, this.out);
    return this.check(count);
  }

  private check(count: number): number {
    assert(count >= 0 && count <= this.capacity, `${count} positions in a batch of ${this.capacity}`);
    return count;
  }
}

let single: EncoderBatch | undefined;

/** A batch that holds the one position given. */
export function batchOf(position: Position, repetitions = 0): EncoderBatch {
  single ??= new EncoderBatch(1);
  single.put(0, position, repetitions);
  return single;
}
