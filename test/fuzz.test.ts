import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "vitest";

// A short run of `npm run fuzz`, always with the same seed.
for (const [target, count] of [
  ["fen", 3000],
  ["san", 5000],
  ["uci", 3000],
  ["pgn", 1500],
  ["lc0", 1500],
] as const) {
  test(`${count} damaged inputs do no harm: ${target}`, () => {
    const { stdout, status } = spawnSync(
      process.execPath,
      ["fuzz/run.mjs", target, "--count", `${count}`, "--seed", "42"],
      {
        encoding: "utf8",
      },
    );
    assert.equal(status, 0, stdout);
    const { inputs, accepted } = JSON.parse(stdout);
    assert.equal(inputs, count);
    assert.ok(accepted > 0); // some of the damage leaves a valid text
  });
}
