/**
 * TensorBoard's event files: records of an Event protocol buffer each (tensorflow/core/util/event.proto), framed as
 * TFRecord: u64 length, masked CRC-32C of those 8 bytes, the data, masked CRC-32C of the data; all little-endian.
 */
import { concatBytes } from "#base";

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1; // Castagnoli, reflected
  return crc;
});

export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** A checksum of data that may hold checksums itself is turned and shifted, says the format. */
const masked = (crc: number) => (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;

export function frameRecord(data: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(12));
  head.setBigUint64(0, BigInt(data.length), true);
  head.setUint32(8, masked(crc32c(new Uint8Array(head.buffer, 0, 8))), true);
  const tail = new DataView(new ArrayBuffer(4));
  tail.setUint32(0, masked(crc32c(data)), true);
  return concatBytes([new Uint8Array(head.buffer), data, new Uint8Array(tail.buffer)]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Uint8Array.of(...bytes, rest);
}

const tag = (field: number, kind: 0 | 1 | 2 | 5) => Uint8Array.of((field << 3) | kind);
const lengthPrefixed = (field: number, bytes: Uint8Array) => concatBytes([tag(field, 2), varint(bytes.length), bytes]);
const text = (field: number, value: string) => lengthPrefixed(field, new TextEncoder().encode(value));

function float64(field: number, value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value, true);
  return concatBytes([tag(field, 1), new Uint8Array(bytes.buffer)]);
}

function float32(field: number, value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(4));
  bytes.setFloat32(0, value, true);
  return concatBytes([tag(field, 5), new Uint8Array(bytes.buffer)]);
}

/** The record every event file begins with. */
export const eventFileStart = (seconds: number): Uint8Array =>
  frameRecord(concatBytes([float64(1, seconds), text(3, "brain.Event:2")]));

/** Says that a run goes on with a step: what earlier files measured at it and later is forgotten (SessionLog.START). */
export const restartEvent = (seconds: number, step: number): Uint8Array =>
  frameRecord(
    concatBytes([float64(1, seconds), tag(2, 0), varint(step), lengthPrefixed(7, concatBytes([tag(1, 0), varint(1)]))]),
  );

/** Numbers measured at a step, as one record; `seconds` since 1970. */
export function scalarEvent(seconds: number, step: number, values: Readonly<Record<string, number>>): Uint8Array {
  const summary = Object.entries(values).map(([name, value]) =>
    lengthPrefixed(1, concatBytes([text(1, name), float32(2, value)])),
  );
  return frameRecord(
    concatBytes([float64(1, seconds), tag(2, 0), varint(step), lengthPrefixed(5, concatBytes(summary))]),
  );
}
