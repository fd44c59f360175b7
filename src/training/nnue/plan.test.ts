import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import * as plan from "./plan.js";

test("the trainer in WebAssembly reads the plan where we write it", () => {
  const source = readFileSync("assembly/train/plan.ts", "utf8");
  const there = [...source.matchAll(/^export const (\w+): usize = (\d+);/gm)].map(([, name, value]) => [
    name,
    Number(value),
  ]);
  const { PLAN_BYTES, ...here } = plan;
  assert.deepEqual(Object.fromEntries(there), here);
  assert.ok(Object.values(here).every((at, i) => at === 4 * i && at < PLAN_BYTES));
});
