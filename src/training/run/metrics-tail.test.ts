import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { readAddedMetrics } from "./metrics-tail.js";

test("whole lines are read from where the last look ended, and a resume or another file is told", async () => {
  const run = mkdtempSync(join(tmpdir(), "tabiya-tail-"));
  onTestFinished(() => rmSync(run, { recursive: true, force: true }));
  assert.deepEqual(await readAddedMetrics(run, 0), { from: 0, to: 0, lines: [], isResumed: false });
  const file = join(run, "metrics.jsonl");
  const line = (step: number) => ({ kind: "train", step, epoch: 1, time: 1, values: { loss: step } });
  const text = (step: number) => `${JSON.stringify(line(step))}\n`;
  writeFileSync(file, text(1) + text(2).slice(0, 9));
  const first = await readAddedMetrics(run, 0);
  assert.deepEqual([first.lines, first.to], [[line(1)], text(1).length]);
  appendFileSync(file, text(2).slice(9));
  const second = await readAddedMetrics(run, first.to);
  assert.deepEqual([second.lines, second.from], [[line(2)], first.to]);
  appendFileSync(file, '\n{"kind":"resume","step":1,"time":1}\n');
  assert.equal((await readAddedMetrics(run, second.to)).isResumed, true);
  writeFileSync(file, text(1));
  assert.equal((await readAddedMetrics(run, second.to)).isResumed, true);
});
