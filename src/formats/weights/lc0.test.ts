import assert from "node:assert/strict";
import { test } from "vitest";
import { UserError } from "#base";
import { isLc0, readLc0 } from "./lc0.js";
import { layer, message, network, number, writeTiny } from "./lc0-testing.js";

const code = (text: string) => (error: unknown) => error instanceof UserError && error.code === text;

test("a file is known by its magic number", () => {
  assert.ok(isLc0(writeTiny()));
  assert.ok(!isLc0(Uint8Array.of(0x0d, 0xc1, 1, 0, 0)));
  assert.throws(() => readLc0(new Uint8Array(0), "x.pb"), code("LC0_MAGIC"));
});

test("weights are read in all four encodings", () => {
  const values = [-1, 0.5, 0.25, 1];
  for (const encoding of [1, 2, 3, 4] as const) {
    const { value } = readLc0(writeTiny({ encoding, hidden: { biases: values } }), "x.pb");
    for (const [i, x] of values.entries()) {
      // A step of LINEAR16 is 2 / 65535 here; the other three have these numbers exactly.
      assert.ok(Math.abs(value.hidden.biases[i] - x) <= (encoding === 1 ? 2 / 65535 : 0), `${encoding}: ${x}`);
    }
  }
});

test("a batch norm is folded into its convolution, and what is missing of it is 0 or 1", () => {
  const folded = readLc0(writeTiny({ norm: { means: [2], variances: [4 - 1e-5], gammas: [3], betas: [5] } }), "x.pb");
  const plain = readLc0(writeTiny(), "x.pb");
  assert.ok(Math.abs(folded.input.weights[7] - plain.input.weights[7] * 1.5) < 1e-6);
  assert.ok(Math.abs(folded.input.biases[0] - (5 - 1.5 * 2)) < 1e-6);
  const bare = readLc0(writeTiny({ norm: { means: [2], variances: [4 - 1e-5] } }), "x.pb");
  assert.ok(Math.abs(bare.input.biases[0] + 1) < 1e-6);
});

test("both heads, with and without squeeze and excitation, are told apart", () => {
  const conv = readLc0(writeTiny({ policy: "convolution", value: "wdl", squeeze: 2 }), "x.pb");
  assert.equal(conv.policy.kind, "convolution");
  assert.equal(conv.value.kind, "wdl");
  assert.equal(conv.value.out.biases.length, 3);
  assert.equal(conv.blocks[0].squeeze?.second.biases.length, 2);
  const old = readLc0(writeTiny(), "x.pb");
  assert.deepEqual([old.policy.kind, old.value.kind, old.blocks[0].squeeze], ["classical", "classical", undefined]);
});

test("a file without formats is classical in everything", () => {
  const file = writeTiny({ formats: [] });
  assert.equal(readLc0(file, "x.pb").policy.kind, "classical");
});

test("attention and other formats are refused by name", () => {
  const refused = (formats: [number, number][], name: RegExp) => {
    assert.throws(() => readLc0(writeTiny({ formats }), "x.pb"), code("LC0_FORMAT"));
    assert.throws(() => readLc0(writeTiny({ formats }), "x.pb"), name);
  };
  refused([[3, 6]], /an attention body/);
  refused([[3, 7]], /an attention body with several heads/);
  refused([[3, 5]], /ONNX/);
  refused([[3, 4], [4, 3]], /an attention policy/); // biome-ignore format: pairs
  refused([[3, 4], [5, 3]], /a parametric value/); // biome-ignore format: pairs
  refused([[1, 3]], /canonicalization/);
  refused([[1, 77]], /a format unknown here \(field 1: 77\)/);
});

test("damage is reported with its byte, and costs no memory", () => {
  const whole = writeTiny();
  assert.throws(
    () => readLc0(whole.subarray(0, whole.length - 1), "x.pb"),
    /byte \d+ .*wants \d+ bytes, and \d+ are left/s,
  );
  // A length of 2^40 in front of nothing.
  const lying = network([], message(1, Uint8Array.of(0x0a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20)));
  assert.throws(() => readLc0(lying, "x.pb"), code("LC0_CORRUPT"));
  assert.throws(() => readLc0(network([], new Uint8Array(0)), "x.pb"), /the input is missing/);
  const odd = network([], message(1, message(1, layer([1, 2, 3], 4))));
  assert.throws(() => readLc0(odd, "x.pb"), /3 numbers found, expected a multiple of 1008/);
  assert.throws(() => readLc0(network([], number(1, 5)), "x.pb"), /wire type 0, expected 2/);
});
