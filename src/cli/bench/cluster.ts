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
const WARM_UP = { games: CORES, nodes: 1_000 };

/** Games of the search that needs no network. */
const gamesOf = (games: number, nodes: number, seed: number): ContestInput => ({
  kind: "match",
  players: [`builtin@ab:${nodes}`, `builtin@ab:${nodes}`],
  adjudication: { maxMoves: 60 },
  openings: { randomPlies: 8 },
  games,
  seed,
});

export default command({
  name: "bench cluster",
  summary: "Measure the overhead of Redis between commands and workers: throughput, dispatch, memory.",
  details:
    "The same games are played by two threads of this program and by two workers on a Redis that it starts (redis-server must be\n" +
    "installed), in turns. A job should take at least ten seconds, as real ones take one or two minutes. Then tiny jobs are sent, to see how many per second are possible, and whether Redis grows.",
  examples: [
    "tabiya bench cluster",
    "tabiya bench cluster --games 24 --games-per-job 6 --turns 1 --jobs 0",
    "tabiya bench cluster --games 0 --jobs 0 --memory-jobs 100000 --json",
  ],
  options: {
    games: { type: "integer", minimum: 0, default: 6, help: "games of each turn; 0: none" },
    nodes: { type: "integer", minimum: 1, default: 200_000, help: "nodes a move" },
    gamesPerJob: { type: "integer", minimum: 1, default: 1, help: "games of one job" },
    turns: { type: "integer", minimum: 1, default: 2, help: "turns of both" },
    jobs: { type: "integer", minimum: 0, default: 10_000, help: "tiny jobs for the rate of dispatch; 0: none" },
    memoryJobs: { type: "integer", minimum: 0, default: 0, help: "tiny jobs for the memory of Redis, as 100000" },
  },

  run: ({ games, nodes, gamesPerJob, turns, jobs, memoryJobs }, io) =>
    withCluster(gamesPerJob, io, async (cluster, threads) => {
      const throughput = games > 0 ? await compare(cluster, threads, { games, nodes, gamesPerJob, turns }, io) : undefined; // biome-ignore format: one line
      if (throughput) {
        const { embedded, redis, share, jobSeconds } = throughput;
        io.print(`${games} games in jobs of ${jobSeconds.toFixed(1)} s: ${embedded.toFixed(2)} s by ${CORES} threads, ${redis.toFixed(2)} s by ${CORES} workers through Redis: ${(100 * share).toFixed(1)} % of the throughput`); // biome-ignore format: a sentence
      }
      const dispatch = jobs > 0 ? await send(cluster, 0, jobs, io) : undefined;
      if (dispatch) io.print(`${jobs} tiny jobs in ${dispatch.seconds.toFixed(1)} s: ${dispatch.perSecond.toFixed(0)} jobs/s`); // biome-ignore format: a sentence
      const memory = memoryJobs > 0 ? await grow(cluster, memoryJobs, io) : undefined;
      if (memory) io.print(`Redis after each tenth of ${memoryJobs} jobs, in MB: ${memory.megabytes.map((mb) => mb.toFixed(2)).join(", ")}`); // biome-ignore format: a sentence
      return { cores: CORES, throughput, dispatch, memory };
    }),
});

interface Turns {
  games: number;
  nodes: number;
  gamesPerJob: number;
  turns: number;
}

/** The same games both ways in turns, each way first in every other turn; the seconds of all turns together. */
async function compare(
  cluster: BullTransport,
  threads: Transport,
  { games, nodes, gamesPerJob, turns }: Turns,
  io: Io,
) {
  const play = async (transport: Transport, spec: ContestInput) =>
    (await runContest(spec, { play: playContestByJobs(transport), signal: io.signal })).seconds;
  for (const transport of [threads, cluster]) await play(transport, gamesOf(WARM_UP.games, WARM_UP.nodes, 1));
  const [embeddedSeconds, redisSeconds]: [number[], number[]] = [[], []];
  for (let turn = 1; turn <= turns; turn++) {
    io.progress(`turn ${turn} of ${turns}`);
    const spec = gamesOf(games, nodes, turn);
    const ways = [
      async () => embeddedSeconds.push(await play(threads, spec)),
      async () => redisSeconds.push(await play(cluster, spec)),
    ];
    for (const way of turn % 2 === 1 ? ways : ways.reverse()) await way();
  }
  const sum = (list: readonly number[]) => list.reduce((total, seconds) => total + seconds, 0);
  const [embedded, redis] = [sum(embeddedSeconds), sum(redisSeconds)];
  const jobSeconds = (CORES * embedded) / (turns * Math.ceil(games / gamesPerJob));
  return { embedded, redis, share: embedded / redis, jobSeconds, embeddedSeconds, redisSeconds };
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
async function withCluster<T>(
  itemsPerJob: number,
  io: Io,
  work: (cluster: BullTransport, threads: Transport) => Promise<T>,
): Promise<T> {
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
      const cluster = await BullTransport.open(url, { itemsPerJob, note: io.note });
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
