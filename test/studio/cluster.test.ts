// The view of a cluster: a real Redis, a real worker, and jobs that are done, wait and fail.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { BullTransport, playContestByJobs } from "#cluster";
import { runContest } from "#data";
import { freePort, hasRedis, startClusterWorker, startRedis } from "../redis-server.js";
import { Served } from "./served.js";
import { browserPath, inspectAll } from "./studio.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-cluster-view-"));
const children: ChildProcess[] = [];
const isPossible = hasRedis && browserPath !== undefined;
let url = "";
let redis: ChildProcess;
let studio: Served;

async function startWorker(): Promise<ChildProcess> {
  const child = await startClusterWorker(url);
  children.push(child);
  return child;
}

beforeAll(async () => {
  if (!isPossible) return;
  const port = await freePort();
  url = `redis://127.0.0.1:${port}`;
  redis = await startRedis(port, folder);
  children.push(redis);
  studio = new Served(["--cluster", url]);
  await studio.open();
});
afterAll(async () => {
  await studio?.close();
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!isPossible)("queues, workers, rates, failures and the time left are shown as they change", async () => {
  const page = await studio.visit("Cluster");
  await page.getByText("Nobody works.").waitFor();
  await page.getByText("No command has asked for anything lately.").waitFor();
  const transport = await BullTransport.open(url, { itemsPerJob: 1 });
  const abort = new AbortController();
  try {
    const players = ["builtin@ab", "random"];
    const playing = runContest(
      { kind: "match", players, games: 20_000, limits: { nodes: 2_000 }, adjudication: { maxMoves: 20 } },
      { play: playContestByJobs(transport), signal: abort.signal },
    ).catch(() => {}); // it is stopped
    const queue = page.getByRole("article", { name: /^Queue tabiya-jobs-/ });
    await queue.getByText("Jobs for any worker").waitFor();
    await queue.getByText("no end in sight").waitFor();
    const worker = await startWorker();
    const card = page.getByRole("listitem", { name: `-${worker.pid}` });
    await card.getByText("1 core", { exact: true }).waitFor();
    await card.getByText(/, [1-9]\d* done, 0 failed/).waitFor();
    await card.getByText("residual").waitFor();
    await page.getByText("No job has failed.").waitFor();

    // A job whose network nobody has fails, and says why.
    const { Queue } = await import("bullmq");
    const name = (await queue.getAttribute("aria-label"))!.slice("Queue ".length);
    const own = new Queue(name, { connection: { url } });
    await own.add("games", { kind: "unheard of" }, { jobId: "broken", priority: 0, lifo: true });
    await page.getByRole("region", { name: "Failures" }).getByText("broken").waitFor();
    assert.match((await page.getByRole("region", { name: "Failures" }).textContent()) ?? "", /unheard of|kind/);
    await own.close();

    await queue.getByText(/ a minute, \d+ (s|min|h \d+ min) left/).waitFor(); // Redis counts by the minute
    await inspectAll(page, "cluster");

    worker.kill("SIGKILL"); // its card is gone when it has given no sign of life for a while
    await page.getByText("Nobody works.").waitFor();
    abort.abort();
    await playing;
  } finally {
    await transport.close();
  }
  redis.kill("SIGKILL");
  await page
    .getByRole("alert")
    .getByText(/there is no Redis|does not answer/)
    .waitFor();
  children.push(await startRedis(Number(new URL(url).port), folder));
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.context().close();
  assert.deepEqual(studio.problems, []);
});

test.skipIf(!browserPath)("without a cluster there is no such view, and its address says how to have one", async () => {
  const plain = new Served();
  await plain.open();
  try {
    const page = await plain.visit("Train");
    await page.getByRole("heading", { name: "Train" }).first().waitFor();
    assert.equal(await page.getByRole("link", { name: "Cluster" }).count(), 0);
    await page.evaluate(() => (location.hash = "#/cluster"));
    await page.getByText("--cluster redis://HOST:6379").waitFor();
    assert.deepEqual(plain.problems, []);
  } finally {
    await plain.close();
  }
});
