// Training with helpers on a real Redis: `tabiya` from dist, so build first.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { Dataset } from "#data";
import { freePort, hasRedis, said, startRedis } from "./redis-server.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-train-cluster-"));
const file = (...names: string[]) => join(folder, ...names);
const children: ChildProcess[] = [];
let url = "";

beforeAll(async () => {
  await Dataset.fromPgn("games/lichess.pgn.gz", file("games.bin"), { value: "result" });
  writeFileSync(file("games.bin"), readFileSync(file("games.bin")).subarray(0, 3000 * 40)); // records
  writeFileSync(
    file("recipe.yaml"),
    "size: tiny\nwidth: 8\nblocks: 1\nbatchSize: 16\nepochPositions: 320\nresultShare: 1\nthreads: 1\nroundSteps: 5\nlogSteps: 1\nema: 0.9\n",
  );
  if (!hasRedis) return;
  const port = await freePort();
  url = `redis://127.0.0.1:${port}`;
  children.push(await startRedis(port, folder));
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function start(...args: string[]): ChildProcess & { notes: string } {
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args], { stdio: ["ignore", "ignore", "pipe"] });
  children.push(child);
  const started = Object.assign(child, { notes: "" });
  child.stderr.on("data", (text) => {
    started.notes += text;
  });
  return started;
}
const startTraining = (run: string, ...args: string[]) =>
  start("train", file("recipe.yaml"), "--data", file("games.bin"), "--run", file(run), ...args);
const startHelper = async () => {
  const helper = start("worker", "--cluster", url, "--trainings", "--capacity", "1");
  await said(helper.stderr!, "waiting for trainings");
  return helper;
};
const ended = async (child: ChildProcess & { notes: string }) => {
  const [code] = child.exitCode === null ? await once(child, "exit") : [child.exitCode];
  assert.equal(code, 0, child.notes);
};
const model = (run: string, checkpoint: string) => readFileSync(file(run, checkpoint, "model.safetensors"), "base64");

test.skipIf(!hasRedis)(
  "a helper on Redis and one in the program give the same weights; without one they are those of a training alone",
  async () => {
    const settings = ["--set", "epochs=1", "differences=float16"];
    const here = startTraining("here", "--workers", "2", ...settings);
    await ended(here);
    await ended(startTraining("alone", ...settings));
    await ended(startTraining("one", "--cluster", url, ...settings));
    assert.equal(model("one", "epoch_001"), model("alone", "epoch_001"));
    const helper = await startHelper();
    const cluster = startTraining("cluster", "--cluster", url, "--workers", "2", ...settings);
    await ended(cluster);
    assert.equal(model("cluster", "epoch_001"), model("here", "epoch_001"), cluster.notes + helper.notes);
    assert.notEqual(model("cluster", "epoch_001"), model("alone", "epoch_001"));
    helper.kill("SIGTERM");
    const [code] = await once(helper, "exit");
    assert.equal(code, 130);
  },
  300_000,
);

/** The last step that the metrics of a run know, and the last that is saved. */
const stepsOf = (run: string) => {
  const lines = readFileSync(file(run, "metrics.jsonl"), "utf8").trim().split("\n");
  const saved = readdirSync(file(run)).flatMap((name) => /^(?:step|epoch)_(\d+)$/.exec(name)?.slice(1) ?? []);
  return { last: JSON.parse(lines.at(-1)!).step as number, saved };
};

test.skipIf(!hasRedis)(
  "a helper that is killed, one that stands still and a leader that is killed cost a round at most; others take their places",
  async () => {
    const EPOCHS = 10; // of 20 steps: enough for the leader to be killed in the middle, on a busy machine too
    const settings = ["--cluster", url, "--workers", "2", "--set", `epochs=${EPOCHS}`];
    const [first, leader] = [await startHelper(), startTraining("killed", ...settings)];
    await said(leader.stderr!, "has come");
    const second = await startHelper();
    await said(leader.stderr!, "3 workers");
    first.kill("SIGKILL");
    const reached = async (step: number) => {
      while (stepsOf("killed").last < step) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await reached(15);
    second.kill("SIGSTOP"); // too slow for two rounds, which go on without it
    await reached(stepsOf("killed").last + 10);
    second.kill("SIGCONT");
    await reached(30);
    leader.kill("SIGKILL");
    await once(leader, "exit");
    const { last, saved } = stepsOf("killed");
    const [kept] = saved.filter((step) => step.length > 3).map(Number); // step_000000020, not epoch_001
    const epochs = saved.filter((step) => step.length === 3).length;
    assert.ok(Math.max(kept ?? 0, 20 * epochs) >= last - 5, `saved ${saved}, last ${last}`);
    const resumed = startTraining("killed", ...settings, "--resume");
    await ended(resumed);
    assert.match(resumed.notes, /has come; 2 workers/);
    assert.equal(stepsOf("killed").last, EPOCHS * 20);
    assert.equal(JSON.parse(readFileSync(file("killed", "status.json"), "utf8")).state, "finished");
    second.kill("SIGTERM");
  },
  300_000,
);
