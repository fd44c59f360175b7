import assert from "node:assert/strict";
import { test } from "vitest";
import { kendallTau } from "./kendall.js";

test("tau is 1 for the same order, -1 for the reverse, and counts pairs between", () => {
  assert.equal(kendallTau([1, 2, 3, 4], [10, 20, 30, 40]), 1);
  assert.equal(kendallTau([1, 2, 3, 4], [4, 3, 2, 1]), -1);
  assert.equal(kendallTau([1, 2, 3, 4], [2, 1, 3, 4]), 4 / 6); // one pair of six the wrong way
});

test("ties count as in scipy.stats.kendalltau", () => {
  const tau = kendallTau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]) ?? 0;
  assert.ok(Math.abs(tau - -0.47140452079103173) < 1e-12); // the example of its documentation
  assert.equal(kendallTau([1, 1, 1], [1, 2, 3]), undefined);
});
