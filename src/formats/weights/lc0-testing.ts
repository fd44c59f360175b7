// Writes small files in lc0's format, for tests.
import { concatBytes } from "#base";

type Encoding = 1 | 2 | 3 | 4; // LINEAR16, FLOAT16, BFLOAT16, FLOAT32

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Uint8Array.from([...bytes, left]);
}

export const number = (field: number, value: number): Uint8Array => concatBytes([varint(field * 8), varint(value)]);

export const message = (field: number, content: Uint8Array): Uint8Array =>
  concatBytes([varint(field * 8 + 2), varint(content.length), content]);

function float(field: number, value: number): Uint8Array {
  const bytes = new Uint8Array(5);
  bytes[0] = field * 8 + 5;
  new DataView(bytes.buffer).setFloat32(1, value, true);
  return bytes;
}

/** A number that needs no more than 10 bits of mantissa, as half precision. */
function half(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.floor(Math.log2(Math.abs(value)));
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | Math.round((Math.abs(value) / 2 ** exponent - 1) * 1024);
}

export function layer(values: readonly number[], encoding: Encoding): Uint8Array {
  const [min, max] = values.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]);
  const size = encoding === 4 ? 4 : 2;
  const params = new Uint8Array(values.length * size);
  const view = new DataView(params.buffer);
  for (const [i, x] of values.entries()) {
    if (encoding === 4) view.setFloat32(i * 4, x, true);
    else if (encoding === 2) view.setUint16(i * 2, half(x), true);
    else if (encoding === 1) view.setUint16(i * 2, max > min ? Math.round(((x - min) / (max - min)) * 65535) : 0, true);
    else {
      const bits = new DataView(new ArrayBuffer(4));
      bits.setFloat32(0, x);
      view.setUint16(i * 2, bits.getUint16(0), true);
    }
  }
  return concatBytes([float(1, min), float(2, max), message(3, params), number(4, encoding)]);
}

/** A file with some weights, and its formats as pairs of field and value. */
export const network = (formats: readonly (readonly [number, number])[], weights: Uint8Array): Uint8Array =>
  concatBytes([
    Uint8Array.of(0x0d, 0xc0, 1, 0, 0),
    ...(formats.length > 0
      ? [message(4, message(2, concatBytes(formats.map(([field, value]) => number(field, value)))))]
      : []),
    message(10, weights),
  ]);

export interface TinyOptions {
  encoding?: Encoding;
  policy?: "classical" | "convolution";
  value?: "classical" | "wdl";
  squeeze?: number; // units; 0 for none
  formats?: readonly (readonly [number, number])[]; // instead of those that fit
  norm?: { means: number[]; variances: number[]; gammas?: number[]; betas?: number[] }; // of the first convolution
  hidden?: { biases: number[] }; // of the value head
}

/** A network of one channel and one block. */
export function writeTiny(options: TinyOptions = {}): Uint8Array {
  const { encoding = 4, policy = "classical", value = "classical", squeeze = 0, norm, hidden } = options;
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => ((i % 7) - 3) / 16);
  const put = (field: number, values: readonly number[]) => message(field, layer(values, encoding));
  const conv = (inputs: number, outputs: number, size: number, more: Uint8Array = new Uint8Array(0)) =>
    concatBytes([put(1, numbers(outputs * inputs * size * size)), more]);
  const withNorm =
    norm &&
    concatBytes([
      put(3, norm.means),
      put(4, norm.variances),
      ...(norm.gammas ? [put(5, norm.gammas)] : []),
      ...(norm.betas ? [put(6, norm.betas)] : []),
    ]);
  const units = hidden?.biases.length ?? 4;
  const outputs = value === "wdl" ? 3 : 1;
  const unit = concatBytes([put(1, numbers(squeeze)), put(2, numbers(squeeze)), put(3, numbers(2 * squeeze)), put(4, numbers(2))]); // biome-ignore format: one unit
  const block = concatBytes([message(1, conv(1, 1, 3)), message(2, conv(1, 1, 3)), ...(squeeze ? [message(3, unit)] : [])]); // biome-ignore format: one block
  const weights = concatBytes([
    message(1, conv(112, 1, 3, withNorm)),
    message(2, block),
    ...(policy === "convolution"
      ? [message(11, conv(1, 1, 3)), message(3, conv(1, 80, 3, put(2, numbers(80))))]
      : [message(3, conv(1, 1, 1)), put(4, numbers(64 * 1858)), put(5, numbers(1858))]),
    message(6, conv(1, 1, 1)),
    put(7, numbers(64 * units)),
    put(8, hidden?.biases ?? numbers(units)),
    put(9, numbers(units * outputs)),
    put(10, numbers(outputs)),
  ]);
  const fitting = [
    [1, 1],
    [3, squeeze ? 4 : 3],
    [4, policy === "convolution" ? 2 : 1],
    [5, value === "wdl" ? 2 : 1],
  ] as const;
  return network(options.formats ?? fitting, weights);
}
