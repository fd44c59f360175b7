// Walks through the values of a Parquet page without keeping them, to see that they are there: hyparquet, which decodes
// them, trusts every count and loops or takes memory without end where one is damaged.
// https://parquet.apache.org/docs/file-format/data-pages/encodings/
import { ThriftReader } from "./thrift.js";

/** A stretch of bytes that is taken from the front. */
export interface Span {
  bytes: Uint8Array;
  at: number;
  end: number;
}

export const left = ({ at, end }: Span): number => end - at;

export function take(span: Span, count: number, what: string): Span {
  if (!(count >= 0 && count <= left(span))) throw new Error(`${count} bytes of ${what} where ${left(span)} are left`);
  const { bytes, at } = span;
  span.at += count;
  return { bytes, at, end: at + count };
}

function varint(span: Span): number {
  const reader = new ThriftReader(span.bytes, span.at, span.end);
  const value = reader.unsigned();
  span.at = reader.at;
  return value;
}

export const uint32 = (span: Span, what: string): number => {
  const { bytes, at } = take(span, 4, what);
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
};

/** `count` bits from bit `position` of the bytes, the lowest first; bits beyond the end are 0. At most 32. */
function bitsAt({ bytes, at, end }: Span, position: number, count: number): number {
  let value = 0;
  for (let done = 0; done < count; ) {
    const byte = at + ((position + done) >> 3);
    const shift = (position + done) & 7;
    const taken = Math.min(8 - shift, count - done);
    if (byte < end) value |= ((bytes[byte] >> shift) & ((1 << taken) - 1)) << done;
    done += taken;
  }
  return value >>> 0;
}

/** Numbers of `width` bits, as runs of one or packed: every run goes to `onRun`, until there are `count` numbers. */
export function walkRuns(
  span: Span,
  width: number,
  count: number,
  onRun: (value: number, times: number) => void,
): void {
  if (width > 32) throw new Error(`numbers of ${width} bits`);
  for (let seen = 0; seen < count; ) {
    const head = varint(span);
    if (head % 2 === 0) {
      const times = head / 2;
      if (times > count - seen) throw new Error(`a run of ${times} numbers where ${count - seen} are missing`);
      const bytes = (width + 7) >> 3;
      const run = take(span, bytes, "a run");
      if (times > 0) onRun(bitsAt(run, 0, bytes * 8), times);
      seen += times;
    } else {
      const groups = (head - 1) / 2; // of 8 numbers
      // A writer may fill its last run up to 63 groups, the longest whose length is one byte.
      if (groups > Math.ceil((count - seen) / 8) + 63) throw new Error(`${groups * 8} packed numbers where ${count - seen} are missing`); // biome-ignore format: one thought
      const packed = take(span, Math.min(groups * width, left(span)), "packed numbers");
      const used = Math.min(groups * 8, count - seen);
      if (Math.ceil((used * width) / 8) > packed.end - packed.at) throw new Error("the packed numbers end too early");
      for (let i = 0; i < used; i++) onRun(bitsAt(packed, i * width, width), 1);
      seen += used;
    }
  }
}

/** Differences in blocks of packed numbers: `onValue` gets each value, modulo 2^32. */
export function walkDeltas(span: Span, count: number, onValue: (value: number) => void = () => {}): void {
  const block = varint(span);
  const parts = varint(span);
  const total = varint(span);
  const perPart = block / parts;
  if (!(parts >= 1 && perPart >= 8 && perPart % 8 === 0 && block <= 1 << 20))
    throw new Error(`blocks of ${block} values in ${parts} parts`);
  if (total !== count) throw new Error(`${total} values where ${count} are expected`);
  let value = low32(span);
  if (count > 0) onValue(value);
  for (let seen = 1; seen < count; ) {
    const least = low32(span);
    const widths = take(span, parts, "bit widths");
    for (let part = 0; part < parts && seen < count; part++) {
      const width = widths.bytes[widths.at + part];
      if (width > 64) throw new Error(`numbers of ${width} bits`);
      const packed = take(span, (perPart / 8) * width, "differences");
      for (let i = 0; i < perPart && seen < count; i++, seen++) {
        value = (value + least + bitsAt(packed, i * width, Math.min(width, 32))) | 0;
        onValue(value);
      }
    }
  }
}

