import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { PRECISIONS } from "#training";
import { decodeNumbers, encodedBytes, encodeNumbers, Rounding } from "./precision.js";

const random = new Random(1);
const numbers = Float32Array.from({ length: 1000 }, (_, i) => random.normal() * (i < 256 ? 1e-4 : 1e-2));

/** Largest errors, relative to the largest number of a block: a half has 11 bits, a byte 127 steps to each side. */
const ERRORS = { float32: 0, float16: 2 ** -11, int8: 0.5 / 127 };

for (const precision of PRECISIONS) {
  test(`${precision}: numbers come back as near as it can hold them, in so many bytes`, () => {
    const bytes = encodeNumbers(numbers, precision);
    assert.equal(bytes.length, encodedBytes(1000, precision));
    const read = decodeNumbers(bytes, precision, 1000);
    for (let first = 0; first < 1000; first += 256) {
      const part = numbers.subarray(first, first + 256);
      const largest = part.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
      // + 2^-25: below 2^-14 a half is a multiple of 2^-24; + 1e-9: floats of a scale.
      const allowed =
        largest * ERRORS[precision] + (precision === "float16" ? 2 ** -25 : 0) + (ERRORS[precision] && 1e-9);
      const errors = part.map((x, i) => Math.abs(x - read[first + i]));
      assert.ok(Math.max(...errors) <= allowed, `${Math.max(...errors)} > ${allowed}`);
    }
  });

  test(`${precision}: what rounding keeps back is sent later, so that sums stay right`, () => {
    const rounding = new Rounding(precision);
    const sum = new Float64Array(1000);
    for (let round = 0; round < 50; round++)
      rounding.encode(numbers).read.forEach((x, i) => {
        sum[i] += x;
      });
    // After 50 times only the last error is missing; it would be up to 50 of them.
    const errors = sum.map((total, i) => Math.abs(total - 50 * numbers[i]));
    assert.ok(Math.max(...errors) < 2e-4, `${Math.max(...errors)}`);
  });
}

test("bytes of another length and numbers that are not finite are refused", () => {
  assert.throws(() => decodeNumbers(new Uint8Array(7), "float16", 4), /7 bytes, expected 8 for 4 numbers/);
  const bad = encodeNumbers(Float32Array.of(1, Number.NaN), "float32");
  assert.throws(() => decodeNumbers(bad, "float32", 2), /not finite/);
  assert.deepEqual(decodeNumbers(encodeNumbers(new Float32Array(3), "int8"), "int8", 3), new Float32Array(3));
});
