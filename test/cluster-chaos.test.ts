// A thousand jobs while everything breaks that can break. The cuts are scaled down to a lock of one second; with
// TABIYA_CHAOS_SCALE=30 they are what they are outside (a lock of half a minute, a cable cut for a minute).
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, test } from "vitest";
import { Random, readBytes } from "#base";
import { BullTransport, type FileStore, playByJobs, playContestByJobs } from "#cluster";
import { type ContestEvent, type ContestInput, MemoryStore, runContest, runSelfPlay } from "#data";
import { Cable, Machines, type TestWorker } from "./cluster-machines.js";
import { hasRedis } from "./redis-server.js";
import { canMount } from "./small-disk.js";

const SCALE = Number(process.env.TABIYA_CHAOS_SCALE ?? 1);
const GAMES = Number(process.env.TABIYA_CHAOS_JOBS ?? 1_200);
const LOCK_MS = 1_000 * SCALE;

const machines = new Machines();
beforeAll(async () => {
  if (hasRedis) await machines.start();
});
afterAll(() => machines.close());

const CONTEST: ContestInput = {
  kind: "match",
  players: ["random", "random"],
  games: GAMES,
  adjudication: { maxMoves: 60, material: { points: 9, moves: 4 } },
};

/** What was played, game by game. */
const movesOf = ({ games }: MemoryStore) =>
  games.map(({ index, record }) => `${index} ${record.reason} ${record.moves.map(({ move }) => move).join()}`);

test.skipIf(!hasRedis)(
  "workers killed, stopped and cut off, Redis killed: no job of a thousand is lost, and none is counted twice",
  async () => {
    const here = new MemoryStore();
    const { seconds: _, ...expected } = await runContest(CONTEST, { store: here });

    const cable = await Cable.to(machines.url);
    const staff: TestWorker[] = await machines.workers(3, { lockMs: LOCK_MS });
    const remote = machines.worker({ lockMs: LOCK_MS, cluster: cable.url });
    await remote.ready;
    const random = new Random(3);
    let isOver = false;
    let victims = 0;
    const log: string[] = [];
    const troubles: (() => Promise<void>)[] = [
      async () => {
        const victim = victims++ % staff.length; // those of the last time may not be ready yet
        log.push(`kill -9 ${staff[victim].name}`);
        staff[victim].child.kill("SIGKILL");
        staff[victim] = machines.worker({ lockMs: LOCK_MS });
        await sleep(200);
      },
      async () => {
        const { child, name } = staff[victims++ % staff.length];
        log.push(`SIGSTOP ${name}`);
        child.kill("SIGSTOP");
        await sleep(2.5 * LOCK_MS);
        child.kill("SIGCONT");
      },
      async () => {
        log.push("kill -9 redis");
        await machines.restartRedis();
        await sleep(500);
      },
      async () => {
        log.push(`silence ${remote.name}`);
        cable.silence();
        await sleep(2 * LOCK_MS);
        cable.mend();
      },
      async () => {
        log.push(`cut ${remote.name}`);
        cable.cut();
        await sleep(2 * LOCK_MS);
        cable.mend();
      },
    ];
    const makeTrouble = (async () => {
      await sleep(500);
      for (let i = 0; !isOver; i++) {
        await troubles[i % troubles.length]();
        await sleep(random.next() * 600);
      }
    })();

    const transport = await BullTransport.open(machines.url, { itemsPerJob: 1 });
    const there = new MemoryStore();
    const append = there.append.bind(there);
    there.append = async (game) => {
      // However fast the machine is, there are jobs left for every trouble.
      while (game.index > ((log.length + 1) * GAMES) / (troubles.length + 1)) await sleep(20);
      return append(game);
    };
    const counted = new Map<number, number>();
    const onEvent = (event: ContestEvent) => {
      if (event.type === "game") counted.set(event.index, (counted.get(event.index) ?? 0) + 1);
    };
    const { seconds, ...result } = await runContest(CONTEST, { play: playContestByJobs(transport), store: there, onEvent }); // biome-ignore format: a list
    isOver = true;
    await transport.close();
    await makeTrouble;
    cable.close();

    const done = [...staff, remote].map(({ name, said }) => `${name} ${said().match(/^done/gm)?.length ?? 0}`);
    console.log(`${GAMES} jobs in ${seconds.toFixed(1)} s; done by ${done.join(", ")}; ${log.length} troubles: ${log.join(", ")}`); // biome-ignore format: a list
    assert.ok(log.length >= troubles.length, "too few troubles to show anything");
    assert.deepEqual([counted.size, Math.max(...counted.values())], [GAMES, 1]);
    assert.deepEqual(movesOf(there), movesOf(here));
    assert.deepEqual(result, expected);

    const redis = new Redis(machines.url);
    for (const name of await redis.smembers("tabiya:jobs:needs")) {
      const queue = new Queue(name, { connection: redis });
      const { waiting, failed } = await queue.getJobCounts("waiting", "failed");
      assert.deepEqual([waiting, failed], [0, 0]);
      await queue.close();
    }
    redis.disconnect();
    for (const { child } of [...staff, remote]) child.kill("SIGKILL");
  },
  600_000 * Math.max(1, SCALE / 10),
);

/** A store whose files are damaged when they are asked for, the first times. */
function damaging(store: FileStore, redis: Redis, times: number): FileStore {
  return {
    put: (bytes, ending) => store.put(bytes, ending),
    async get(hash, ending, most) {
      if (times-- > 0) await redis.set(`tabiya:file:${hash}`, "not what it was");
      return store.get(hash, ending, most);
    },
    remove: (hash, ending) => store.remove(hash, ending),
  };
}

