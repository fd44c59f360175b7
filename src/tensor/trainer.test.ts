import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { exportOnnx } from "./export.js";
import { input, type Tensor } from "./graph.js";
import { linear } from "./layers/linear.js";
import { crossEntropy } from "./losses.js";
import { Session } from "./session.js";
import { Trainer } from "./trainer.js";

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

function build() {
  const net = new Mlp(new Random(1));
  const logits = net.forward(input("x", ["n", 2]));
  const loss = crossEntropy(logits, input("label", ["n"], "int32")).mean();
  return { net, logits, loss };
}

test("a small net learns exclusive or, and its export agrees with it", async () => {
  const { net, logits, loss } = build();
  const trainer = await Trainer.open({ model: net, loss, optimiser: { name: "adamw" }, learningRate: 0.05 });
  let last = 0;
  for (let i = 0; i < 200; i++) last = (await trainer.step({ x, label })).loss;
  assert.ok(last < 0.01, `loss ${last}`);
  await trainer.pull();
  await trainer.close();
  const session = await Session.open(exportOnnx({ logits }));
  const { data } = (await session.run({ x })).logits;
  await session.close();
  const guesses = [0, 1, 2, 3].map((i) => (data[2 * i + 1] > data[2 * i] ? 1 : 0));
  assert.deepEqual(guesses, [...label]);
});
