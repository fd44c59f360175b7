import assert from "node:assert/strict";
import { test } from "vitest";
import { normalBelow } from "./normal.js";

test("the normal distribution is right to twelve digits", () => {
  // Abramowitz and Stegun, table 26.1
  for (const [x, below] of [
    [0, 0.5],
    [1, 0.841344746068543],
    [1.96, 0.975002104851779],
    [3.5, 0.999767370920964],
    [4, 0.999968328758167],
  ]) {
    assert.ok(Math.abs(normalBelow(x) - below) < 1e-12);
    assert.ok(Math.abs(normalBelow(-x) - (1 - below)) < 1e-12);
  }
});
