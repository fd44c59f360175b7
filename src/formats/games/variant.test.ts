import assert from "node:assert/strict";
import { test } from "vitest";
import { parseVariant } from "./variant.js";

test("a Variant tag is understood as servers spell it, and one without rules here is not", () => {
  assert.equal(parseVariant(undefined), "standard");
  assert.equal(parseVariant("Standard"), "standard");
  assert.equal(parseVariant("From Position"), "from-position");
  for (const name of ["Chess960", "Chess 960", "Fischerandom", "Chess-FischerRandom960", "Freestyle Chess", "FRC"])
    assert.equal(parseVariant(name), "chess960", name);
  for (const name of ["Atomic", "Crazyhouse", "King of the Hill", "Antichess960"])
    assert.equal(parseVariant(name), undefined, name);
});
