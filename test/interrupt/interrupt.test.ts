// A training program in a process of its own: Ctrl-C during a step, and what is saved.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "vitest";
import { Random } from "#base";
import { input, linear, meanSquaredError, parametersOf, readSafetensors, Trainer } from "#tensor";

interface Line {
  step?: number;
  saved?: number;
  interrupted?: number;
  inStep?: boolean;
}

/** Runs the program to its end; `onLine` may interrupt it. */
async function train(file: string, steps: number, onLine?: (line: Line, kill: () => void) => void) {
  const child = spawn(process.execPath, ["test/interrupt/train.mjs", file, String(steps)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Line[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line;
    lines.push(line);
    onLine?.(line, () => child.kill("SIGINT"));
  }
  const code = child.exitCode ?? (await new Promise<number | null>((resolve) => child.once("exit", resolve)));
  return { lines, code };
}

test.skipIf(process.platform === "win32")(
  "Ctrl-C during a step stops after it, saved, and the resumed run ends as one never stopped",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tabiya-"));
    try {
      const [whole, parts] = [join(folder, "whole.safetensors"), join(folder, "parts.safetensors")];
      // A little after a step was reported the next one is being computed.
      const stopped = await train(parts, 1000, ({ step }, interrupt) => {
        if (step === 3) setTimeout(interrupt, 5);
      });
      assert.equal(stopped.code, 130);
      const at = stopped.lines.findIndex(({ interrupted }) => interrupted !== undefined);
      const done = stopped.lines[at].interrupted!; // steps that were complete when the signal came
      const after = stopped.lines.slice(at + 1);
      assert.ok(after.filter(({ step }) => step !== undefined).length <= 1, "more than one step after the signal");
      const saved = stopped.lines.at(-1)!.saved!;
      assert.ok(saved >= done && saved <= done + 1, `stopped after step ${done}, but step ${saved} was saved`);
      assert.equal(readSafetensors(readFileSync(parts), parts).metadata["step"], String(saved));

      const steps = saved + 4;
      assert.equal((await train(parts, steps)).code, 0);
      assert.equal((await train(whole, steps)).code, 0);
      const [a, b] = [readFileSync(whole), readFileSync(parts)];
      assert.ok(readSafetensors(a, whole).tensors.length > 10);
      assert.ok(a.equals(b), "the weights or the optimiser's state differ");
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test("a timer of the main thread fires on time while a step computes", async () => {
  const random = new Random(1);
  const [BATCH, WIDTH] = [2048, 1024];
  const model = { first: linear(WIDTH, WIDTH, random), second: linear(WIDTH, WIDTH, random) };
  parametersOf(model);
  const loss = meanSquaredError(
    model.second.apply(model.first.apply(input("x", [BATCH, WIDTH])).relu()),
    input("y", [BATCH, WIDTH]),
  );
  const trainer = await Trainer.open({ model, loss, optimiser: { name: "sgd" } });
  try {
    const batch = { x: new Float32Array(BATCH * WIDTH).fill(0.1), y: new Float32Array(BATCH * WIDTH) };
    await trainer.step(batch);
    const step = trainer.step(batch); // its arrays are copied here, which is the caller's own work
    const start = performance.now();
    let last = start;
    let largestGap = 0;
    const timer = setInterval(() => {
      const now = performance.now();
      largestGap = Math.max(largestGap, now - last);
      last = now;
    }, 5);
    await step;
    clearInterval(timer);
    const stepMs = performance.now() - start;
    // Blocked, there would be no tick before the step's end. Half leaves room for a machine with much else to do.
    assert.ok(last > start, `no tick in a step of ${stepMs} ms`);
    assert.ok(largestGap < stepMs / 2, `${largestGap} ms without a tick in a step of ${stepMs} ms`);
  } finally {
    await trainer.close();
  }
});
