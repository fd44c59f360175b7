/**
 * Every op, three ways: its gradient against finite differences of the 64-bit reference; and the ONNX it emits, value
 * and gradient, against the reference. The shapes are drawn at random.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { checkpoint } from "./checkpoint.js";
import { gradients } from "./gradients.js";
import { apply, concat, constant, input, type Tensor } from "./graph.js";
import { attention } from "./layers/attention.js";
import { balanceLoss, experts } from "./layers/experts.js";
import { queryAttention } from "./layers/query-attention.js";
import { swiglu } from "./layers/swiglu.js";
import { crossEntropy, histogram, meanSquaredError, twoHot } from "./losses.js";
import { Emitter } from "./onnx/emit.js";
import { writeOnnx } from "./onnx/model.js";
import { OPS } from "./ops/index.js";
import { rotary, rotaryTables } from "./ops/rotary.js";
import { type Array64, array64, count, evaluate } from "./reference.js";
import { createSession, wrapFeeds } from "./runner.js";

type Shapes = readonly (readonly number[])[];
interface Case {
  shapes: (size: (most: number) => number) => Shapes; // of the float inputs
  build: (...inputs: Tensor[]) => Tensor;
  ints?: (shapes: Shapes) => readonly { shape: readonly number[]; below: number }[]; // further inputs, whole numbers
  range?: [number, number]; // of the values; avoids poles
  exactness?: number; // of the gradient against finite differences
  onnxExactness?: number; // of 32 bits against 64; by default that of sums of a few hundred terms
}

const seen = new Set<string>(); // ops whose gradient or value was checked

async function check(
  { shapes, build, ints, range = [-2, 2], exactness = 1e-6, onnxExactness = 2e-5 }: Case,
  seed: number,
): Promise<void> {
  const random = new Random(seed);
  const chosen = shapes((most) => 1 + random.below(most));
  // Multiples of 2^-18, which 32 bits hold exactly. No two numbers are equal and none is near 0: a finite difference
  // across a kink of relu or maximum would be no derivative.
  let drawn = 0;
  const draw = (shape: readonly number[]) =>
    array64(
      shape,
      Array.from({ length: count(shape) }, () => {
        const coarse = Math.round((range[0] + random.next() * (range[1] - range[0])) * 256) / 256;
        return coarse + ((drawn++ % 400) + 20) / 2 ** 18;
      }),
    );
  const floats = chosen.map((shape, i) => input(`x${i}`, shape));
  const whole = (ints?.(chosen) ?? []).map(({ shape, below }, i) => ({
    tensor: input(`k${i}`, shape, "int32"),
    value: array64(
      shape,
      Array.from({ length: count(shape) }, () => random.below(below)),
    ),
  }));
  const y = build(...floats, ...whole.map(({ tensor }) => tensor));
  const weights = draw(y.shape as number[]);
  const loss = y.mul(constant(weights.data, weights.shape)).sum();
  const found = gradients(loss, floats);
  const given = new Map<Tensor, Array64>([
    ...floats.map((tensor, i) => [tensor, draw(chosen[i])] as const),
    ...whole.map(({ tensor, value }) => [tensor, value] as const),
  ]);
  const reference = evaluate([y, ...found], given);
  for (const tensor of [y, ...found]) collect(tensor, seen);

  floats.forEach((tensor, i) => {
    const { shape, data } = given.get(tensor)!;
    const step = 1e-5;
    const places = data.length <= 6 ? [...data.keys()] : Array.from({ length: 6 }, () => random.below(data.length));
    for (const place of places) {
      const [up, down] = [step, -step].map((by) => {
        const moved = data.slice();
        moved[place] += by;
        return evaluate([loss], new Map([...given, [tensor, { shape, data: moved }]]))[0].data[0];
      });
      near((up - down) / (2 * step), reference[i + 1].data[place], exactness, `finite difference of input ${i}`);
    }
  });

  const emitter = new Emitter("training");
  const results = Object.fromEntries([y, ...found].map((tensor, i) => [`r${i}`, tensor]));
  const { runtime, session } = await createSession(writeOnnx(emitter.finish(results)), { threads: 1 });
  const feeds = Object.fromEntries(
    [...given].map(([{ node }, { data }]) => [
      node.attributes.name as string,
      node.attributes.dtype === "int32" ? Int32Array.from(data) : Float32Array.from(data),
    ]),
  );
  const used = session.inputNames;
  const needed = Object.fromEntries(Object.entries(feeds).filter(([name]) => used.includes(name)));
  const answers = await session.run(wrapFeeds(runtime, session.inputMetadata, needed) as never);
  reference.forEach(({ data }, i) => {
    const answer = answers[`r${i}`].data as Float32Array;
    assert.equal(answer.length, data.length);
    const scale = data.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
    data.forEach((value, k) => {
      near(answer[k], value, onnxExactness * scale, `ONNX result ${i} (0 is the value, then gradients) at ${k}`);
    });
  });
  await session.release();
}

function collect(tensor: Tensor, names: Set<string>): void {
  const open = [tensor.node];
  const done = new Set(open);
  for (let node = open.pop(); node; node = open.pop()) {
    names.add(node.op);
    for (const { node: below } of node.inputs) {
      if (!done.has(below)) open.push(below);
      done.add(below);
    }
  }
}

function near(found: number, expected: number, tolerance: number, what: string): void {
  const off = Math.abs(found - expected);
  assert.ok(off <= tolerance * Math.max(1, Math.abs(expected)), `${what}: ${found}, not ${expected}`);
}

const anyShape: Case["shapes"] = (size) => [Array.from({ length: size(3) }, () => size(4))];
const stretched: Case["shapes"] = (size) => {
  const shape = Array.from({ length: size(3) }, () => size(4));
  const drop = size(shape.length + 1) - 1;
  return [shape, shape.slice(drop).map((dim) => (size(2) === 1 ? 1 : dim))];
};
const matrix: Case["shapes"] = (size) => [[size(4), size(6)]];
const unary = (build: (x: Tensor) => Tensor, range?: [number, number]): Case => ({ shapes: anyShape, build, range });
const binary = (build: (a: Tensor, b: Tensor) => Tensor, range?: [number, number]): Case => ({
  shapes: stretched,
  build,
  range,
});

const CASES: Record<string, Case> = {
  add: binary((a, b) => a.add(b)),
  sub: binary((a, b) => b.sub(a)),
  mul: binary((a, b) => a.mul(b)),
  div: binary((a, b) => a.div(b), [0.5, 2]),
  maximum: binary((a, b) => a.maximum(b)),
  minimum: binary((a, b) => a.minimum(b)),
  where: binary((a, b) => a.greater(0.1).and(b.less(1)).or(b.equal(3)).where(a, b.mul(2))),
  "where of sides": binary((a, b) => a.less(b).not().where(a.square(), b)),
  "neg abs sign": unary((x) => x.abs().neg().add(x.sign())),
  "exp log sqrt": unary((x) => x.exp().log().sqrt().add(x.sqrt()), [0.2, 2]),
  reciprocal: unary((x) => x.reciprocal(), [0.5, 2]),
  "sin cos": unary((x) => x.sin().mul(x.cos())),
  erf: unary((x) => x.erf(), [-4, 4]),
  relu: unary((x) => x.relu()),
  clip: unary((x) => x.clip(-0.7, 0.9)),
  "clipped relu": unary((x) => x.clippedRelu()),
  sigmoid: unary((x) => x.sigmoid()),
  tanh: unary((x) => x.tanh()),
  softplus: unary((x) => x.softplus()),
  silu: unary((x) => x.silu()),
  swiglu: binary((a, b) => swiglu(a, b)),
  gelu: unary((x) => x.gelu()),
  mish: unary((x) => x.mish()),
  "cast and stop": unary((x) =>
    x.mul(x.greater(0).cast("float32")).add(x.cast("int32").cast("float32").stopGradient()),
  ),
  matmul: {
    shapes: (size) => {
      const [m, k, n, batch] = [size(4), size(4), size(4), size(3)];
      return [[batch, m, k], size(2) === 1 ? [k, n] : [batch, k, n]];
    },
    build: (a, b) => a.matmul(b, { alpha: 0.5 }),
  },
  "matmul of two matrices, narrow times wide or wide times narrow": {
    shapes: (size) => {
      const k = size(4);
      return [
        [size(4), k],
        [k, size(4)],
      ];
    },
    build: (a, b) => a.matmul(b),
  },
  "matmul with both sides transposed": {
    shapes: (size) => {
      const [m, k, n] = [size(4), size(4), size(4)];
      return [
        [2, 1, k, m],
        [3, n, k],
      ];
    },
    build: (a, b) => a.matmul(b, { transA: true, transB: true }),
  },
  "matmul with a transposed weight": {
    shapes: (size) => {
      const k = size(4);
      return [
        [size(3), size(3), k],
        [size(4), k],
      ];
    },
    build: (a, b) => a.matmul(b, { transB: true }),
  },
  "matmul with the left side transposed": {
    shapes: (size) => {
      const k = size(4);
      return [
        [size(3), k, size(3)],
        [k, size(4)],
      ];
    },
    build: (a, b) => a.matmul(b, { transA: true }),
  },
  "sums and means": {
    shapes: (size) => [[size(4), size(4), size(4)]],
    build: (x) =>
      x
        .sum([0, 1])
        .add(x.mean([0, 2], { keep: true }).sum())
        .add(x.sum(-1).mean())
        .add(x.sum(1, { keep: true }).mean([0, 1])),
  },
  "maximum of lines": { shapes: matrix, build: (x) => x.max(-1).add(x.max()) },
  "top k": {
    shapes: (size) => [[size(4), 2 + size(4)]],
    build: (x) => {
      const { values, indices } = x.topK(2);
      return values.mul(indices.cast("float32").add(1)).add(x.argmax().cast("float32").reshape([-1, 1]));
    },
  },
  "reshape and transpose": {
    shapes: (size) => [[size(3), size(4), size(3)]],
    build: (x) =>
      x
        .transpose([2, 0, 1])
        .reshape([-1])
        .sin()
        .reshape([x.dim(0), -1])
        .transpose(),
  },
  "reshapes in a row": {
    shapes: (size) => [[size(3), size(4), size(3)]],
    build: (x) =>
      x
        .reshape([-1])
        .reshape([x.dim(2), -1])
        .sin()
        .reshape([1, -1])
        .reshape([-1, x.dim(1)]),
  },
  "concat, slice, split, pad": {
    shapes: (size) => {
      const n = size(3);
      return [
        [n, 4, 2],
        [n, size(3), 2],
      ];
    },
    build: (a, b) => {
      const [first, , third] = a.split(1, [1, 2, 1]);
      return concat([first.mul(third), a.slice(1, 1, -1), b.pad(1, 1, 2)], 1);
    },
  },
  broadcast: { shapes: (size) => [[size(3), 1]], build: (x) => x.broadcastTo([2, x.dim(0), 3]) },
  "gather and scatter": {
    shapes: (size) => [[5, size(4)]],
    ints: () => [{ shape: [3, 4], below: 5 }],
    build: (table, k) => table.gather(k).sin().scatterAdd(k, 6),
  },
  "gather from a large table": {
    shapes: (size) => [[300, size(4)]],
    ints: () => [{ shape: [9], below: 300 }],
    build: (table, k) => table.gather(k).sin(),
  },
  take: {
    shapes: (size) => [[size(4), 5]],
    ints: ([[n]]) => [{ shape: [n, 2], below: 5 }],
    build: (x, k) => x.take(k).add(k.oneHot(5).sum(-1)),
  },
  softmax: { shapes: matrix, build: (x) => x.softmax() },
  "softmax with a mask": { shapes: matrix, build: (x) => x.softmax(x.greater(-0.5).stopGradient()) },
  "log softmax": { shapes: matrix, build: (x) => x.logSoftmax() },
  "layer norm": {
    shapes: (size) => {
      const c = 3 + size(4);
      return [[size(3), size(3), c], [c], [c]];
    },
    build: (x, scale, bias) => apply("layerNorm", [x, scale, bias], { epsilon: 1e-3 }),
  },
  "rms norm": {
    shapes: (size) => {
      const c = 1 + size(4);
      return [[size(3), size(3), c], [c]];
    },
    build: (x, scale) => apply("rmsNorm", [x, scale], { epsilon: 1e-3 }),
  },
  "batch norm": {
    shapes: (size) => {
      const c = size(4);
      return [[2 + size(3), size(3), c], [c], [c]];
    },
    build: (x, scale, bias) => {
      const c = x.dim(-1) as number;
      const still = constant(new Float32Array(c), [c]);
      return apply("batchNorm", [x, scale, bias, still, still], { epsilon: 1e-3, momentum: 0.1 });
    },
  },
  "3x3 convolution": {
    shapes: (size) => {
      const [h, w, c] = [size(9), size(9), size(3)];
      return [
        [h, w, size(2), c],
        [3, 3, c, size(3)],
      ];
    },
    build: (x, weight) => apply("conv3x3", [x, weight], { tile: 4 }),
    exactness: 2e-5, // the constants of its transforms have 32 bits
  },
  "3x3 convolution in tiles of 8": {
    shapes: (size) => {
      const [h, w, c] = [size(9), 8, size(3)];
      return [
        [h, w, size(2), c],
        [3, 3, c, size(3)],
      ];
    },
    build: (x, weight) => apply("conv3x3", [x, weight], { tile: 8 }),
    exactness: 2e-4,
    onnxExactness: 2e-4,
  },
  "3x3 convolution, then batch norm": {
    shapes: (size) => {
      const [c, o] = [size(3), size(3)];
      return [[2 + size(6), 2 + size(6), 1 + size(2), c], [3, 3, c, o], [o], [o]];
    },
    build: (x, weight, scale, bias) => {
      const still = constant(new Float32Array(bias.dim(0) as number), bias.shape as number[]);
      const y = apply("conv3x3", [x, weight], { tile: 4 });
      return apply("batchNorm", [y, scale, bias, still, still], { epsilon: 1e-2, momentum: 0.1 });
    },
    exactness: 1e-4, // the constants of the transforms have 32 bits
  },
  "dropout that drops nothing": unary((x) => x.dropout(0).square()),
  "hard cross-entropy": {
    shapes: (size) => [[size(4), 5]],
    ints: ([[n]]) => [{ shape: [n], below: 5 }],
    build: (x, k) => crossEntropy(x, k),
  },
  "hard cross-entropy with a mask": {
    shapes: (size) => [[size(4), 5]],
    ints: ([[n]]) => [{ shape: [n], below: 2 }],
    build: (x, k) => crossEntropy(x, k, constant([1, 1, 0, 1, 0], [5], "bool")),
  },
  "soft cross-entropy against two-hot targets": {
    shapes: (size) => [[size(4), 5]],
    ints: ([[n]]) => [{ shape: [n], below: 30 }],
    build: (x, k) => crossEntropy(x, twoHot(k.cast("float32").mul(0.1).sub(1.5), [-1, -0.4, 0, 0.5, 1])),
  },
  "mean squared error": { shapes: (size) => [[size(4)], [1]], build: (a, b) => meanSquaredError(a, b) },
  rotary: {
    shapes: (size) => [[size(4), size(3), 12]],
    build: (x) => {
      const { cosines, sines } = rotaryTables(x.dim(0) as number, 6);
      return rotary(x, cosines, sines, 2);
    },
  },
  attention: {
    shapes: (size) => {
      const [n, d] = [size(3), 2 * size(3)];
      const s = size(4);
      return [
        [size(4), n, d],
        [s, n, d],
        [s, n, d],
      ];
    },
    build: (q, k, v) => attention(q, k, v, 2),
  },
  "causal attention in blocks": {
    shapes: (size) => {
      const shape = [70 + size(9), size(2), 2 * size(2)];
      return [shape, shape, shape];
    },
    build: (q, k, v) => attention(q, k, v, 2, "causal"),
    range: [-1, 1],
  },
  "attention in open blocks": {
    shapes: (size) => {
      const shape = [6, size(2), 2 * size(2)];
      return [shape, shape, shape];
    },
    build: (q, k, v) => attention(q, k, v, 2, { size: 3, open: 2 }),
    range: [-1, 1],
  },
  "attention with a mask for each sequence": {
    shapes: (size) => {
      const shape = [3, size(3), 4];
      return [shape, shape, shape];
    },
    ints: ([[t, n]]) => [{ shape: [n, 1, t, t], below: 2 }],
    // Everybody may look at himself: with nothing to look at there is no derivative either.
    build: (q, k, v, mask) => {
      const own = constant([1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 3], "bool");
      return attention(q, k, v, 2, mask.greater(0).or(own));
    },
  },
  "attention of queries to a state and themselves": {
    shapes: (size) => {
      const [n, d] = [size(3), 2 * size(3)];
      const [t, s] = [size(4), size(4)];
      return [[t, n, d], [t, n, d], [t, n, d], [s, n, d], [s, n, d]]; // biome-ignore format: a list
    },
    build: (q, ownK, ownV, k, v) => queryAttention({ q, k: ownK, v: ownV }, k, v, 2),
  },
  histogram: {
    shapes: (size) => [[size(4), size(3)]],
    build: (values) => histogram(values, [0, 0.1, 0.25, 0.5, 0.75, 1], 0.3),
    range: [0, 1],
  },
  "mixture of experts without gates": {
    shapes: (size) => {
      const [width, hidden] = [size(4), size(4)];
      return [[size(6), width], [width, 4], [4, width, hidden], [4, hidden, width]]; // biome-ignore format: a list
    },
    build: (x, router, up, down) => {
      const [width, hidden] = [x.dim(1) as number, up.dim(2) as number];
      const mixture = experts({ width, hidden, experts: 4, chosen: 2, gated: false }, new Random(1));
      Object.assign(mixture, { router: { apply: (lines: Tensor) => lines.matmul(router) }, up, down });
      return mixture.apply(x).y;
    },
  },
  "mixture of experts": {
    shapes: (size) => {
      const [width, hidden] = [size(4), size(4)];
      return [
        [size(6), width],
        [width, 4],
        [4, width, hidden],
        [4, width, hidden],
        [4, hidden, width],
      ];
    },
    build: (x, router, gate, up, down) => {
      const mixture = experts(
        { width: x.dim(1) as number, hidden: gate.dim(2) as number, experts: 4, chosen: 2 },
        new Random(1),
      );
      Object.assign(mixture, { router: { apply: (lines: Tensor) => lines.matmul(router) }, gate, up, down });
      const { y, logits, choices } = mixture.apply(x);
      return y.add(balanceLoss(logits, choices));
    },
  },
  checkpoint: {
    shapes: (size) => {
      const k = size(4);
      return [
        [size(3), k],
        [k, size(4)],
      ];
    },
    build: (a, b) => checkpoint((x, w) => x.tanh().matmul(w).sin(), a, b).square(),
  },
};

for (const [name, chosen] of Object.entries(CASES)) {
  test(`${name}: value and gradient agree with the reference`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) => check(chosen, seed)),
      { numRuns: 8, seed: 1 },
    );
  });
}

afterAll(() => {
  const elsewhere = ["parameter", "dropout"]; // need a trainer that feeds them: trainer.test.ts
  const missing = Object.keys(OPS).filter((op) => !seen.has(op) && !elsewhere.includes(op));
  assert.deepEqual(missing, [], "ops no case has looked at");
});
