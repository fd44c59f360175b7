import type { Redis } from "ioredis";
import { describeNeeds } from "../jobs/needs.js";
import { connect, loadBull } from "./connection.js";
import { RATE_MINUTES, Registry, type WorkerCard } from "./registry.js";

export interface QueueStatus {
  name: string;
  needs: string; // who can do its jobs: "any worker", "workers with residual"
  waiting: number;
  active: number;
  completed: number; // and not yet fetched
  failed: number;
  delayed: number; // to be tried again
  jobsPerMinute: number; // over the last minutes
  secondsLeft: number | null; // at that rate; null: nothing was done lately
}

/** What a cluster is doing: queues, workers, rates, failures. */
export interface ClusterStatus {
  queues: QueueStatus[];
  workers: WorkerCard[];
  rates: { jobsPerMinute: number };
  failures: { id: string; reason: string }[]; // the last ones
  redis: RedisStatus;
}

/** What must be right about a Redis, and what it holds. */
export interface RedisStatus {
  version: string;
  bytes: number; // of memory
  warnings: string[];
}

const FAILURES = 10;

/** Asks the Redis of a cluster what is going on. */
export async function readStatus(url: string): Promise<ClusterStatus> {
  const { Queue } = await loadBull();
  const redis = await connect(url);
  const registry = new Registry(redis);
  try {
    const workers = await registry.workers();
    const queues: QueueStatus[] = [];
    const failures: ClusterStatus["failures"] = [];
    for (const [name, needs] of await registry.needs()) {
      const queue = new Queue(name, { connection: redis });
      const { waiting = 0, active = 0, completed = 0, failed = 0, delayed = 0 } = await queue.getJobCounts();
      const { data } = await queue.getMetrics("completed", 0, RATE_MINUTES - 1);
      const jobsPerMinute = data.length === 0 ? 0 : data.reduce((sum, n) => sum + Number(n), 0) / data.length;
      const left = waiting + active + delayed;
      const secondsLeft = left === 0 ? 0 : jobsPerMinute === 0 ? null : Math.round((60 * left) / jobsPerMinute);
      queues.push({
        name,
        needs: describeNeeds(needs),
        waiting,
        active,
        completed,
        failed,
        delayed,
        jobsPerMinute,
        secondsLeft,
      });
      for (const { id = "", failedReason } of await queue.getFailed(0, FAILURES - 1))
        failures.push({ id, reason: failedReason });
      await queue.close();
    }
    const rates = { jobsPerMinute: queues.reduce((sum, queue) => sum + queue.jobsPerMinute, 0) };
    return { queues, workers, rates, failures, redis: await readRedis(redis) };
  } finally {
    redis.disconnect();
  }
}

async function readRedis(redis: Redis): Promise<RedisStatus> {
  const info = await redis.info();
  const read = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, "m").exec(info)?.[1] ?? "";
  const policy = read("maxmemory_policy");
  const warnings: string[] = [];
  if (policy !== "" && policy !== "noeviction")
    warnings.push(`Redis may throw jobs away when its memory is full (${policy}). Set: maxmemory-policy noeviction`);
  if (read("aof_enabled") === "0")
    warnings.push("Redis keeps no log of changes: jobs are lost when it is restarted. Set: appendonly yes");
  if (read("aof_last_write_status") === "err")
    warnings.push("Redis could not write its log of changes: is its disk full?");
  return { version: read("redis_version"), bytes: Number(read("used_memory")), warnings };
}
