import assert from "node:assert/strict";
import { test } from "vitest";
import { learningRateAt, type Schedule } from "./schedules.js";

const rates = (schedule: Schedule, steps: number[]) =>
  steps.map((step) => Number(learningRateAt(schedule, 2, step).toFixed(9)));

test("a constant rate is constant, after its warm-up", () => {
  assert.deepEqual(rates({ kind: "constant" }, [0, 1, 1e6]), [2, 2, 2]);
  assert.deepEqual(rates({ kind: "constant", warmupSteps: 4 }, [0, 1, 2, 3, 4]), [0.5, 1, 1.5, 2, 2]);
});

test("a cosine goes from the peak over the middle to the final share, and stays", () => {
  const schedule: Schedule = { kind: "cosine", steps: 110, warmupSteps: 10, final: 0.1 };
  assert.deepEqual(rates(schedule, [0, 9, 10, 60, 110, 500]), [0.2, 2, 2, 1.1, 0.2, 0.2]);
  // a quarter of the way: final + (1 - final) (1 + cos 45 degrees) / 2
  assert.deepEqual(rates(schedule, [35]), [Number((2 * (0.1 + 0.45 * (1 + Math.SQRT1_2))).toFixed(9))]);
});

test("steps fall by a factor at the right moment", () => {
  assert.deepEqual(rates({ kind: "step", every: 10, factor: 0.5 }, [0, 9, 10, 19, 20]), [2, 2, 1, 1, 0.5]);
});
