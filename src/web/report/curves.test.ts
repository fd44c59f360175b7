import assert from "node:assert/strict";
import { test } from "vitest";
import type { MetricsLine } from "#training";
import { align, compareConfigs, curveOf, formatDuration, formatValue, metricNames, smooth } from "./curves.js";

const line = (kind: MetricsLine["kind"], step: number, values: Record<string, number>): MetricsLine => ({
  kind,
  step,
  epoch: 1,
  time: step,
  values,
});
const LINES = [
  line("train", 10, { loss: 3, top1: 0.1 }),
  line("train", 20, { loss: 2 }),
  line("validation", 20, { loss: 2.5 }),
];

test("a curve has the points of its kind and name", () => {
  assert.deepEqual(curveOf(LINES, "train", "loss"), { steps: [10, 20], values: [3, 2] });
  assert.deepEqual(curveOf(LINES, "validation", "loss"), { steps: [20], values: [2.5] });
  assert.deepEqual(curveOf(LINES, "train", "top1"), { steps: [10], values: [0.1] });
  assert.deepEqual(metricNames([LINES]), ["loss", "top1"]);
});

test("smoothing keeps a constant where it is, from the first point on", () => {
  for (const value of smooth([5, 5, 5, 5], 0.9)) assert.ok(Math.abs(value - 5) < 1e-12);
  assert.deepEqual(smooth([1, 2, 3], 0), [1, 2, 3]);
  const [first, second] = smooth([1, 3], 0.5);
  assert.equal(first, 1);
  assert.ok(Math.abs(second - (0.25 * 1 + 0.5 * 3) / 0.75) < 1e-12);
});

test("curves of different steps share one axis, with gaps", () => {
  const curves = [
    { steps: [1, 3], values: [10, 30] },
    { steps: [2, 3], values: [7, 8] },
  ];
  assert.deepEqual(align(curves), [
    [1, 2, 3],
    [10, null, 30],
    [null, 7, 8],
  ]);
});

test("settings that differ come first", () => {
  const rows = compareConfigs([
    { a: 1, b: [1], c: 2 },
    { a: 1, b: [2] },
  ]);
  assert.deepEqual(
    rows.map(({ key, isSame }) => [key, isSame]),
    [
      ["b", false],
      ["c", false],
      ["a", true],
    ],
  );
  assert.deepEqual(rows[1].values, ["2", undefined]);
});

test("numbers and durations are short", () => {
  assert.deepEqual([45, 600, 3723].map(formatDuration), ["45 s", "10 min", "1 h 2 min"]);
  assert.deepEqual([0, 0.0012346, 51234.4, 0.00000123].map(formatValue), ["0", "0.001235", "51,234", "1.23e-6"]);
});
