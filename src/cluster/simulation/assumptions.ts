import type { Assumptions } from "./simulate.js";

/**
 * Measured on one machine (2 cores, AMD EPYC), as docs/log/cluster.md tells: `tabiya selfplay residual@mcts --nodes 64` for
 * jobs of 90 s on a core, `node bench/redis.mjs` for Redis 7 with its log of changes. Prices are round numbers of large
 * providers; the times of training and tests are those of a small network.
 */
export const ASSUMPTIONS: Assumptions = {
  coresPerWorker: 2,
  jobSeconds: 90,
  jobSpread: 0.2,
  positionsPerJob: 920,
  resultBytes: 427_000,
  networkBytes: 2_320_000,
  redisAddMs: 0.039,
  redisDoMs: 0.083,
  redisRenewMs: 0.041,
  redisStoreMs: 0.6,
  redisJobBytes: 2_200,
  collectMs: 10,
  windowJobs: 256, // as transports/bullmq.ts has it
  storeInRedis: 0,
  linkMegabits: 1_000,
  roundTripMs: 1,
  generationPositions: 200_000,
  trainingSeconds: 300,
  sprtGames: 2_000,
  gamesPerJob: 30,
  coreHourPrice: 0.04,
  requestPrice: 5.4e-6,
  serverHourPrice: 0.2,
};

/** What each number means, for those who read or change it. */
export const MEANINGS: Record<keyof Assumptions, string> = {
  coresPerWorker: "cores of a worker; each does one job at a time",
  jobSeconds: "seconds of a job on one core",
  jobSpread: "standard deviation / mean of that",
  positionsPerJob: "positions of self-play that a job records",
  resultBytes: "bytes of its result",
  networkBytes: "bytes of a network",
  redisAddMs: "ms of Redis to take a job in",
  redisDoMs: "ms of Redis to hand it out and to end it",
  redisRenewMs: "ms of Redis to renew its lock, every 15 s",
  redisStoreMs: "ms of Redis to keep its result and give it back, if results lie there",
  redisJobBytes: "bytes of Redis for a job under way",
  collectMs: "ms of the command to read and write a result",
  windowJobs: "jobs under way at once; 0: twice the cores",
  storeInRedis: "results lie in Redis (1) or in a store of their own (0)",
  linkMegabits: "Mbit/s between all workers and the store",
  roundTripMs: "ms of a request over the network",
  generationPositions: "positions of a generation of tabiya learn",
  trainingSeconds: "seconds to train on them",
  sprtGames: "games that an SPRT needs",
  gamesPerJob: "games of a job",
  coreHourPrice: "dollars for a core and hour",
  requestPrice: "dollars to put and get a result",
  serverHourPrice: "dollars for an hour of Redis, store and command",
};
