import assert from "node:assert/strict";
import { test } from "vitest";
import { upgradeSettings } from "./upgrade.js";

test("settings that older runs lack are filled in as those runs worked, each family's by itself", () => {
  const { start, augment, repetitions, ...rest } = upgradeSettings({ family: "residual", width: 64 });
  assert.deepEqual([start, augment, repetitions, rest], ["", false, false, { family: "residual", width: 64 }]);
  assert.equal(upgradeSettings({ family: "moe" }).linked, false);
  assert.equal(upgradeSettings({ family: "decoder" }).skipBoards, 0);
  assert.deepEqual(upgradeSettings({ family: "nnue", start: "nnue" }), { family: "nnue", start: "nnue" });
});

test("what a run says of itself stays", () => {
  assert.equal(upgradeSettings({ family: "residual", augment: true }).augment, true);
  assert.equal(upgradeSettings({ family: "moe", linked: true }).linked, true);
});
