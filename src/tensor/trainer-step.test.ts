import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { input } from "./graph.js";
import { embedding } from "./layers/linear.js";
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

test.each([
  { replicas: 1, count: 1 },
  { replicas: 1, count: 5 },
  { replicas: 2, count: 5 },
])(
  "a large table learns the rows that were looked up, as often as they were: $replicas replicas, $count batches",
  async ({ replicas, count }) => {
    const model = { table: embedding(300, 3, new Random(1)), scale: parameter([3], full(2)) };
    const loss = model.table
      .apply(input("rows", [2, 2], "int32"))
      .mul(model.scale)
      .sum();
    const batches = [[7, 299, 7, 0], [7, 8, 9, -1], [1, 1, 1, 1], [0, 7, 299, 2], [5, 4, 3, -300]].slice(0, count); // biome-ignore format: a list
    const table = model.table.weight.data.slice();
    const scale = [2, 2, 2];
    const options = { model, loss, optimiser: SGD, learningRate: 0.5, threads: 1, replicas, decays: () => false };
    const trainer = await Trainer.open(options);
    for (let step = 0; step < 2; step++) {
      await trainer.step(batches.map((rows) => ({ rows: Int32Array.from(rows) })));
      const places = batches.flat().map((row) => (row + 300) % 300);
      const lines = places.map((row) => [...table.slice(3 * row, 3 * row + 3)]);
      for (const row of places) for (const i of [0, 1, 2]) table[3 * row + i] -= (0.5 / count) * scale[i];
      for (const line of lines) for (const i of [0, 1, 2]) scale[i] -= (0.5 / count) * line[i];
    }
    await trainer.pull();
    await trainer.close();
    table.forEach((value, i) => {
      near(model.table.weight.data[i], value);
    });
    scale.forEach((value, i) => {
      near(model.scale.data[i], value);
    });
  },
);
