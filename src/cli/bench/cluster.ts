import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { findProgram, UserError, workInSlots } from "#base";
import { START_FEN } from "#chess";
import { BullTransport, EmbeddedTransport, FolderStore, type Job, playContestByJobs, type Transport } from "#cluster";
import { type ContestInput, parseContest, runContest } from "#data";
import { withFolder } from "../cluster.js";
import { command, type Io } from "../command.js";

const CORES = 2; // threads here, workers there
const GAME: ContestInput = {
  kind: "match",
  players: ["builtin@ab:5000", "builtin@ab:5000"],
  adjudication: { maxMoves: 60 },
  openings: { randomPlies: 8 },
};

export default command({
  name: "bench cluster",
  summary: "Measure what a Redis between the work and its workers costs: throughput, dispatch, memory.",
  details:
    "The same games are played by two threads of this program and by two workers on a Redis that it starts (redis-server must be\n" +
    "installed), in turns. Then tiny jobs are sent, to see how many a second can be, and whether Redis grows by them.",
  examples: ["tabiya bench cluster", "tabiya bench cluster --games 0 --jobs 0 --memory-jobs 100000 --json"],
  options: {
    games: { type: "integer", minimum: 0, default: 40, help: "games of each turn; 0: none" },
    turns: { type: "integer", minimum: 1, default: 3, help: "turns of both" },
    jobs: { type: "integer", minimum: 0, default: 10_000, help: "tiny jobs for the rate of dispatch; 0: none" },
    memoryJobs: { type: "integer", minimum: 0, default: 0, help: "tiny jobs for the memory of Redis, as 100000" },
  },

  run: ({ games, turns, jobs, memoryJobs }, io) =>
    withCluster(io, async (cluster, threads) => {
      const throughput = games > 0 ? await compare(cluster, threads, games, turns, io) : undefined;
      if (throughput) {
        const { embedded, redis, share } = throughput;
        io.print(`${games} games: ${embedded.toFixed(2)} s by ${CORES} threads, ${redis.toFixed(2)} s by ${CORES} workers through Redis: ${(100 * share).toFixed(1)} % of the throughput`); // biome-ignore format: a sentence
      }
      const dispatch = jobs > 0 ? await send(cluster, 0, jobs, io) : undefined;
      if (dispatch) io.print(`${jobs} tiny jobs in ${dispatch.seconds.toFixed(1)} s: ${dispatch.perSecond.toFixed(0)} jobs/s`); // biome-ignore format: a sentence
      const memory = memoryJobs > 0 ? await grow(cluster, memoryJobs, io) : undefined;
      if (memory) io.print(`Redis after each tenth of ${memoryJobs} jobs, in MB: ${memory.megabytes.map((mb) => mb.toFixed(2)).join(", ")}`); // biome-ignore format: a sentence
      return { cores: CORES, throughput, dispatch, memory };
    }),
});

/** The same games in turns; the median time of each way. */
async function compare(cluster: BullTransport, threads: Transport, games: number, turns: number, io: Io) {
  const [embedded, redis]: [number[], number[]] = [[], []];
  const play = async (transport: Transport, seed: number) =>
    (await runContest({ ...GAME, games, seed }, { play: playContestByJobs(transport), signal: io.signal })).seconds;
  for (let turn = 0; turn <= turns; turn++) {
    io.progress(`turn ${turn} of ${turns}`);
    const taken = [await play(threads, turn + 1), await play(cluster, turn + 1)];
    if (turn === 0) continue; // both warm up
    embedded.push(taken[0]);
    redis.push(taken[1]);
  }
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1];
  const [alone, spread] = [median(embedded), median(redis)];
  return { embedded: alone, redis: spread, share: alone / spread, embeddedSeconds: embedded, redisSeconds: redis };
}

const SPEC = parseContest({ kind: "match", players: ["random", "random"], adjudication: { maxMoves: 1 } });
const tiny = (index: number): Job => {
  const opening = { fen: START_FEN, moves: [], chess960: false };
  return { kind: "games", spec: SPEC, games: [{ index, pair: index >> 1, round: 0, white: 0, black: 1, opening }] };
};

/** Sends tiny jobs, each of them a game of one move. */
async function send(cluster: BullTransport, from: number, jobs: number, io: Io) {
  const indices = Array.from({ length: jobs }, (_, i) => from + i);
  const start = performance.now();
  let done = 0;
  await workInSlots(indices, { slots: cluster.slots(), signal: io.signal }, async (index, signal) => {
    await cluster.run(tiny(index), 1, signal);
    io.progress(`${++done}/${jobs} tiny jobs`);
  });
  const seconds = (performance.now() - start) / 1000;
  return { seconds, perSecond: jobs / seconds };
}

async function grow(cluster: BullTransport, jobs: number, io: Io) {
  const megabytes: number[] = [];
  for (let tenth = 0; tenth < 10; tenth++) {
    await send(cluster, 1e7 + (tenth * jobs) / 10, Math.floor(jobs / 10), io);
    megabytes.push((await cluster.usedBytes()) / 2 ** 20);
  }
  return { megabytes };
}

/** A Redis of our own with two workers, and two threads; all of it ends with the work. */
async function withCluster<T>(io: Io, work: (cluster: BullTransport, threads: Transport) => Promise<T>): Promise<T> {
  if (!(await findProgram("redis-server")))
    throw new UserError("REDIS_MISSING", "redis-server is not installed, as by apt-get install redis-server.");
  return withFolder(async (folder) => {
    const children: ChildProcess[] = [];
    const start = async (program: string, args: string[], word: string) => {
      const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
      children.push(child);
      const ended = once(child, "exit").then(() => {
        throw new Error(`${program} ${args[0]} ended before it was ready.`);
      });
      await Promise.race([heard(child, word), ended]);
    };
    const threads = new EmbeddedTransport(new FolderStore(folder), { threads: CORES });
    try {
      const port = await freePort();
      const settings = ["--dir", folder, "--save", "", "--appendonly", "yes", "--bind", "127.0.0.1"];
      await start("redis-server", ["--port", String(port), ...settings], "Ready to accept");
      const url = `redis://127.0.0.1:${port}`;
      for (let i = 0; i < CORES; i++)
        await start(process.execPath, [process.argv[1], "worker", "--cluster", url, "--capacity", "1"], "ready");
      const cluster = await BullTransport.open(url, { itemsPerJob: 1, note: io.note });
      try {
        return await work(cluster, threads);
      } finally {
        await cluster.close();
      }
    } finally {
      await threads.close();
      for (const child of children.reverse()) child.kill("SIGKILL");
    }
  });
}

/** Resolves when a program has said a word; the rest is read and thrown away. */
const heard = (child: ChildProcess, word: string): Promise<void> =>
  new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (text) => String(text).includes(word) && resolve());
  });

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}
