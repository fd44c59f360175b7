import assert from "node:assert/strict";
import { test } from "vitest";
import { input } from "./graph.js";
import { full, parameter } from "./parameter.js";
import { Trainer } from "./trainer.js";

/** One weight from 0, whose gradient is the mean of the batch. */
class Slope {
  readonly weight = parameter([1], full(0));
  readonly loss = input("x", ["n"]).mul(this.weight).mean();
}
const BATCHES = [{ x: Float32Array.of(1, 3) }, { x: Float32Array.of(5, 7) }]; // the mean is 4
const SGD = { name: "sgd", momentum: 0, weightDecay: 0 } as const;

async function train(settings: { clip?: number; ema?: number }, steps: number) {
  const model = new Slope();
  const trainer = await Trainer.open({ model, loss: model.loss, optimiser: SGD, learningRate: 0.5, threads: 1, ...settings }); // biome-ignore format: settings
  for (let step = 0; step < steps; step++) await trainer.step(BATCHES);
  await trainer.pull();
  const weight = model.weight.data[0];
  await trainer.pull({ ema: true });
  await trainer.close();
  return { weight, average: model.weight.data[0] };
}

const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-5, `${a}, not ${b}`); // single precision

test("the gradients of a step's batches are averaged, and clipped by the norm of their average", async () => {
  near((await train({}, 1)).weight, -2);
  near((await train({ clip: 1 }, 1)).weight, -0.5);
  near((await train({ clip: 5 }, 1)).weight, -2);
});

test("the averaged weight keeps min(decay, (1 + step) / (10 + step)) of itself at each step", async () => {
  let average = 0;
  for (let step = 0; step < 12; step++) {
    const decay = Math.min(0.5, (1 + step) / (10 + step));
    average = decay * average + (1 - decay) * -2 * (step + 1);
  }
  near((await train({ ema: 0.5 }, 12)).average, average);
});
