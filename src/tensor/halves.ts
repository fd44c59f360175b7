// Sixteen-bit floats, which JavaScript (Node 20) lacks: kept as their bits in a Uint16Array.

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);

/** The IEEE half nearest to each number, ties to even; too large ones become infinite. */
export function toHalf(values: ArrayLike<number>): Uint16Array {
  const halves = new Uint16Array(values.length);
  for (let i = 0; i < values.length; i++) {
    float[0] = values[i];
    const sign = (bits[0] >>> 16) & 0x8000;
    const size = bits[0] & 0x7fffffff;
    if (size > 0x7f800000)
      halves[i] = 0x7e00; // not a number
    else if (size >= 0x477ff000)
      halves[i] = sign | 0x7c00; // 65520 and above round to infinity
    else if (size >= 0x38800000) {
      // normal: re-bias the exponent, round the 13 dropped bits to even (a carry into the exponent is right)
      halves[i] = sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13);
    } else {
      // subnormal: a multiple of 2^-24; adding 0.5 lets the float unit do the rounding
      float[0] = Math.abs(values[i]) + 0.5;
      halves[i] = sign | (bits[0] - 0x3f000000);
    }
  }
  return halves;
}

/** The numbers that IEEE halves stand for. */
export function fromHalf(halves: Uint16Array): Float32Array {
  const values = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i++) {
    const sign = halves[i] & 0x8000 ? -1 : 1;
    const exponent = (halves[i] >>> 10) & 31;
    const fraction = halves[i] & 0x3ff;
    if (exponent === 0) values[i] = sign * fraction * 2 ** -24;
    else if (exponent === 31) values[i] = fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    else values[i] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return values;
}

/** The numbers that bfloat16 values stand for: the upper halves of floats. */
export function fromBfloat16(halves: Uint16Array): Float32Array {
  const upper = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i++) upper[i] = halves[i] << 16;
  return new Float32Array(upper.buffer);
}
