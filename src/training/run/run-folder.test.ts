import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { RunFolder } from "./run-folder.js";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "tabiya-run-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return join(path, "run");
}

const now = () => 1_700_000_000_000;
const enter = (path: string, changes: { resume?: boolean } = {}) =>
  RunFolder.enter(path, { epochs: 3, start: "" }, { now, steps: 100, ...changes });
const train = (step: number, loss: number) =>
  ({ kind: "train", step, epoch: 1, time: step, values: { loss } }) as const;

function addCheckpoint(run: string, name: string, metadata: object): void {
  mkdirSync(join(run, name));
  writeFileSync(join(run, name, "metadata.json"), JSON.stringify(metadata));
}

test("a run is running while its process works on it, and then what the process said last", async () => {
  const path = folder();
  const run = await enter(path);
  const reader = await RunFolder.open(path);
  assert.equal((await reader.status()).state, "running");
  await assert.rejects(enter(path, { resume: true }), /RUN_BUSY|another process/);
  await run.leave("stopped", now());
  const { process: _, ...stopped } = await reader.status();
  assert.deepEqual(stopped, { state: "stopped", updatedMs: now(), message: "", isDead: false, step: 0, steps: 100, last: undefined }); // biome-ignore format: one line
  await (await enter(path, { resume: true })).leave("finished", now());
  assert.equal((await reader.status()).step, 100); // though its last steps were not measured
  await (await enter(path, { resume: true })).leave("failed", now(), "the disk is full");
  const { state, message } = await reader.status();
  assert.deepEqual([state, message], ["failed", "the disk is full"]);
});

test("a run whose process died has failed, and can be resumed; a process that got its number is not mistaken for it", async () => {
  const path = folder();
  await enter(path);
  const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"]);
  await once(child, "spawn");
  const file = join(path, "status.json");
  const status = JSON.parse(readFileSync(file, "utf8"));
  if (process.platform === "linux") {
    const started = execFileSync("cut", ["-d", " ", "-f", "22", `/proc/${child.pid}/stat`], {
      encoding: "utf8",
    }).trim();
    writeFileSync(file, JSON.stringify({ ...status, process: `${child.pid}@${started}` }));
    assert.equal((await (await RunFolder.open(path)).status()).state, "running");
    writeFileSync(file, JSON.stringify({ ...status, process: `${child.pid}@1` }));
    assert.equal((await (await RunFolder.open(path)).status()).state, "failed");
    writeFileSync(file, JSON.stringify({ ...status, process: `${child.pid}@${started}` }));
  }
  child.kill("SIGKILL");
  await once(child, "close");
  const found = await (await RunFolder.open(path)).status();
  assert.equal(found.isDead, true);
  assert.equal(found.state, "failed");
  assert.match(found.message, /process died/);
  await enter(path, { resume: true });
});

test("metrics are only added to; a resumed run says where it went back to, and what came after is forgotten", async () => {
  const path = folder();
  const run = await enter(path);
  const log = await run.log(0, now());
  for (const [step, loss] of [[10, 3], [20, 2], [30, 1]]) await log.write(train(step, loss)); // biome-ignore format: pairs
  await log.write({ ...train(30, 1.5), kind: "validation" });
  const written = readFileSync(join(path, "metrics.jsonl"), "utf8");
  appendFileSync(join(path, "metrics.jsonl"), '{"kind":"tr'); // a crash
  const again = await run.log(20, now());
  await again.write(train(30, 1.2));
  assert.ok(readFileSync(join(path, "metrics.jsonl"), "utf8").startsWith(written));
  const steps = async (from?: number) =>
    (await run.metrics(from)).map(({ kind, step, values }) => [kind, step, values.loss]);
  assert.deepEqual(await steps(), [["train", 10, 3], ["train", 20, 2], ["train", 30, 1.2]]); // biome-ignore format: a list
  assert.deepEqual(await steps(20), [["train", 20, 2], ["train", 30, 1.2]]); // biome-ignore format: a list
  assert.deepEqual((await run.status()).last, train(30, 1.2));
});

test("the last line of a long file of metrics is found from its end", async () => {
  const path = folder();
  const run = await enter(path);
  const lines = Array.from({ length: 2000 }, (_, i) => JSON.stringify(train(i + 1, 1)));
  writeFileSync(join(path, "metrics.jsonl"), `${lines.join("\n")}\n{"kind":"resume","step":1998,"time":0}\n`);
  assert.equal((await run.status()).last?.step, 1998);
});

test("checkpoints come in the order of their steps, and the latest is never the best alone", async () => {
  const path = folder();
  const run = await enter(path);
  assert.equal(await run.latest(), undefined);
  addCheckpoint(path, "best", { epoch: 2, step: 40 });
  addCheckpoint(path, "epoch_001", { epoch: 1, step: 20 });
  addCheckpoint(path, "epoch_002", { epoch: 2, step: 40 });
  addCheckpoint(path, "step_000000050", { epoch: 3, step: 50 });
  mkdirSync(join(path, "step_000000060.part"));
  assert.deepEqual(
    (await run.checkpoints()).map(({ name }) => name),
    ["epoch_001", "best", "epoch_002", "step_000000050"],
  );
  assert.equal((await run.latest())?.name, "step_000000050");
  assert.deepEqual(
    (await run.epochs()).map(({ epoch, step }) => [epoch, step]),
    [[1, 20], [2, 40]], // biome-ignore format: pairs
  );
  await run.removeSteps();
  assert.equal((await run.latest())?.name, "epoch_002");
});

test("a run of an older version, which left no status, is finished if its last epoch is there", async () => {
  const path = folder();
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "config.json"), JSON.stringify({ epochs: 2 }));
  const run = await RunFolder.open(path);
  assert.equal((await run.status()).state, "stopped");
  addCheckpoint(path, "epoch_002", { epoch: 2, step: 40 });
  assert.equal((await run.status()).state, "finished");
  await assert.rejects(RunFolder.open(join(path, "epoch_002")), /RUN_MISSING|no run of tabiya train/);
});
