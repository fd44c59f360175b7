// Workers on a real Redis, which Debian's redis-server provides: `tabiya` from dist, so build first. What breaks is the affair of
// cluster-chaos.test.ts, what comes of jobs that of cluster-jobs.test.ts.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { BullTransport, EmbeddedTransport, FolderStore, playByJobs, playContestByJobs, readStatus, sha256 } from "#cluster"; // biome-ignore format: a list
import { type ContestInput, runContest, runSelfPlay, type SelfPlayInput } from "#data";
import { freePort, hasRedis, startClusterWorker, startRedis } from "./redis-server.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-cluster-"));
const file = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(file(name), "utf8");
const children: ChildProcess[] = [];
let url = "";

async function startWorker(): Promise<ChildProcess> {
  const child = await startClusterWorker(url);
  children.push(child);
  return child;
}

beforeAll(async () => {
  if (!hasRedis) return;
  const port = await freePort();
  url = `redis://127.0.0.1:${port}`;
  children.push(await startRedis(port, folder));
});
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const SPEC: SelfPlayInput = {
  player: "uniform@mcts",
  games: 24,
  nodes: 60,
  fullShare: 0.5,
  openings: { endgameShare: 0.5, randomPlies: 4 },
  adjudication: { maxMoves: 20 },
};

test("threads of this program give the bytes of a game played here", async () => {
  await runSelfPlay(SPEC, file("here.jsonl"));
  const threads = new EmbeddedTransport(new FolderStore(file("networks")), { threads: 2 });
  try {
    await runSelfPlay(SPEC, file("threads.jsonl"), { play: playByJobs(threads) });
  } finally {
    await threads.close();
  }
  assert.equal(text("threads.jsonl"), text("here.jsonl"));
});

test("a file that is not what its name says is not there", async () => {
  const store = new FolderStore(file("store"));
  const hash = await store.put(new TextEncoder().encode("a network"));
  assert.equal(hash, await sha256(new TextEncoder().encode("a network")));
  assert.equal(new TextDecoder().decode(await store.get(hash)), "a network");
  rmSync(join(file("store"), hash));
  assert.equal(await store.get(hash), undefined);
});

test.skipIf(!hasRedis)("a worker that is told to end finishes the job at hand, and is seen until then", async () => {
  const worker = await startWorker();
  const transport = await BullTransport.open(url, { itemsPerJob: 4 });
  const spec: ContestInput = {
    kind: "match",
    players: ["builtin@ab:20000", "random"],
    games: 4,
    adjudication: { maxMoves: 12 },
  };
  try {
    const playing = runContest(spec, { play: playContestByJobs(transport) });
    const status = () => readStatus(url);
    while ((await status()).queues[0]?.active !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
    worker.kill("SIGTERM");
    const { workers, queues } = await status();
    assert.deepEqual([workers.length, workers[0].capacity, queues[0].active], [1, 1, 1]);
    const [{ kind }, [code]] = await Promise.all([playing, once(worker, "exit")]);
    assert.deepEqual([kind, code], ["match", 130]);
    assert.deepEqual((await status()).workers, []);
  } finally {
    await transport.close();
  }
});

test("a cluster that is not there is said so at once", async () => {
  await assert.rejects(BullTransport.open("redis://127.0.0.1:1"), { code: "CLUSTER_CONNECT" });
  await assert.rejects(BullTransport.open("http://example.com"), { code: "CLUSTER_URL" });
});
