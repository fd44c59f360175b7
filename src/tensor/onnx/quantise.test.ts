import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { input, type Tensor } from "../graph.js";
import { conv3x3, toSquares } from "../layers/conv.js";
import { linear } from "../layers/linear.js";
import { batchNorm } from "../layers/norm.js";
import { parametersOf } from "../parameter.js";
import { type Feeds, Session } from "../session.js";
import { emitInference } from "./export.js";
import { type OnnxModel, writeOnnx } from "./model.js";
import { calibrate, halfWeights, quantiseDynamic, quantiseStatic } from "./quantise.js";

const random = new Random(9);
const [PLANES, WIDTH] = [5, 16];

const normed = () => ({ conv: conv3x3(WIDTH, WIDTH, random), norm: batchNorm(WIDTH) });

class Small {
  readonly stem = { conv: conv3x3(PLANES, WIDTH, random), norm: batchNorm(WIDTH) };
  readonly blocks = [
    [normed(), normed()],
    [normed(), normed()],
  ];
  readonly policy = linear(WIDTH * 64, 50, random);
  readonly value = linear(WIDTH, 1, random);

  forward(planes: Tensor) {
    const apply = ({ conv, norm }: ReturnType<typeof normed>, x: Tensor) => norm.apply(conv.apply(x));
    let x = apply(this.stem, toSquares(planes)).relu();
    for (const [first, second] of this.blocks) x = apply(second, apply(first, x).relu()).add(x).relu();
    const flat = x.transpose([2, 0, 1, 3]).reshape(["n", WIDTH * 64]);
    return { policy: this.policy.apply(flat), value: this.value.apply(x.mean([0, 1])).tanh() };
  }
}

const planes = (): Feeds => ({ planes: Float32Array.from({ length: 8 * PLANES * 64 }, () => random.below(2)) });

function small(): OnnxModel {
  const net = new Small();
  for (const { name, data } of parametersOf(net))
    if (/norm.bias/.test(name)) for (let i = 0; i < data.length; i++) data[i] = random.normal(); // biases that matter
  return emitInference(net.forward(input("planes", ["n", PLANES, 8, 8])));
}

async function run(model: OnnxModel, feeds: Feeds) {
  const session = await Session.open(writeOnnx(model), { threads: 1 });
  try {
    return await session.run(feeds);
  } finally {
    await session.close();
  }
}

/** The root mean square of the differences, over that of the exact outputs. */
async function difference(exact: OnnxModel, other: OnnxModel, feeds: Feeds): Promise<number> {
  const [a, b] = [await run(exact, feeds), await run(other, feeds)];
  let [errors, sizes] = [0, 0];
  for (const name of Object.keys(a)) {
    const [x, y] = [a[name].data as Float32Array, b[name].data as Float32Array];
    assert.equal(x.length, y.length);
    for (let i = 0; i < x.length; i++) [errors, sizes] = [errors + (x[i] - y[i]) ** 2, sizes + x[i] ** 2];
  }
  return Math.sqrt(errors / sizes);
}

const countOps = (model: OnnxModel, op: string) => model.nodes.filter((node) => node.op === op).length;
const bytes = (model: OnnxModel) => writeOnnx(model).length;

test("half-precision weights take half the room and change the outputs in the fourth digit", async () => {
  const model = small();
  const half = halfWeights(model);
  assert.ok(bytes(half) < 0.55 * bytes(model));
  const error = await difference(model, half, planes());
  assert.ok(error > 0 && error < 1e-3, `${error}`); // a half has 11 bits
});

test("a weight too large for a half stays a float", async () => {
  const net = { layer: linear(8, 8, random) };
  parametersOf(net);
  net.layer.weight.data[3] = 70_000;
  const model = emitInference({ y: net.layer.apply(input("x", ["n", 8])) });
  const feeds = { x: new Float32Array(8).fill(1) };
  assert.equal(await difference(model, halfWeights(model), feeds), 0);
});

test("dynamic 8-bit products differ by about a percent and shrink their weights to a quarter", async () => {
  const model = small();
  const quantised = quantiseDynamic(model);
  assert.equal(countOps(quantised, "MatMulInteger"), 2);
  const error = await difference(model, quantised, planes());
  assert.ok(error > 0 && error < 0.02, `${error}`);
  assert.ok(bytes(quantised) < 0.5 * bytes(model)); // the convolutions stay floats
});

test("static 8-bit convolutions and products differ by a few percent", async () => {
  const model = small();
  const ranges = await calibrate(model, [planes(), planes(), planes()]);
  const quantised = quantiseStatic(model, ranges);
  const error = await difference(model, quantised, planes());
  assert.ok(error > 0 && error < 0.05, `${error}`);
  assert.ok(bytes(quantised) < 0.35 * bytes(model));
  assert.equal(countOps(quantised, "MatMulInteger"), 2);
  const convolutions = quantised.nodes.filter(({ op }) => op === "Conv");
  const widened = new Set(quantised.nodes.filter(({ op }) => op === "DequantizeLinear").flatMap((n) => n.outputs));
  assert.equal(convolutions.length, 5);
  for (const { inputs } of convolutions)
    assert.deepEqual(
      inputs.map((name) => widened.has(name)),
      [true, true, true],
    );
});

test("a static convolution's bias is counted in steps of its sums: input scale times weight scale", async () => {
  const model = small();
  const quantised = quantiseStatic(model, await calibrate(model, [planes()]));
  const floats = (name: string) => {
    const { bytes: raw } = quantised.initialisers.find((tensor) => tensor.name === name)!;
    return new Float32Array(raw.slice().buffer);
  };
  const scalesOf = (name: string) => floats(quantised.nodes.find(({ outputs }) => outputs.includes(name))!.inputs[1]);
  // Runtimes with an integer convolution drop the bias's own scale, trusting that it is this one (ONNX, QLinearConv).
  for (const { inputs } of quantised.nodes.filter(({ op }) => op === "Conv")) {
    const [[input], weights, bias] = inputs.map(scalesOf);
    assert.equal(bias.length, weights.length);
    bias.forEach((unit, i) => {
      assert.ok(Math.abs(unit / (weights[i] * input) - 1) < 1e-6, `${unit} at ${i}`);
    });
  }
});

test("ranges hold the extremes of all batches, and zero", async () => {
  const net = { layer: linear(2, 2, random) };
  parametersOf(net);
  const model = emitInference({ y: net.layer.apply(input("x", ["n", 2])) });
  const ranges = await calibrate(model, [{ x: Float32Array.of(1, 5) }, { x: Float32Array.of(2, 3, 4, 9) }]);
  assert.deepEqual([...ranges.values()], [{ min: 0, max: 9 }]);
});

test("large weights of one sign do not saturate", async () => {
  // 255 * 127 twice is more than 16 bits hold, which is where a product with signed weights goes wrong on AVX2
  const net = { layer: linear(512, 16, random, { bias: false }) };
  parametersOf(net);
  net.layer.weight.data.fill(1);
  const model = emitInference({ y: net.layer.apply(input("x", ["n", 512])) });
  const feeds = { x: new Float32Array(512).fill(3) };
  const ranges = await calibrate(model, [feeds]);
  for (const quantised of [quantiseDynamic(model), quantiseStatic(model, ranges)]) {
    for (const y of (await run(quantised, feeds))["y"].data) assert.ok(Math.abs(Number(y) - 1536) < 1, `${y}`);
  }
});
