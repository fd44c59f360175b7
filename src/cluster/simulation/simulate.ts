// A cluster in a computer: workers take jobs from one Redis, send results through one cable into a store, and one command
// collects them. Each of the three serves one after another. What is not here: failures, and machines of different speed.
import { Random } from "#base";
import { Server, Timeline } from "./events.js";

/** What a simulation assumes. Costs of a job are those of one job, not of one position. */
export interface Assumptions {
  coresPerWorker: number; // each does one job at a time
  jobSeconds: number; // on one core
  jobSpread: number; // standard deviation / mean of it; 0: all equal
  positionsPerJob: number;
  resultBytes: number; // of a job
  networkBytes: number;
  redisAddMs: number; // processor time of Redis to take a job in
  redisDoMs: number; // to hand it out and to take its end
  redisRenewMs: number; // to renew a lock, every 15 s of a job
  redisStoreMs: number; // to keep a result and to give it back, if results lie in Redis
  redisJobBytes: number; // memory for a job that waits or is under way
  collectMs: number; // processor time of the command that collects results, a job
  windowJobs: number; // under way at once, at most; 0: twice the cores of all workers
  storeInRedis: number; // 1: results lie in Redis until they are collected
  linkMegabits: number; // a second, between all workers and the store
  roundTripMs: number; // of a request
  generationPositions: number; // of self-play, after which a network is trained
  trainingSeconds: number;
  sprtGames: number; // that a test needs
  gamesPerJob: number;
  coreHourPrice: number; // dollars
  requestPrice: number; // dollars for a put and a get of a result
  serverHourPrice: number; // dollars for Redis, store and the command
}

const JOBS = 2_000; // that are measured at least
const RENEW_SECONDS = 15; // half of the lock of transports/worker.ts

/** Throughput and cost at a number of workers. */
export interface Scale {
  workers: number;
  positionsPerSecond: number;
  efficiency: number; // share of the cores' time that is work
  dollarsPerMillion: number; // positions
  redisBusy: number; // shares of the time
  linkBusy: number;
  commandBusy: number;
  dispatchMs: number; // mean wait of a request for Redis
  redisMegabytes: number; // for jobs and results, at most
  networkSeconds: number; // until every worker has a new network
  staleShare: number; // of a generation that was played by an older network, if workers play on while it is trained
  idleShare: number; // of the time, if they wait for it instead
  sprtSeconds: number; // for a test alone on the cluster
  sprtWaste: number; // share of its games that were under way when it was decided
  limit: Limit;
}

/** What keeps a cluster from being faster. */
export const LIMITS = {
  cores: "nothing but the number of cores",
  window: "jobs under way at once: let the window grow with the workers",
  redis: "Redis (dispatch): longer jobs, then several Redis servers with a share of the jobs each",
  link: "the network to the store: several store servers, or fewer bytes a position",
  command: "the one command that collects: several commands with a share of the games each",
} as const;
export type Limit = keyof typeof LIMITS;

