import { UserError } from "#base";
import { fromHalf, toHalf } from "#tensor";
import type { Precision } from "#training";

const BLOCK = 256; // numbers that share a scale: 1.6 % more bytes, and one large number spoils no others

/** Bytes that so many numbers have. */
export function encodedBytes(count: number, precision: Precision): number {
  if (precision === "int8") return count + 4 * Math.ceil(count / BLOCK);
  return count * (precision === "float16" ? 2 : 4);
}

/** Numbers as bytes, little-endian: floats, halves, or scales (the largest of each block / 127) and then signed bytes. */
export function encodeNumbers(numbers: Float32Array, precision: Precision): Uint8Array {
  if (precision === "float32") return new Uint8Array(numbers.slice().buffer);
  if (precision === "float16") return new Uint8Array(toHalf(numbers).buffer);
  const scales = new Float32Array(Math.ceil(numbers.length / BLOCK));
  const bytes = new Uint8Array(encodedBytes(numbers.length, "int8"));
  const units = new Int8Array(bytes.buffer, scales.length * 4);
  scales.forEach((_, block) => {
    const part = numbers.subarray(block * BLOCK, (block + 1) * BLOCK);
    scales[block] = part.reduce((most, x) => Math.max(most, Math.abs(x)), 0) / 127;
    if (scales[block] > 0) units.set(part.map((x) => Math.round(x / scales[block])), block * BLOCK); // biome-ignore format: a list
  });
  bytes.set(new Uint8Array(scales.buffer));
  return bytes;
}

/** So many numbers of the bytes; says what is wrong with those that came from elsewhere. */
export function decodeNumbers(bytes: Uint8Array, precision: Precision, count: number): Float32Array {
  const expected = encodedBytes(count, precision);
  if (bytes.length !== expected)
    throw new UserError("EXCHANGE_BYTES", `${bytes.length} bytes, expected ${expected} for ${count} numbers.`);
  const numbers = decode(bytes.slice().buffer, precision, count);
  if (!numbers.every(Number.isFinite)) throw new UserError("EXCHANGE_BYTES", "numbers that are not finite.");
  return numbers;
}

function decode(buffer: ArrayBuffer, precision: Precision, count: number): Float32Array {
  if (precision === "float32") return new Float32Array(buffer);
  if (precision === "float16") return fromHalf(new Uint16Array(buffer));
  const scales = new Float32Array(buffer, 0, Math.ceil(count / BLOCK));
  return Float32Array.from(new Int8Array(buffer, scales.length * 4), (unit, i) => unit * scales[Math.floor(i / BLOCK)]);
}

/** Sends numbers one after another, each time with what rounding kept back the last time. */
export class Rounding {
  private kept: Float32Array | undefined;

  constructor(private readonly precision: Precision) {}

  /** The bytes to send, and the numbers that whoever reads them gets. */
  encode(numbers: Float32Array): { bytes: Uint8Array; read: Float32Array } {
    const { kept } = this;
    const whole = kept ? numbers.map((x, i) => x + kept[i]) : numbers;
    const bytes = encodeNumbers(whole, this.precision);
    const read = decodeNumbers(bytes, this.precision, whole.length);
    this.kept = this.precision === "float32" ? undefined : whole.map((x, i) => x - read[i]);
    return { bytes, read };
  }

  /** What was kept back belongs to numbers that are known in full by now. */
  forget(): void {
    this.kept = undefined;
  }
}
