import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "vitest";

test("every name that a door exports has a comment, and the reference is made without a warning", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/docs.mjs", "--check"], { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
}, 600_000); // the compiler reads all sources, on a machine that may have much else to do