/** Lets a cluster of so many workers run until each core has done some jobs; the same seed gives the same numbers. */
export function simulate(workers: number, assumptions: Readonly<Assumptions>, seed: number): Scale {
  const a = assumptions;
  const random = new Random(seed);
  const timeline = new Timeline();
  const [redis, link, command] = [new Server(timeline), new Server(timeline), new Server(timeline)];
  const cores = workers * a.coresPerWorker;
  const window = a.windowJobs || 2 * cores;
  const trip = a.roundTripMs / 1000;
  const linkSeconds = (bytes: number) => (8 * bytes) / (a.linkMegabits * 1e6);
  const { endMs, takeMs } = redisCosts(a);

  let waiting = 0; // jobs in the queue
  let idle = cores;
  let done = 0;
  let worked = 0; // seconds of cores
  let stored = 0; // results that nobody has collected yet
  let mostBytes = 0;

  const jobTime = () => {
    if (a.jobSpread === 0) return a.jobSeconds;
    const variance = Math.log(1 + a.jobSpread ** 2); // log-normal: long games are rarer than short ones, and longer
    return a.jobSeconds * Math.exp(Math.sqrt(variance) * random.normal() - variance / 2);
  };
  const note = (underWay: number) => {
    const bytes = underWay * a.redisJobBytes + (a.storeInRedis ? stored * a.resultBytes : 0);
    mostBytes = Math.max(mostBytes, bytes);
  };
  const add = () =>
    redis.serve(a.redisAddMs / 1000, () => {
      waiting++;
      give();
    });
  const give = () => {
    while (idle > 0 && waiting > 0) {
      idle--;
      waiting--;
      redis.serve(takeMs / 1000, () => timeline.plan(timeline.now + trip, work));
    }
  };
  const work = () => {
    const seconds = jobTime();
    timeline.plan(timeline.now + seconds, () => {
      worked += seconds;
      link.serve(linkSeconds(a.resultBytes), () => {
        stored++;
        note(window);
        redis.serve(endMs / 1000, () => {
          idle++;
          give();
          command.serve(a.collectMs / 1000, collect);
        });
      });
    });
  };
  const collect = () => {
    done++;
    stored--;
    add();
  };

  for (let i = 0; i < window; i++) add();
  note(window);
  const rounds = Math.max(8, Math.ceil(JOBS / Math.min(window, cores))); // jobs of each core
  // So long as a job may stand in the longest queue: a full server is in its stride only after it.
  const { redis: byRedis, link: byLink, command: byCommand } = saturation(a);
  const queueSeconds = (window * a.jobSeconds) / (Math.min(byRedis, byLink, byCommand) * a.coresPerWorker);
  const warm = 4 * Math.max(a.jobSeconds, queueSeconds);
  const end = warm + Math.max(rounds * a.jobSeconds, 4 * queueSeconds);
  timeline.runUntil(warm);
  const before = { done, worked, redis: redis.busySeconds, link: link.busySeconds, command: command.busySeconds };
  timeline.runUntil(end);
  const seconds = end - warm;
  const share = (busy: number, earlier: number) => (busy - earlier) / seconds;
  const jobsPerSecond = (done - before.done) / seconds;
  const positionsPerSecond = jobsPerSecond * a.positionsPerJob;
  const [redisBusy, linkBusy, commandBusy] = [share(redis.busySeconds, before.redis), share(link.busySeconds, before.link), share(command.busySeconds, before.command)]; // biome-ignore format: a list
  const efficiency = share(worked, before.worked) / cores;
  const hourly = cores * a.coreHourPrice + a.serverHourPrice + 3600 * jobsPerSecond * a.requestPrice;
  const networkSeconds = linkSeconds(a.networkBytes) * workers;
  const generationSeconds = a.generationPositions / positionsPerSecond;
  const gamesPerSecond = jobsPerSecond * a.gamesPerJob;
  const underWay = Math.min(cores, window) * a.gamesPerJob;
  const decided = a.sprtGames / gamesPerSecond + a.jobSeconds; // the first results come after a job
  return {
    workers,
    positionsPerSecond,
    efficiency,
    dollarsPerMillion: (1e6 * hourly) / 3600 / positionsPerSecond,
    redisBusy,
    linkBusy,
    commandBusy,
    dispatchMs: 1000 * redis.meanWait,
    redisMegabytes: mostBytes / 1e6,
    networkSeconds,
    staleShare: Math.min(1, (a.trainingSeconds + networkSeconds + a.jobSeconds) / generationSeconds),
    idleShare: a.trainingSeconds / (generationSeconds + a.trainingSeconds + networkSeconds),
    sprtSeconds: decided,
    sprtWaste: underWay / (a.sprtGames + underWay),
    limit: limitOf({ efficiency, redisBusy, linkBusy, commandBusy, window, cores }),
  };
}

/** Renewals of a lock are counted at the end of a job, not when they come. */
function redisCosts(a: Readonly<Assumptions>): { takeMs: number; endMs: number } {
  const renewMs = a.redisRenewMs * Math.floor(a.jobSeconds / RENEW_SECONDS);
  return { takeMs: a.redisDoMs / 2, endMs: a.redisDoMs / 2 + renewMs + (a.storeInRedis ? a.redisStoreMs : 0) };
}

const FULL = 0.95; // a server this busy is what everybody waits for

function limitOf(at: {
  efficiency: number;
  redisBusy: number;
  linkBusy: number;
  commandBusy: number;
  window: number;
  cores: number;
}): Limit {
  const busiest = ([["redis", at.redisBusy], ["link", at.linkBusy], ["command", at.commandBusy]] as const).reduce((a, b) => (b[1] > a[1] ? b : a)); // biome-ignore format: a table
  if (busiest[1] >= FULL) return busiest[0];
  return at.window < at.cores ? "window" : "cores";
}

/** Workers with which each server would be full, if the others were infinitely fast: seconds of a job / seconds of the server. */
export function saturation(a: Readonly<Assumptions>): Record<Exclude<Limit, "cores">, number> {
  const { takeMs, endMs } = redisCosts(a);
  const atMost = (serverSeconds: number) => a.jobSeconds / serverSeconds / a.coresPerWorker;
  return {
    window: a.windowJobs === 0 ? Number.POSITIVE_INFINITY : a.windowJobs / a.coresPerWorker,
    redis: atMost((a.redisAddMs + takeMs + endMs) / 1000),
    link: atMost((8 * a.resultBytes) / (a.linkMegabits * 1e6)),
    command: atMost(a.collectMs / 1000),
  };
}