/** A zigzag number modulo 2^32. */
function low32(span: Span): number {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const { bytes, at } = take(span, 1, "a number");
    value |= BigInt(bytes[at] & 127) << shift;
    if (bytes[at] < 128) return Number(BigInt.asIntN(32, (value >> 1n) ^ -(value & 1n)));
  }
  throw new Error("a number of more than 10 bytes");
}

const WIDTHS: Record<string, number> = { INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8 };

function widthOf(type: string, typeLength: number | undefined): number {
  const width = type === "FIXED_LEN_BYTE_ARRAY" ? (typeLength ?? 0) : WIDTHS[type];
  if (!(width > 0)) throw new Error(`values of type ${type} without a length`);
  return width;
}

function walkPlain(span: Span, type: string, typeLength: number | undefined, count: number): void {
  if (type === "BOOLEAN") take(span, Math.ceil(count / 8), "flags");
  else if (type === "BYTE_ARRAY") for (let i = 0; i < count; i++) take(span, uint32(span, "a length"), "a text");
  else take(span, count * widthOf(type, typeLength), "values");
}

/** Lengths, and then the texts; with `prefixes`, each begins with some bytes of the one before. */
function walkTexts(span: Span, count: number, prefixes: boolean): void {
  const shared: number[] = [];
  const lengths: number[] = [];
  if (prefixes) walkDeltas(span, count, (value) => shared.push(value));
  walkDeltas(span, count, (value) => lengths.push(value));
  let before = 0;
  for (let i = 0; i < count; i++) {
    const prefix = shared[i] ?? 0;
    if (prefix < 0 || prefix > before) throw new Error(`a text that shares ${prefix} bytes with one of ${before}`);
    take(span, lengths[i], "a text");
    before = prefix + lengths[i];
  }
}

/** The column's type, and how many values its dictionary has. */
export interface ColumnValues {
  type: string;
  typeLength: number | undefined;
  dictionary: number | undefined;
}

/** Throws unless `count` values stand in the span, as the encoding says, in a page of that version. */
export function walkValues(span: Span, encoding: string, column: ColumnValues, count: number, version = 1): void {
  const { type, typeLength } = column;
  if (encoding === "PLAIN") {
    walkPlain(span, type, typeLength, count);
  } else if (encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY") {
    walkEntries(span, column, count, version);
  } else if (encoding === "RLE" && type === "BOOLEAN") {
    walkRuns(take(span, uint32(span, "a length"), "flags"), 1, count, () => {});
  } else if (encoding === "BYTE_STREAM_SPLIT") {
    take(span, count * widthOf(type, typeLength), "values");
  } else if (encoding === "DELTA_BINARY_PACKED" && (type === "INT32" || type === "INT64")) {
    walkDeltas(span, count);
  } else if (encoding === "DELTA_LENGTH_BYTE_ARRAY" && type === "BYTE_ARRAY") {
    walkTexts(span, count, false);
  } else if (encoding === "DELTA_BYTE_ARRAY" && (type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY")) {
    walkTexts(span, count, true);
  } else throw new Error(`values of type ${type} as ${encoding}`);
}

/** Numbers of a dictionary's entries; in pages of version 1 there need be none if all are the first. */
function walkEntries(span: Span, { type, dictionary }: ColumnValues, count: number, version: number): void {
  if (dictionary === undefined || type === "BOOLEAN") throw new Error("values of a dictionary that is not there");
  if (count === 0) return;
  const { bytes, at } = take(span, 1, "a bit width");
  const check = (value: number) => {
    if (value >= dictionary) throw new Error(`entry ${value} of a dictionary of ${dictionary}`);
  };
  if (bytes[at] === 0 && version === 1) check(0);
  else walkRuns(span, bytes[at], count, check);
}
