import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { input, type Tensor } from "../graph.js";
import { conv3x3, toPlanes, toSquares } from "../layers/conv.js";
import { linear } from "../layers/linear.js";
import { batchNorm } from "../layers/norm.js";
import { parametersOf } from "../parameter.js";
import { Session } from "../session.js";
import { Emitter } from "./emit.js";
import { type OnnxModel, writeOnnx } from "./model.js";
import { simplify } from "./simplify.js";

const random = new Random(5);
const [PLANES, WIDTH] = [5, 8];

const normed = (inputs: number, size: 1 | 3) => ({
  conv: size === 3 ? conv3x3(inputs, WIDTH, random) : linear(inputs, WIDTH, random, { bias: false }),
  norm: batchNorm(WIDTH),
});
type Normed = ReturnType<typeof normed>;

class Small {
  readonly stem = normed(PLANES, 3);
  readonly first = normed(WIDTH, 3);
  readonly second = normed(WIDTH, 3);
  readonly squeeze = normed(WIDTH, 1);
  readonly policy = linear(WIDTH * 64, 10, random);
  readonly squares = linear(WIDTH, 3, random);

  constructor() {
    for (const { name, data } of parametersOf(this))
      if (/norm/.test(name)) for (let i = 0; i < data.length; i++) data[i] = 0.5 + random.next();
  }

  forward(planes: Tensor) {
    const apply = ({ conv, norm }: Normed, x: Tensor) => norm.apply(conv.apply(x));
    let x = apply(this.stem, toSquares(planes)).relu();
    x = apply(this.second, apply(this.first, x).tanh()).add(x).relu();
    const policy = apply(this.squeeze, x)
      .relu()
      .transpose([2, 0, 1, 3])
      .reshape(["n", WIDTH * 64]);
    return { policy: this.policy.apply(policy), squares: toPlanes(this.squares.apply(x)), mean: x.mean([0, 1]) };
  }
}

async function outputs(model: OnnxModel, planes: Float32Array) {
  const session = await Session.open(writeOnnx(model), { threads: 1 });
  try {
    return await session.run({ planes });
  } finally {
    await session.close();
  }
}

const countOps = (model: OnnxModel, op: string) => model.nodes.filter((node) => node.op === op).length;

test("a residual net becomes plain convolutions with biases and computes the same", async () => {
  const model = new Small();
  const results = model.forward(input("planes", ["n", PLANES, 8, 8]));
  const before = new Emitter("inference").finish(results);
  const after = simplify(before);

  assert.equal(countOps(after, "Conv"), 5); // three, and the two linear layers over the board
  assert.equal(countOps(after, "Mul"), 0);
  assert.equal(countOps(after, "Sqrt"), 0);
  assert.ok(after.nodes.filter(({ op }) => op === "Conv").every(({ inputs }) => inputs.length === 3));
  assert.ok(countOps(after, "Transpose") <= 2, `${countOps(after, "Transpose")} layout changes are left`);

  for (const batch of [1, 3]) {
    const planes = Float32Array.from({ length: batch * PLANES * 64 }, () => random.normal());
    const [a, b] = [await outputs(before, planes), await outputs(after, planes)];
    for (const name of Object.keys(results)) {
      assert.deepEqual(a[name].shape, b[name].shape);
      const [x, y] = [a[name].data as Float32Array, b[name].data as Float32Array];
      // the products are rounded in another order
      for (let i = 0; i < x.length; i++)
        assert.ok(Math.abs(x[i] - y[i]) < 1e-5 * Math.max(1, Math.abs(x[i])), `${name}[${i}]: ${x[i]} is not ${y[i]}`);
    }
  }
});

test("a bias before a batch norm is scaled with the weights", async () => {
  const net = { conv: linear(PLANES, WIDTH, random), norm: batchNorm(WIDTH) };
  for (const { name, data } of parametersOf(net))
    for (let i = 0; i < data.length; i++) if (name !== "norm.bias") data[i] = 0.5 + random.next();
  const x = net.norm.apply(net.conv.apply(toSquares(input("planes", ["n", PLANES, 8, 8]))));
  const before = new Emitter("inference").finish({ x: toPlanes(x) });
  const after = simplify(before);
  assert.deepEqual(
    after.nodes.map(({ op }) => op),
    ["Conv", "Identity"],
  );
  const planes = Float32Array.from({ length: PLANES * 64 }, () => random.normal());
  const [a, b] = [await outputs(before, planes), await outputs(after, planes)];
  const [y, z] = [a["x"].data as Float32Array, b["x"].data as Float32Array];
  for (let i = 0; i < y.length; i++)
    assert.ok(Math.abs(y[i] - z[i]) < 1e-5 * Math.max(1, Math.abs(y[i])), `${y[i]} is not ${z[i]}`);
});

test("a value that others read too keeps its own convolution", () => {
  const net = { conv: conv3x3(2, 2, random), norm: batchNorm(2) };
  parametersOf(net);
  const raw = net.conv.apply(toSquares(input("planes", ["n", 2, 8, 8])));
  const model = simplify(
    new Emitter("inference").finish({ raw: toPlanes(raw), normed: toPlanes(net.norm.apply(raw)) }),
  );
  assert.equal(countOps(model, "Conv"), 1);
  assert.equal(countOps(model, "Mul"), 1);
});
