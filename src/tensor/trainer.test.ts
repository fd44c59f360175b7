import assert from "node:assert/strict";
import { test } from "vitest";
import { Random, type UserError } from "#base";
import { checkpoint } from "./checkpoint.js";
import { input, type Tensor } from "./graph.js";
import { conv3x3, toSquares } from "./layers/conv.js";
import { linear } from "./layers/linear.js";
import { batchNorm } from "./layers/norm.js";
import { crossEntropy, meanSquaredError } from "./losses.js";
import { exportOnnx } from "./onnx/export.js";
import { parametersOf } from "./parameter.js";
import { type Device, Session } from "./session.js";
import { Trainer, type TrainerOptions } from "./trainer.js";

class Mlp {
  readonly first;
  readonly second;
  constructor(random: Random) {
    this.first = linear(2, 16, random);
    this.second = linear(16, 2, random);
  }
  forward = (x: Tensor) => this.second.apply(this.first.apply(x).tanh());
}

const x = Float32Array.of(0, 0, 0, 1, 1, 0, 1, 1);
const label = Int32Array.of(0, 1, 1, 0);
const optimiser = { name: "adamw" } as const;

function build(forward = (net: Mlp, at: Tensor) => net.forward(at)) {
  const net = new Mlp(new Random(1));
  const logits = forward(net, input("x", ["n", 2]));
  const loss = crossEntropy(logits, input("label", ["n"], "int32")).mean();
  return { net, logits, loss };
}

/** Weights after some steps, and the losses on the way. */
async function train(options: TrainerOptions, steps: (trainer: Trainer) => Promise<{ loss: number }[]>) {
  const trainer = await Trainer.open(options);
  const results = await steps(trainer);
  await trainer.pull();
  await trainer.close();
  return {
    losses: results.map(({ loss }) => loss),
    weights: parametersOf(options.model).map(({ data }) => data.slice()),
  };
}

async function repeat(trainer: Trainer, times: number, batch: Parameters<Trainer["step"]>[0] = { x, label }) {
  const results: { loss: number }[] = [];
  for (let i = 0; i < times; i++) results.push(await trainer.step(batch));
  return results;
}

function assertNear(a: ArrayLike<number>, b: ArrayLike<number>, tolerance: number): void {
  assert.equal(a.length, b.length);
  for (let i = 0; i < a.length; i++) assert.ok(Math.abs(a[i] - b[i]) <= tolerance, `${a[i]} and ${b[i]} at ${i}`);
}

test("a small net learns exclusive or, and its export agrees with it", async () => {
  const { net, logits, loss } = build();
  const { losses } = await train({ model: net, loss, optimiser, learningRate: 0.05 }, (trainer) =>
    repeat(trainer, 200),
  );
  assert.ok(losses[199] < 0.01, `loss ${losses[199]}`);
  const session = await Session.open(exportOnnx({ logits }));
  const { data } = (await session.run({ x })).logits;
  await session.close();
  const guesses = [0, 1, 2, 3].map((i) => (data[2 * i + 1] > data[2 * i] ? 1 : 0));
  assert.deepEqual(guesses, [...label]);
});

test("two halves of a batch, accumulated, are worth the whole batch", async () => {
  const [whole, halves] = [build(), build()];
  const a = await train({ model: whole.net, loss: whole.loss, optimiser }, (trainer) => repeat(trainer, 3));
  const parts = [0, 1].map((i) => ({ x: x.slice(4 * i, 4 * i + 4), label: label.slice(2 * i, 2 * i + 2) }));
  const b = await train({ model: halves.net, loss: halves.loss, optimiser }, (trainer) => repeat(trainer, 3, parts));
  assertNear(a.losses, b.losses, 1e-6);
  a.weights.forEach((data, i) => {
    assertNear(data, b.weights[i], 1e-6);
  });
});

/** Three unlike batches for a net with dropout, a batch norm and an average: everything that replicas must agree on. */
function buildNoisy() {
  const random = new Random(3);
  const model = { first: linear(2, 16, random), norm: batchNorm(16), second: linear(16, 2, random) };
  const hidden = model.norm.apply(model.first.apply(input("x", [4, 2]))).tanh();
  const loss = crossEntropy(model.second.apply(hidden.dropout(0.25)), input("label", [4], "int32")).mean();
  const batches = [0.5, 1, 2].map((factor) => ({ x: x.map((value) => value * factor + factor), label }));
  return { batches, options: { model, loss, optimiser, clip: 0.5, ema: 0.9, seed: 7 } satisfies TrainerOptions };
}

