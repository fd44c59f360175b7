// A cluster as it is meant to be run: Redis with a password, files in S3. `tabiya` from dist, so build first.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, test } from "vitest";
import { BullTransport } from "#cluster";
import { runSelfPlay } from "#data";
import { parseExposition } from "./exposition.js";
import { freePort, hasRedis, said, startRedis } from "./redis-server.js";
import { BUCKET, hasS3, type S3Server, startS3 } from "./s3-server.js";

const PASSWORD = "s3cret/p@ss:word";
const folder = mkdtempSync(join(tmpdir(), "tabiya-cluster-store-"));
const file = (...names: string[]) => join(folder, ...names);
const children: (ChildProcess | undefined)[] = [];
let [url, store] = ["", ""];
let s3: S3Server;
let port = 0;
let told = ""; // all that any program said

beforeAll(async () => {
  if (!hasRedis || !hasS3) return;
  port = await freePort();
  url = `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
  children.push(await startRedis(port, folder, "--requirepass", PASSWORD));
  s3 = await startS3(file("s3"));
  children.push(s3.child);
  store = `s3://${BUCKET}/cluster?endpoint=${s3.endpoint}`;
});
afterAll(() => {
  for (const child of children) child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args], { env: { ...process.env, ...s3.keys, ...env }, stdio: ["ignore", "pipe", "pipe"] }); // biome-ignore format: a list
  children.push(child);
  const started = Object.assign(child, { out: "", notes: "" });
  child.stdout.on("data", (text) => {
    told += text;
    started.out += text;
  });
  child.stderr.on("data", (text) => {
    told += text;
    started.notes += text;
  });
  return started;
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const child = start(args, env);
  const [code] = await once(child, "close");
  return { code: code as number, out: child.out, notes: child.notes };
}

test.skipIf(!hasRedis || !hasS3)(
  "self-play over a Redis with a password and a store of S3 gives the bytes of this machine; nobody tells the secrets",
  async () => {
    const play = ["selfplay", "nnue@ab", "--games", "6", "--nodes", "8", "--max-moves", "10", "--seed", "3"];
    await runSelfPlay(
      { player: "nnue@ab", games: 6, nodes: 8, seed: 3, adjudication: { maxMoves: 10 } },
      file("here.bin"),
    );
    const seen = ["--metrics", "0", "--log", "json", "--cache", file("cache")];
    const worker = start(["worker", "--cluster", url, "--store", store, "--capacity", "1", ...seen]);
    await said(worker.stderr!, "ready");
    // The password of the environment, as redis-cli has it: a command line can be read by everybody on the machine.
    const there = ["--cluster", `redis://127.0.0.1:${port}`, "--store", store];
    const played = await run([...play, "-o", file("there.bin"), ...there], { REDISCLI_AUTH: PASSWORD });
    assert.equal(played.code, 0, played.notes);
    assert.equal(readFileSync(file("there.bin"), "latin1"), readFileSync(file("here.bin"), "latin1"));
    const redis = new Redis(url);
    assert.deepEqual(await redis.keys("tabiya:file:*"), []); // all of it went through S3
    redis.disconnect();
    if (s3.child) assert.ok(readdirSync(file("s3", BUCKET), { recursive: true }).length > 0); // the network; results are removed
    // What is seen of it: lines of JSON, numbers for Prometheus, the status.
    const events = worker.notes.trim().split("\n").map((line) => JSON.parse(line)); // biome-ignore format: a list
    assert.ok(events.some(({ event, kind, job, time }) => event === "done" && kind === "selfplay" && job && time));
    const metrics = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(worker.notes)?.[0] ?? assert.fail(worker.notes);
    const answer = await fetch(metrics);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
    const done = parseExposition(await answer.text()).get('tabiya_jobs_total{result="done"}') ?? 0;
    assert.equal(done, events.filter(({ event }) => event === "done").length);
    assert.equal((await fetch(metrics.replace("/metrics", "/"))).status, 404);
    const status = await run(["cluster", "status", "--cluster", url, "--json"]);
    const { workers, queues, rates, failures, redis: server } = JSON.parse(status.out);
    assert.equal(workers.length, 1);
    assert.ok(queues.length > 0 && rates.jobsPerMinute >= 0 && failures.length === 0);
    assert.deepEqual(server.warnings, []);
    for (const wrong of [url.replace("@127", "x@127"), `redis://127.0.0.1:${port}`])
      await assert.rejects(BullTransport.open(wrong), (error: Error) => {
        told += error.message;
        return /^redis:\/\/.*127.0.0.1:\d+: the Redis wants another password/.test(error.message);
      });
    await assert.rejects(BullTransport.open(`http://:${PASSWORD}@127.0.0.1`), (error: Error) => {
      told += error.message;
      return error.message.startsWith('cluster "http://***@127.0.0.1": expected');
    });
    worker.kill("SIGTERM");
    await once(worker, "exit");
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), s3.keys.AWS_SECRET_ACCESS_KEY])
      assert.ok(!told.includes(secret), told);
  },
  180_000,
);
