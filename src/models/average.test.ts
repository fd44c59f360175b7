import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { parametersOf } from "#tensor";
import { averageWeights } from "./average.js";
import { RESIDUAL_SIZES, Residual } from "./residual.js";

const named = (seed: number, config = {}) => ({
  path: `${seed}.safetensors`,
  family: "residual" as const,
  network: new Residual({ ...RESIDUAL_SIZES.tiny, ...config }, new Random(seed)),
});

test("weights are the mean of all networks, each counted once", () => {
  const networks = [1, 2, 3].map((seed) => named(seed));
  const before = networks.map(({ network }) => parametersOf(network).map(({ data }) => data.slice()));
  averageWeights(networks[0], networks.slice(1));
  parametersOf(networks[0].network).forEach(({ name, data }, i) => {
    data.forEach((value, k) => {
      const mean = (before[0][i][k] + before[1][i][k] + before[2][i][k]) / 3;
      assert.ok(Math.abs(value - mean) < 1e-6, `${name}[${k}]`);
    });
  });
  assert.deepEqual(parametersOf(networks[1].network)[0].data, before[1][0]); // the others stay as they are
});

test("networks of another shape are refused by name", () => {
  assert.throws(() => averageWeights(named(1), [named(2, { blocks: 1 })]), {
    code: "AVERAGE_OTHER",
    message: /^2\.safetensors is not of the same kind as 1\.safetensors/,
  });
});