test.each([
  { replicas: 2, count: 3 },
  { replicas: 3, count: 3 },
  { replicas: 2, count: 1 },
])("$replicas replicas learn from $count batches what one does", async ({ replicas, count }) => {
  const run = async (options: TrainerOptions, batches: { x: Float32Array; label: Int32Array }[]) =>
    train(options, async (trainer) => {
      const results = await repeat(trainer, 4, batches.slice(0, count));
      const { tensors } = await trainer.state();
      return [...results, ...Object.values(tensors).map(({ data }) => ({ loss: Number(data[0]) }))];
    });
  const [alone, together, again] = [buildNoisy(), buildNoisy(), buildNoisy()];
  const a = await run(alone.options, alone.batches);
  const b = await run({ ...together.options, replicas }, together.batches);
  // Running statistics of batch norms are averaged instead of updated in turns; nothing else differs but rounding.
  const statistics = parametersOf(alone.options.model).map(({ trainable }) => !trainable);
  assertNear(a.losses.slice(0, 4), b.losses.slice(0, 4), 1e-5);
  a.weights.forEach((data, i) => {
    if (!statistics[i] || count === 1) assertNear(data, b.weights[i], 1e-5);
  });
  const c = await run({ ...again.options, replicas }, again.batches);
  assert.deepEqual(c, b, "the same every time");
});

test("replicas that are saved and resumed go on to the last bit, also after a batch that was refused", async () => {
  const straight = buildNoisy();
  const wanted = await train({ ...straight.options, replicas: 2 }, (trainer) => repeat(trainer, 6, straight.batches));
  const { options, batches } = buildNoisy();
  const trainer = await Trainer.open({ ...options, replicas: 2 });
  await repeat(trainer, 3, batches);
  const refused = await failing(trainer.step([batches[0], { x }]));
  assert.match(refused.message, /input "label" was not given/);
  await trainer.pull();
  const state = await trainer.state();
  await trainer.close();
  const resumed = await train({ ...options, replicas: 2 }, async (other) => {
    await other.restore(state);
    return repeat(other, 3, batches);
  });
  assert.deepEqual(resumed.losses, wanted.losses.slice(3));
  assert.deepEqual(resumed.weights, wanted.weights);
});

test("replicas average the running statistics of their batches", async () => {
  const statistics = async (replicas: number, pick: (list: { x: Float32Array; label: Int32Array }[]) => object[]) => {
    const { options, batches } = buildNoisy();
    await train({ ...options, replicas }, (trainer) => repeat(trainer, 1, pick(batches) as never));
    return options.model.norm.runningMean.data.slice();
  };
  const first = await statistics(1, (batches) => [batches[0]]);
  const last = await statistics(1, (batches) => [batches[2]]);
  const both = await statistics(2, (batches) => [batches[0], batches[2]]);
  assertNear(
    both,
    first.map((value, i) => (value + last[i]) / 2),
    1e-6,
  );
});

test("a checkpointed block learns the same", async () => {
  const plain = build();
  const saving = build((net, at) => net.second.apply(checkpoint((y) => net.first.apply(y).tanh(), at)));
  const a = await train({ model: plain.net, loss: plain.loss, optimiser }, (trainer) => repeat(trainer, 3));
  const b = await train({ model: saving.net, loss: saving.loss, optimiser }, (trainer) => repeat(trainer, 3));
  assert.deepEqual(a, b);
});

test("a run that is saved and resumed ends with the weights of one that never stopped, dropout included", async () => {
  const make = () => {
    const net = new Mlp(new Random(1));
    const hidden = net.first
      .apply(input("x", [4, 2]))
      .tanh()
      .dropout(0.5);
    const loss = crossEntropy(net.second.apply(hidden), input("label", [4], "int32")).mean();
    return { model: net, loss, optimiser, ema: 0.9, clip: 0.5, seed: 7 } satisfies TrainerOptions;
  };
  const straight = await train(make(), (trainer) => repeat(trainer, 6));
  const first = make();
  const trainer = await Trainer.open(first);
  await repeat(trainer, 3);
  await trainer.pull();
  const state = await trainer.state();
  await trainer.close();
  const second = { ...make(), model: first.model, loss: first.loss };
  const resumed = await train(second, async (other) => {
    await other.restore(state);
    return repeat(other, 3);
  });
  assert.deepEqual(resumed.weights, straight.weights);
  assert.deepEqual(resumed.losses, straight.losses.slice(3));
  assert.notEqual(straight.losses[0], straight.losses[1], "masks differ from step to step");
});

test("an averaged copy of the weights trails behind them", async () => {
  const { net, loss } = build();
  const before = parametersOf(net)[0].data.slice();
  const trainer = await Trainer.open({ model: net, loss, optimiser: { name: "sgd" }, learningRate: 0.1, ema: 0.75 });
  await trainer.step({ x, label });
  await trainer.pull();
  const after = parametersOf(net)[0].data.slice();
  await trainer.pull({ ema: true });
  await trainer.close();
  // Each has come the same share of the way; which one, is the schedule's affair (ema.ts).
  const share = (parametersOf(net)[0].data[0] - before[0]) / (after[0] - before[0]);
  assert.ok(share > 0 && share < 1, `share ${share}`);
  assertNear(
    parametersOf(net)[0].data,
    before.map((old, i) => old + share * (after[i] - old)),
    1e-5, // the share is known to some five digits
  );
});

