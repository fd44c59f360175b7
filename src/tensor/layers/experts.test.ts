import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { constant, input } from "../graph.js";
import { exportOnnx } from "../onnx/export.js";
import { parametersOf } from "../parameter.js";
import { Session } from "../session.js";
import { balanceLoss, Experts } from "./experts.js";

const [WIDTH, HIDDEN, EXPERTS, CHOSEN] = [4, 3, 5, 2];

/** A line times a matrix of so many columns that begins at `from`. */
const times = (line: readonly number[], matrix: Float32Array, columns: number, from = 0) =>
  Array.from({ length: columns }, (_, j) => line.reduce((sum, x, i) => sum + x * matrix[from + i * columns + j], 0));
const silu = (x: number) => x / (1 + Math.exp(-x));

test("a line's answer is that of its two best experts, weighed by a softmax over these two alone", async () => {
  const layer = new Experts({ width: WIDTH, hidden: HIDDEN, experts: EXPERTS, chosen: CHOSEN }, new Random(3));
  parametersOf(layer);
  const lines = Array.from({ length: 12 }, (_, i) =>
    Array.from({ length: WIDTH }, (_, k) => Math.sin(1 + 3 * i + 7 * k)),
  );
  const { y } = layer.apply(input("x", ["n", WIDTH]));
  const session = await Session.open(exportOnnx({ y }), { threads: 1 });
  const answer = (await session.run({ x: { data: Float32Array.from(lines.flat()), shape: [12, WIDTH] } })).y.data;
  await session.close();
  const asked = new Set<number>();
  lines.forEach((line, row) => {
    const logits = times(line, layer.router.weight.data, EXPERTS);
    const best = logits.map((_, i) => i).sort((a, b) => logits[b] - logits[a]).slice(0, CHOSEN); // biome-ignore format: a chain
    const total = best.reduce((sum, expert) => sum + Math.exp(logits[expert]), 0);
    const expected = new Array(WIDTH).fill(0);
    for (const expert of best) {
      asked.add(expert);
      const at = expert * WIDTH * HIDDEN;
      const up = times(line, layer.up.data, HIDDEN, at);
      const hidden = times(line, layer.gate!.data, HIDDEN, at).map((gate, i) => silu(gate) * up[i]);
      const share = Math.exp(logits[expert]) / total;
      times(hidden, layer.down.data, WIDTH, at).forEach((value, i) => {
        expected[i] += share * value;
      });
    }
    for (const [i, value] of expected.entries())
      assert.ok(Math.abs(value - Number(answer[row * WIDTH + i])) < 1e-5, `line ${row}`); // single precision
  });
  assert.equal(asked.size, EXPERTS, "every expert was asked by some line");
});

test("the balance loss is 1 for even use, and the number of experts if one has it all", async () => {
  const lossOf = async (logits: number[], choices: number[]) => {
    const loss = balanceLoss(constant(logits, [4, 2]), constant(choices, [4, 1], "int64"));
    const session = await Session.open(exportOnnx({ loss: loss.add(input("zero", [])) }), { threads: 1 });
    const { data } = (await session.run({ zero: Float32Array.of(0) })).loss;
    await session.close();
    return Number(data[0]);
  };
  const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-5, `${a}, not ${b}`);
  near(await lossOf([0, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 1]), 1);
  near(await lossOf([40, 0, 40, 0, 40, 0, 40, 0], [0, 0, 0, 0]), 2);
  const three = Math.log(3); // a probability of 3/4
  near(await lossOf([three, 0, three, 0, three, 0, 0, three], [0, 0, 0, 1]), 2 * (0.75 * 0.625 + 0.25 * 0.375));
});
