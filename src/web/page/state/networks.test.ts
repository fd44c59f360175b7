import assert from "node:assert/strict";
import { test } from "vitest";
import { PLAYING_FAMILIES } from "#engine";
import { searchesOf } from "./networks.js";

test("the page offers for each family the searches that the engine has for it", () => {
  for (const [family, { searches }] of Object.entries(PLAYING_FAMILIES))
    assert.deepEqual(searchesOf({ id: "", name: "", family, address: "", origin: "box" }), searches, family);
});
