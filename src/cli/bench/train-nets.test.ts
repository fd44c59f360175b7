import assert from "node:assert/strict";
import { test } from "vitest";
import { Trainer } from "#tensor";
import { BENCH_NETS } from "./train-nets.js";

test.each(Object.keys(BENCH_NETS))("the batch of %s has all that a step needs", async (name) => {
  const { model, loss, batches } = BENCH_NETS[name].build();
  const trainer = await Trainer.open({ model, loss, optimiser: { name: "adamw" }, learningRate: 1e-3 });
  try {
    const step = await trainer.step(batches.slice(0, 1));
    assert.ok(Number.isFinite(step.loss), `${step.loss}`);
  } finally {
    await trainer.close();
  }
});
