// Self-play by workers on a real Redis, which Debian's redis-server provides: `tabiya` from dist, so build first.
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, test } from "vitest";
import { BullTransport, EmbeddedTransport, FolderStore, playByJobs, sha256 } from "#cluster";
import { runSelfPlay, type SelfPlayInput } from "#data";
import { freePort, hasRedis, said, startRedis } from "./redis-server.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-cluster-"));
const file = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(file(name), "utf8");
const children: ChildProcess[] = [];
let [url, port] = ["", 0];

async function startServer(): Promise<ChildProcess> {
  const child = await startRedis(port, folder);
  children.push(child);
  return child;
}

async function startWorker(...more: string[]): Promise<ChildProcess> {
  const args = ["dist/cli/main.js", "worker", "--cluster", url, "--capacity", "1", ...more];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  children.push(child);
  await said(child.stderr, "ready");
  return child;
}

beforeAll(async () => {
  if (!hasRedis) return;
  port = await freePort();
  url = `redis://127.0.0.1:${port}`;
  await startServer();
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
}, 120_000);

test("a file that is not what its name says is not there", async () => {
  const store = new FolderStore(file("store"));
  const hash = await store.put(new TextEncoder().encode("a network"));
  assert.equal(hash, await sha256(new TextEncoder().encode("a network")));
  assert.equal(new TextDecoder().decode(await store.get(hash)), "a network");
  rmSync(join(file("store"), hash));
  assert.equal(await store.get(hash), undefined);
});

test.skipIf(!hasRedis)(
  "two workers, one of them killed, and Redis killed and started again: the same bytes",
  async () => {
    if (!existsSync(file("here.jsonl"))) await runSelfPlay(SPEC, file("here.jsonl"));
    const [first] = [await startWorker(), await startWorker()];
    const transport = await BullTransport.open(url, { itemsPerJob: 2 });
    let troubles = 0;
    try {
      await runSelfPlay(SPEC, file("cluster.jsonl"), {
        play: playByJobs(transport),
        onProgress({ games }) {
          if (games >= 1 && troubles === 0) {
            troubles++;
            first.kill("SIGKILL");
            const redis = children[0];
            redis.kill("SIGKILL");
            void once(redis, "exit").then(startServer);
          }
        },
      });
    } finally {
      await transport.close();
    }
    assert.equal(troubles, 1);
    assert.equal(text("cluster.jsonl"), text("here.jsonl"));
  },
  300_000,
);

test.skipIf(!hasRedis)(
  "a result that is damaged is made again, and work that asks for a file of ours is refused",
  async () => {
    const redis = new Redis(url);
    const worker = await startWorker();
    const transport = await BullTransport.open(url);
    const spec = { ...SPEC, games: 4, nodes: 8, seed: 5 };
    try {
      await runSelfPlay(spec, file("sound.jsonl"), { play: playByJobs(transport) });
      for (const key of await redis.keys("tabiya:file:*")) await redis.set(key, "not what it was");
      await runSelfPlay(spec, file("mended.jsonl"), { play: playByJobs(transport) });
      assert.equal(text("mended.jsonl"), text("sound.jsonl"));
      const [name] = await redis.smembers("tabiya:jobs:needs");
      const queue = new Queue(name, { connection: redis });
      const job = { kind: "selfplay", spec: { ...SPEC, player: "/etc/passwd@mcts" }, games: [0] };
      const added = await queue.add("selfplay", job, { jobId: "foreign", attempts: 1 });
      while (!(await added.isFailed())) await new Promise((resolve) => setTimeout(resolve, 50));
      assert.match((await queue.getJob("foreign"))?.failedReason ?? "", /expected one named by its hash/);
      await queue.close();
      const status = spawnSync(process.execPath, ["dist/cli/main.js", "cluster", "status", "--cluster", url, "--json"]);
      const { queues, workers, failures } = JSON.parse(String(status.stdout));
      assert.ok(queues[0].failed === 1 && workers.length >= 1 && failures[0].id === "foreign");
    } finally {
      await transport.close();
      redis.disconnect();
      worker.kill("SIGTERM");
      const [code] = await once(worker, "exit");
      assert.equal(code, 130); // drained
    }
  },
  120_000,
);

test("a cluster that is not there is said so at once", async () => {
  await assert.rejects(BullTransport.open("redis://127.0.0.1:1"), { code: "CLUSTER_CONNECT" });
  await assert.rejects(BullTransport.open("http://example.com"), { code: "CLUSTER_URL" });
});