test("a loss that is not finite changes no weight", async () => {
  const { options } = buildNoisy();
  const before = parametersOf(options.model).map(({ data }) => data.slice());
  const bad = { x: Float32Array.of(Number.NaN, 0, 0, 0, 0, 0, 0, 0), label };
  const { losses, weights } = await train(options, (trainer) => repeat(trainer, 1, bad));
  assert.ok(Number.isNaN(losses[0]));
  assert.deepEqual(weights, before);
});

class BoardNet {
  readonly conv;
  readonly norm;
  readonly head;
  constructor(random: Random) {
    this.conv = conv3x3(3, 8, random);
    this.norm = batchNorm(8);
    this.head = linear(8, 1, random);
  }
  forward = (planes: Tensor) =>
    this.head
      .apply(
        this.norm
          .apply(this.conv.apply(toSquares(planes)))
          .relu()
          .mean([0, 1]),
      )
      .reshape([planes.dim(0)]);
}

test("batch norm trains on the batch, and is exported with its running averages", async () => {
  const random = new Random(2);
  const net = new BoardNet(random);
  const value = net.forward(input("planes", ["n", 3, 8, 8]));
  const loss = meanSquaredError(value, input("target", ["n"]));
  const planes = Float32Array.from({ length: 16 * 3 * 64 }, () => random.normal() + 1);
  const target = Float32Array.from({ length: 16 }, () => random.normal());
  const trainer = await Trainer.open({ model: net, loss, optimiser, learningRate: 0 });
  // With the same batch and no learning, the averages arrive at the batch's own statistics.
  const results = await repeat(trainer, 150, { planes, target });
  await trainer.pull();
  await trainer.close();
  const session = await Session.open(exportOnnx({ value }));
  const { data } = (await session.run({ planes })).value;
  await session.close();
  const mean = target.reduce((sum, wanted, i) => sum + (Number(data[i]) - wanted) ** 2, 0) / 16;
  // The running variance is the unbiased one, larger by 1/1023.
  assert.ok(Math.abs(mean / results[0].loss - 1) < 5e-3, `${mean} and ${results[0].loss}`);
});

test("a timer of the caller fires on time while a step runs", async () => {
  class Heavy {
    readonly weight = linear(512, 512, new Random(1));
  }
  const net = new Heavy();
  let y = input("x", [512, 512]);
  for (let i = 0; i < 12; i++) y = net.weight.apply(y).tanh();
  const trainer = await Trainer.open({ model: net, loss: y.square().mean(), optimiser });
  const batch = { x: new Float32Array(512 * 512).fill(0.1) };
  await trainer.step(batch);
  const start = performance.now();
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  await trainer.step(batch);
  clearInterval(timer);
  const took = performance.now() - start;
  await trainer.close();
  // 12 products of 512^3, three times over: tens of milliseconds, of which a blocked thread would see one tick at most
  assert.ok(ticks >= Math.max(3, took / 5 / 8), `${ticks} ticks in ${took} ms`);
});

const failing = async (work: Promise<unknown>): Promise<UserError> =>
  work.then(
    () => assert.fail("should have failed"),
    (error) => error as UserError,
  );

test("a device that is not there, and a parameter without a name, are refused in plain words", async () => {
  const { net, logits } = build();
  assert.throws(() => exportOnnx({ logits }), /has no name/);
  parametersOf(net);
  const bytes = exportOnnx({ logits });
  const missing = await failing(Session.open(bytes, { device: "cuda" }));
  assert.equal(missing.code, "DEVICE_MISSING");
  assert.match(missing.message, /"cuda" cannot be used here/);
  const unknown = await failing(Session.open(bytes, { device: "cpuu" as Device }));
  assert.match(unknown.message, /Did you mean "cpu"/);
});

test("inputs that are missing, misspelt or too short are named", async () => {
  const { net, logits } = build();
  parametersOf(net);
  const session = await Session.open(exportOnnx({ logits }));
  assert.match((await failing(session.run({}))).message, /input "x" was not given/);
  assert.match((await failing(session.run({ X: x }))).message, /no input "X". Did you mean "x"/);
  assert.match((await failing(session.run({ x: x.slice(0, 3) }))).message, /shape \[n, 2\] cannot take 3 values/);
  await session.close();
});

test("a shape error names the op, both shapes and the line that built it", () => {
  const a = input("a", ["n", 3]);
  const b = input("b", [4, 5]);
  assert.throws(
    () => a.matmul(b),
    /^UserError: matmul of \[n, 3\] and \[4, 5\]: 3 columns of the left side meet 4 rows of the right side\n {2}at .*trainer\.test\.ts/,
  );
  assert.throws(() => a.add(b), /add of \[n, 3\] and \[4, 5\]: the shapes cannot be stretched to fit/);
});
