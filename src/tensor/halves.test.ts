import assert from "node:assert/strict";
import { test } from "vitest";
import { fromBfloat16, fromHalf, toHalf } from "./halves.js";

test("every half survives the way to a float and back", () => {
  const all = Uint16Array.from({ length: 65536 }, (_, i) => i);
  const back = toHalf(fromHalf(all));
  for (const bits of all) {
    const isNan = (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0;
    assert.equal(back[bits], isNan ? 0x7e00 : bits); // one "not a number" is enough
  }
});

test("a number becomes the nearest half, an even one between two", () => {
  const cases: [number, number][] = [
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519.99, 0x7bff],
    [65520, 0x7c00],
    [1 + 2 ** -11, 0x3c00], // half-way: to the even one below
    [1 + 3 * 2 ** -11, 0x3c02], // half-way: to the even one above
    [1 + 2 ** -11 + 2 ** -20, 0x3c01],
    [2 ** -24, 1],
    [2 ** -25, 0], // half-way to zero, which is even
    [1.5 * 2 ** -24, 2],
    [2 ** -14 - 2 ** -26, 0x400], // rounds up into the normal ones
    [0.1, 0x2e66],
    [-0, 0x8000],
  ];
  for (const [value, bits] of cases) assert.equal(toHalf([value])[0], bits, `${value}`);
});

test("bfloat16 is the upper half of a float", () => {
  assert.deepEqual([...fromBfloat16(Uint16Array.of(0x3f80, 0xc049, 0x7f80))], [1, -3.140625, Number.POSITIVE_INFINITY]);
});
