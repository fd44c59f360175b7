// Our gradients against PyTorch's, stored by test/torch/gradients.py: a two-block residual net and a two-layer
// transformer, each through the whole path (graph, reverse mode, ONNX Runtime in a worker, optimiser in WASM).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { Random } from "#base";
import {
  batchNorm,
  concat,
  constant,
  conv3x3,
  crossEntropy,
  embedding,
  input,
  type Linear,
  layerNorm,
  linear,
  meanSquaredError,
  type NamedTensor,
  normal,
  parameter,
  parametersOf,
  readSafetensors,
  rmsNorm,
  type Tensor,
  Trainer,
  toFloat32,
  toSquares,
  type Values,
} from "#tensor";

const random = new Random(1); // its numbers are replaced by the stored ones

class Block {
  readonly conv1 = conv3x3(8, 8, random);
  readonly norm1 = batchNorm(8);
  readonly conv2 = conv3x3(8, 8, random);
  readonly norm2 = batchNorm(8);

  apply(x: Tensor): Tensor {
    const y = this.norm1.apply(this.conv1.apply(x)).tanh();
    return this.norm2.apply(this.conv2.apply(y)).add(x).tanh();
  }
}

class Residual {
  readonly stem = { conv: conv3x3(4, 8, random), norm: batchNorm(8) };
  readonly blocks = [new Block(), new Block()];
  readonly squeeze = linear(8, 2, random, { bias: false });
  readonly policy = linear(128, 20, random);
  readonly value = linear(8, 1, random);

  loss(): Tensor {
    let x = toSquares(input("planes", [5, 4, 8, 8])); // [h, w, n, c]
    x = this.stem.norm.apply(this.stem.conv.apply(x)).tanh();
    for (const block of this.blocks) x = block.apply(x);
    const small = this.squeeze.apply(x).transpose([2, 0, 1, 3]).reshape([5, 128]);
    const value = this.value
      .apply(x.mean([0, 1]))
      .tanh()
      .reshape([5]);
    return crossEntropy(this.policy.apply(small), input("move", [5], "int32"))
      .mean()
      .add(meanSquaredError(value, input("outcome", [5])));
  }
}

const [BATCH, LENGTH, WIDTH, HEADS, WORDS] = [3, 9, 16, 2, 13];
const HEAD = WIDTH / HEADS;

class Attention {
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly out: Linear;

  constructor(readonly rotary: boolean) {
    const part = () => linear(WIDTH, WIDTH, random, { bias: !rotary });
    [this.q, this.k, this.v, this.out] = [part(), part(), part(), part()];
  }

  apply(x: Tensor, mask: Tensor): Tensor {
    const split = (part: Linear) => part.apply(x).reshape([BATCH, LENGTH, HEADS, HEAD]).transpose([0, 2, 1, 3]);
    const turn = (y: Tensor) => (this.rotary ? rotate(y) : y);
    const scores = turn(split(this.q)).matmul(turn(split(this.k)), { transB: true, alpha: 1 / Math.sqrt(HEAD) });
    const mixed = scores.softmax(mask).matmul(split(this.v)); // [n, heads, length, head]
    return this.out.apply(mixed.transpose([0, 2, 1, 3]).reshape([BATCH, LENGTH, WIDTH]));
  }
}

function rotate(x: Tensor): Tensor {
  const half = HEAD / 2;
  const angles = Array.from({ length: LENGTH * half }, (_, i) => Math.floor(i / half) * 10000 ** (-(i % half) / half));
  const cos = constant(angles.map(Math.cos), [LENGTH, half]);
  const sin = constant(angles.map(Math.sin), [LENGTH, half]);
  const [a, b] = x.split(-1, [half, half]);
  return concat([a.mul(cos).sub(b.mul(sin)), b.mul(cos).add(a.mul(sin))], -1);
}

class Transformer {
  readonly embedding = embedding(WORDS, WIDTH, random);
  readonly position = parameter([LENGTH, WIDTH], normal(1, random));
  readonly encoder = {
    norm1: layerNorm(WIDTH),
    attention: new Attention(false),
    norm2: layerNorm(WIDTH),
    up: linear(WIDTH, 64, random),
    down: linear(64, WIDTH, random),
  };
  readonly llama = {
    norm1: rmsNorm(WIDTH),
    attention: new Attention(true),
    norm2: rmsNorm(WIDTH),
    w1: linear(WIDTH, 32, random, { bias: false }),
    w3: linear(WIDTH, 32, random, { bias: false }),
    w2: linear(32, WIDTH, random, { bias: false }),
  };
  readonly norm = layerNorm(WIDTH);
  readonly head = linear(WIDTH, WORDS, random, { bias: false });

