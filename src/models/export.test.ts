import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { parametersOf } from "#tensor";
import { exportNetwork, randomPositions } from "./export.js";
import { MOE_SIZES, Moe } from "./moe.js";
import { RESIDUAL_SIZES, Residual } from "./residual.js";

const network = new Residual(RESIDUAL_SIZES.tiny, new Random(1));
for (const { name, data } of parametersOf(network)) if (name.endsWith(".variance")) data.fill(0.7); // so that norms matter
const leela = new Residual({ ...RESIDUAL_SIZES.tiny, board: "lc0-112" }, new Random(1));
const samples = randomPositions(96, 1);
const parameters = parametersOf(network).reduce((sum, { data }) => sum + data.length, 0);

test("an exported network says what the network says, as exactly as its format allows", async () => {
  // Single precision rounds in another order; halves have 11 bits, of numbers around 1; bytes have 8.
  const limits = { onnx: 1e-4, fp16: 2e-2, int8: 1, safetensors: 0 };
  const sizes: Record<string, number> = {};
  for (const [format, limit] of Object.entries(limits)) {
    const { bytes, differences } = await exportNetwork("residual", network, format as keyof typeof limits, samples);
    sizes[format] = bytes.length;
    assert.deepEqual(Object.keys(differences), ["policy", "value", "wdl"]);
    for (const [name, difference] of Object.entries(differences))
      assert.ok(difference <= limit, `${format}: ${name} is off by ${difference}`);
    if (format === "int8") assert.ok(differences.policy > 0, "bytes cannot be exact");
  }
  assert.ok(sizes.safetensors < 4 * parameters + 10_000, "the weights and their names, no moments");
  assert.ok(sizes.fp16 < sizes.onnx && sizes.int8 < sizes.onnx, JSON.stringify(sizes));
});

test("a network of Leela's planes is exported as exactly", async () => {
  const { differences } = await exportNetwork("residual", leela, "onnx", samples.slice(0, 8));
  assert.deepEqual(Object.keys(differences), ["policy", "value", "wdl"]);
  for (const difference of Object.values(differences)) assert.ok(difference < 1e-4, `${difference}`); // as above
});

test("weights beyond the range of halves stay in single precision", async () => {
  const wide = new Residual(RESIDUAL_SIZES.tiny, new Random(2));
  parametersOf(wide.policy)[0].data[0] = 1e6;
  const { differences } = await exportNetwork("residual", wide, "fp16", samples.slice(0, 4));
  for (const difference of Object.values(differences)) assert.ok(Number.isFinite(difference), `${difference}`);
});

test("an exported ONNX file says how its input is made, in every format", async () => {
  const moe = new Moe({ ...MOE_SIZES.tiny, turned: true }, new Random(1));
  for (const format of ["onnx", "fp16", "int8"] as const) {
    const text = new TextDecoder("latin1").decode((await exportNetwork("moe", moe, format, samples.slice(0, 8))).bytes);
    for (const words of ["fen-tokens", "actions1968", "colours swapped", '"turned":true'])
      assert.ok(text.includes(words), `${format}: ${words}`);
  }
  const text = new TextDecoder("latin1").decode(
    (await exportNetwork("residual", network, "onnx", samples.slice(0, 8))).bytes,
  );
  assert.match(text, /planes \[n, \d+, 8, 8\]: the position as/);
});