test.skipIf(!hasRedis)(
  "a worker of another version, one whose disk is full, a damaged network and damaged results: named, and the rest goes on",
  async () => {
    mkdirSync(machines.file("full"));
    if (!canMount) writeFileSync(machines.file("full", "file"), ""); // then nothing can be written there for another reason
    const old = machines.worker({ bench: 1 });
    const full = machines.worker({ cache: machines.file("full", canMount ? "" : "file") }, { smallDisk: canMount });
    const bare = machines.worker({ hasRuntime: false });
    await Promise.all([old.ready, full.ready, bare.ready]);
    const notes: string[] = [];
    const redis = new Redis(machines.url);
    const plain = await BullTransport.open(machines.url, { itemsPerJob: 1 });
    const store = damaging(plain.files.store, redis, 2);
    const transport = await BullTransport.open(machines.url, { itemsPerJob: 1, store, watchMs: 1_000, note: (text) => notes.push(text) }); // biome-ignore format: a list
    const spec = { player: "nnue@ab", games: 6, nodes: 20, adjudication: { maxMoves: 8 } };
    await runSelfPlay(spec, machines.file("here.bin"));

    // The network is damaged before anybody has fetched it.
    await transport.files.player(spec.player);
    for (const key of await redis.keys("tabiya:file:*")) await redis.set(key, "not what it was");
    await runSelfPlay(spec, machines.file("there.bin"), { play: playByJobs(transport) });
    assert.deepEqual(await readBytes(machines.file("there.bin")), await readBytes(machines.file("here.bin")));
    assert.match(
      notes.join("\n"),
      /file [0-9a-f]{64}\.\w+ is not in the store, or is damaged\. It was put there again/,
    );
    assert.match(
      notes.join("\n"),
      /the result of a job \(selfplay [0-9a-f]{12}\) is missing or damaged; it is done again/,
    );
    assert.match(old.said(), /note: jobs are left to others: they are of a tabiya with bench \d+, and this one has 1;/);
    assert.doesNotMatch(old.said(), /^done/m);
    assert.match(full.said(), canMount ? /note: in trouble, resting: .*disk is full/ : /note: in trouble, resting: /);
    assert.doesNotMatch(full.said(), /^done/m);

    // A Redis without room: everybody waits for it.
    await redis.config("SET", "maxmemory", "1");
    const crowded = runContest({ ...CONTEST, games: 3, seed: 7 }, { play: playContestByJobs(transport) });
    while (!/Redis cannot write \(OOM/.test(notes.join("\n"))) await sleep(50);
    await redis.config("SET", "maxmemory", "0");
    assert.equal((await crowded).kind, "match");

    // What only a worker with a runtime can do waits, and it is said who refuses and why.
    const stop = new AbortController();
    const waiting = runSelfPlay({ ...spec, player: "residual@mcts", games: 1 }, machines.file("never.jsonl"), { play: playByJobs(transport), signal: stop.signal }); // biome-ignore format: a list
    await Promise.all([
      assert.rejects(waiting, { name: "AbortError" }),
      (async () => {
        while (!/no worker can do these jobs/.test(notes.join("\n"))) await sleep(200);
        stop.abort();
      })(),
    ]);
    assert.match(notes.join("\n"), /worker-\d+: networks of the family residual cannot be played here/);

    // A job that names a file of the worker, or that is not what its name says.
    const [name] = await redis.smembers("tabiya:jobs:needs");
    const queue = new Queue(name, { connection: redis });
    const reason = async (jobId: string, data: object) => {
      const job = await queue.add("selfplay", data, { jobId });
      while (!(await job.isFailed())) await sleep(50);
      return (await queue.getJob(jobId))?.failedReason ?? "";
    };
    const passwords = { kind: "selfplay", spec: { ...spec, player: "/etc/passwd@mcts" }, games: [0] };
    assert.match(await reason("one", passwords), /expected one named by its hash/);
    const program = { kind: "games", spec: { kind: "match", players: ["uci:/bin/sh", "random"] }, games: [] };
    assert.match(
      await reason("two", { ...program, games: [game] }),
      /its engine is "\/bin\/sh", expected a name alone/,
    );
    assert.match(await reason("three", { ...program, spec: { ...program.spec, players: ["random", "random"] }, games: [game] }), /not the one that its name says/); // biome-ignore format: a list
    await queue.close();
    await plain.close();
    await transport.close();
    redis.disconnect();
    for (const { child } of [old, full, bare]) child.kill("SIGTERM");
  },
  300_000,
);

const game = { index: 0, pair: 0, round: 0, white: 0, black: 1, opening: { fen: "k7/8/8/8/8/8/8/KQ6 w - - 0 1", moves: [], chess960: false } }; // biome-ignore format: a list

test.skipIf(!hasRedis)("work that is stopped lets its jobs go at once", async () => {
  const [worker] = await machines.workers(1);
  const transport = await BullTransport.open(machines.url, { itemsPerJob: 1 });
  const stop = new AbortController();
  const long: ContestInput = { ...CONTEST, players: ["builtin@ab:3000000", "builtin@ab:3000000"], games: 4 };
  const playing = runContest(long, { play: playContestByJobs(transport), signal: stop.signal });
  await sleep(3_000);
  stop.abort();
  await assert.rejects(playing, { name: "AbortError" });
  while (!worker.said().includes("failed games: let go")) await sleep(50);
  const start = performance.now();
  await runContest({ ...CONTEST, games: 2, seed: 9 }, { play: playContestByJobs(transport) });
  assert.ok(performance.now() - start < 20_000, "the worker was still busy");
  await transport.close();
  worker.child.kill("SIGTERM");
});
