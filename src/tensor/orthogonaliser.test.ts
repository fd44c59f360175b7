import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { input } from "./graph.js";
import { linear } from "./layers/linear.js";
import { crossEntropy } from "./losses.js";
import { exportOnnx } from "./onnx/export.js";
import { orthogonalised } from "./orthogonaliser.js";
import { Session } from "./session.js";
import { Trainer, type TrainerOptions } from "./trainer.js";

async function turned(shape: number[], data: Float32Array) {
  const session = await Session.open(exportOnnx({ y: orthogonalised(input("x", shape)) }));
  const { y } = await session.run({ x: data });
  await session.close();
  return y.data as Float32Array;
}

/** How far a matrix [rows, columns] is from one with orthonormal rows: the largest error of its product with itself. */
function skew(data: ArrayLike<number>, rows: number, columns: number): number {
  let most = 0;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < rows; j++) {
      let product = 0;
      for (let k = 0; k < columns; k++) product += data[i * columns + k] * data[j * columns + k];
      most = Math.max(most, Math.abs(product - Number(i === j)));
    }
  }
  return most;
}

test("directions as unequal as 5 and 0.05 come out alike, and keep their signs", async () => {
  const [values, size] = [[5, -2, 0.5, 0.05], 4];
  const data = new Float32Array(size * size);
  values.forEach((value, i) => {
    data[i * size + i] = value;
  });
  const y = await turned([1, size, size], data);
  values.forEach((value, i) => {
    const factor = y[i * size + i] * Math.sign(value);
    assert.ok(factor > 0.65 && factor < 1.25, `${value} became ${factor}`);
  });
});

test("each matrix of a stack is made orthogonal by itself, wide or tall", async () => {
  const random = new Random(1);
  const data = Float32Array.from({ length: 2 * 8 * 24 }, (_, i) => random.normal() * (i < 8 * 24 ? 1 : 1000));
  const wide = await turned([2, 8, 24], data);
  for (const matrix of [wide.subarray(0, 8 * 24), wide.subarray(8 * 24)]) assert.ok(skew(matrix, 8, 24) < 0.5);
  const tall = Float32Array.from(data, (_, i) => data[(i % 8) * 24 + Math.floor((i % 192) / 8)]); // the first one, turned
  const answer = await turned([2, 24, 8], tall);
  for (let i = 0; i < 8; i++) {
    for (let j = 0; j < 24; j++) assert.ok(Math.abs(answer[j * 8 + i] - wide[i * 24 + j]) < 1e-5);
  }
});

/** A layer whose matrix muon moves, one too narrow for it, and their biases. */
function build() {
  const random = new Random(2);
  const model = { first: linear(24, 16, random), second: linear(16, 3, random) };
  const logits = model.second.apply(model.first.apply(input("x", [6, 24])).tanh());
  const loss = crossEntropy(logits, input("label", [6], "int32")).mean();
  const options = { model, loss, optimiser: { name: "muon", weightDecay: 0 } } satisfies TrainerOptions;
  const batch = {
    x: Float32Array.from({ length: 6 * 24 }, () => random.normal()),
    label: Int32Array.of(0, 1, 2, 2, 1, 0),
  };
  return { model, options, batch };
}

/** How a parameter moves in the first step, over the learning rate. */
async function firstStep(
  options: TrainerOptions,
  batch: ReturnType<typeof build>["batch"],
  of: { data: Float32Array },
) {
  const before = of.data.slice();
  const trainer = await Trainer.open(options);
  await trainer.step(batch, { learningRate: 0.01 });
  await trainer.pull();
  await trainer.close();
  return of.data.map((value, i) => (value - before[i]) / 0.01);
}

test("muon moves a matrix in its gradient's directions by AdamW's usual size, and all else by AdamW", async () => {
  const { model, options, batch } = build();
  const step = await firstStep(options, batch, model.first.weight);
  const size = Math.sqrt(step.reduce((sum, x) => sum + x * x, 0) / step.length);
  assert.ok(size > 0.05 && size < 0.25, `a mean step of ${size}`); // few of the 16 directions occur in six rows
  for (const pick of [(net: typeof model) => net.second.weight, (net: typeof model) => net.first.bias!]) {
    const [ours, adam] = [build(), build()];
    const a = await firstStep(ours.options, ours.batch, pick(ours.model));
    const b = await firstStep(
      { ...adam.options, optimiser: { name: "adamw", weightDecay: 0 } },
      adam.batch,
      pick(adam.model),
    );
    assert.deepEqual(a, b);
  }
});

test("muon learns the batch by heart, and goes on to the last bit after it was saved", async () => {
  const run = async (stop: number) => {
    const { model, options, batch } = build();
    let trainer = await Trainer.open(options);
    let last = 0;
    for (let step = 0; step < 60; step++) {
      if (step === stop) {
        await trainer.pull();
        const state = await trainer.state();
        await trainer.close();
        trainer = await Trainer.open(options);
        await trainer.restore(state);
      }
      last = (await trainer.step(batch, { learningRate: 0.02 })).loss;
    }
    await trainer.pull();
    await trainer.close();
    return { last, weights: model.first.weight.data.slice() };
  };
  const [straight, stopped] = [await run(-1), await run(30)];
  assert.ok(straight.last < 0.05, `loss ${straight.last}`);
  assert.deepEqual(stopped, straight);
});
