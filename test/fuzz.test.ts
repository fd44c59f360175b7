import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "vitest";

const COUNT = 1500; // inputs of each target, or as many as come in its seconds
const SECONDS = 1;

// A short run of `npm run fuzz`, always with the same seed.
test("damaged inputs do no harm to any reader", () => {
  const args = ["fuzz/run.mjs", "--count", `${COUNT}`, "--seconds", `${SECONDS}`, "--seed", "42"];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.equal(status, 0, stdout + stderr);
  const results = stdout.trim().split("\n").map((line) => JSON.parse(line)); // biome-ignore format: one thought
  for (const { target, inputs, accepted } of results) {
    assert.ok(inputs > 0, target);
    // Some of the damage leaves a valid input; of the networks that are not to be read here none is.
    if (inputs === COUNT && target !== "onnx") assert.ok(accepted > 0, target);
  }
  const listed = [...readFileSync("fuzz/targets.mjs", "utf8").matchAll(/^ {2}"?([\w.-]+)"?: /gm)].map(
    ([, name]) => name,
  );
  assert.deepEqual(results.map(({ target }) => target), listed); // biome-ignore format: one thought
}, 600_000); // a busy machine takes long to start 27 threads