  loss(): Tensor {
    const mask = input("mask", [LENGTH, LENGTH], "bool");
    const { encoder, llama } = this;
    let x = this.embedding
      .apply(input("tokens", [BATCH, LENGTH], "int32"))
      .mul(Math.sqrt(WIDTH))
      .add(this.position);
    x = x.add(encoder.attention.apply(encoder.norm1.apply(x), mask));
    x = x.add(encoder.down.apply(encoder.up.apply(encoder.norm2.apply(x)).gelu()));
    x = x.add(llama.attention.apply(llama.norm1.apply(x), mask));
    const h = llama.norm2.apply(x);
    x = x.add(llama.w2.apply(llama.w1.apply(h).silu().mul(llama.w3.apply(h))));
    const logits = this.head.apply(this.norm.apply(x));
    return crossEntropy(logits, input("targets", [BATCH, LENGTH], "int32")).mean();
  }
}

/** Takes one plain SGD step from the stored parameters and compares loss, gradients and running statistics. */
async function compare(model: { loss(): Tensor }, file: string, limit: number) {
  const { tensors } = readSafetensors(readFileSync(`test/fixtures/${file}`), file);
  const stored = new Map<string, NamedTensor>(tensors.map((tensor) => [tensor.name, tensor]));
  const floats = (name: string) => toFloat32(stored.get(name)!);
  const parameters = parametersOf(model);
  const learned = parameters.filter(({ trainable }) => trainable);
  assert.deepEqual(
    learned.map(({ name }) => `parameter.${name}`).sort(),
    [...stored.keys()].filter((name) => name.startsWith("parameter.")).sort(),
  );
  for (const { name, shape, data } of learned) {
    assert.deepEqual(shape, stored.get(`parameter.${name}`)!.shape, name);
    data.set(floats(`parameter.${name}`));
  }
  // A step this long leaves hardly anything of the old value, so rounding cannot hide the gradient in it.
  const learningRate = 4096;
  const trainer = await Trainer.open({
    model,
    loss: model.loss(),
    optimiser: { name: "sgd", momentum: 0 },
    learningRate,
  });
  try {
    const feeds = [...stored.values()].filter(({ name }) => name.startsWith("input."));
    const batch = Object.fromEntries(feeds.map(({ name, data }) => [name.slice("input.".length), data as Values]));
    const { loss } = await trainer.step(batch);
    assert.ok(Math.abs(loss - floats("loss")[0]) < 1e-6 * loss, `loss ${loss} is not ${floats("loss")[0]}`);
    await trainer.pull();
  } finally {
    await trainer.close();
  }
  const check = (name: string, found: ArrayLike<number>, expected: Float32Array) => {
    // the gradient of a key's bias is zero (softmax does not see it) and has no size of its own
    const size = Math.max(1e-3, Math.sqrt(expected.reduce((sum, x) => sum + x * x, 0) / expected.length));
    for (let i = 0; i < expected.length; i++) {
      const error = Math.abs(found[i] - expected[i]) / size;
      assert.ok(error < limit, `${name}[${i}]: ${found[i]} is not ${expected[i]} (error ${error} of the typical size)`);
    }
  };
  for (const { name, data, trainable } of parameters) {
    if (!trainable) check(name, data, floats(`after.${name}`));
    else {
      const before = floats(`parameter.${name}`);
      check(
        name,
        before.map((x, i) => (x - data[i]) / learningRate),
        floats(`gradient.${name}`),
      );
    }
  }
}

// The limits are on the largest error of one element against the root mean square of its gradient; PyTorch's numbers
// are exact (double precision), so they bound our rounding in 32 bits (1.2e-5 and 2.2e-6 were seen).
test("a two-block residual net has PyTorch's gradients and running statistics", async () => {
  await compare(new Residual(), "residual-gradients.safetensors", 5e-5);
});

test("a two-layer transformer has PyTorch's gradients", async () => {
  await compare(new Transformer(), "transformer-gradients.safetensors", 2e-5);
});
