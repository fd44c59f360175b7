import assert from "node:assert/strict";
import { test } from "vitest";
import { Random, type UserError } from "#base";
import { readSafetensors, writeSafetensors } from "#tensor";
import { networkBytes, readNetwork } from "./load.js";
import { RESIDUAL_SIZES, Residual } from "./residual.js";

test("a file whose description is of a larger network than its tensors is refused before memory is taken", () => {
  const { tensors, metadata } = readSafetensors(
    networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, new Random(1))),
    "x",
  );
  // 4096 channels in 4096 blocks: some 10^12 weights.
  const config = JSON.stringify({ ...RESIDUAL_SIZES.tiny, width: 4096, blocks: 4096 });
  const lying = writeSafetensors(tensors, { ...metadata, config });
  const before = process.memoryUsage().arrayBuffers;
  assert.throws(
    () => readNetwork(lying, "lying.safetensors"),
    (error: UserError) =>
      error.code === "WEIGHTS_CONFIG" && /^lying\.safetensors: .* larger network/.test(error.message),
  );
  assert.ok(process.memoryUsage().arrayBuffers - before < 10e6);
  assert.equal(readNetwork(writeSafetensors(tensors, metadata), "whole").family, "residual");
});
