// Jobs on Redis by BullMQ. The queue holds only what is to be done and the hash of each result; bytes lie in the store. A
// job's id is the hash of its text: asked for twice, it is done once.
import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { processors, UserError } from "#base";
import { type Job, jobId, namedNetwork, parseJob } from "../jobs/job.js";
import { FolderStore } from "../stores/folder.js";
import { RedisStore } from "../stores/redis.js";
import type { FileStore } from "../stores/store.js";
import { connect, loadBull } from "./connection.js";
import { EmbeddedTransport } from "./embedded.js";
import type { Transport } from "./transport.js";

const QUEUE = "tabiya-jobs-1"; // the number grows whenever the same job would no longer give the same bytes
const POLL_MS = 250; // an event could be missed while Redis is away; a question cannot
const LOCK_MS = 30_000; // after which the jobs of a worker that is gone are given to another; renewed at half of it
const STALLS = 20; // that a job survives: of workers killed, stopped or cut off
const ATTEMPTS = 3;
const KEPT_SECONDS = 3600; // that a finished job is remembered

/** Hands jobs to whoever works on the queue. */
export class BullTransport implements Transport {
  readonly capacity = 64;
  readonly gamesPerJob: number;

  private constructor(
    private readonly redis: Redis,
    private readonly queue: Queue,
    readonly store: FileStore,
    gamesPerJob: number,
  ) {
    this.gamesPerJob = gamesPerJob;
  }

  static async open(
    url: string,
    { gamesPerJob = 4, store }: { gamesPerJob?: number; store?: FileStore } = {},
  ): Promise<BullTransport> {
    const { Queue } = await loadBull();
    const redis = await connect(url);
    return new BullTransport(
      redis,
      new Queue(QUEUE, { connection: redis }),
      store ?? new RedisStore(redis),
      gamesPerJob,
    );
  }

  async run(job: Job, signal: AbortSignal): Promise<Uint8Array> {
    const id = await jobId(job);
    for (;;) {
      signal.throwIfAborted();
      await this.queue.add(job.kind, job, {
        jobId: id,
        attempts: ATTEMPTS,
        backoff: { type: "fixed", delay: 500 },
        removeOnComplete: { age: KEPT_SECONDS },
        removeOnFail: { age: KEPT_SECONDS },
      });
      const hash = await this.finished(id, signal);
      const result = hash === undefined ? undefined : await this.store.get(hash);
      if (result) return result;
      await this.forget(id); // its result is gone or damaged: it is done again
    }
  }

  /** The hash of a job's result, once it is there; undefined if the job has vanished. */
  private async finished(id: string, signal: AbortSignal): Promise<string | undefined> {
    for (;;) {
      if (signal.aborted) {
        await this.forget(id);
        throw signal.reason;
      }
      const job = await this.queue.getJob(id);
      if (!job) return undefined;
      if (job.finishedOn !== undefined && job.failedReason) {
        await this.forget(id); // so that whoever asks again begins anew
        throw new UserError("JOB_FAILED", `a job failed on the cluster: ${job.failedReason}`);
      }
      if (job.finishedOn !== undefined && typeof job.returnvalue === "string") return job.returnvalue;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Takes a job out of the queue, unless somebody is at work on it. */
  private async forget(id: string): Promise<void> {
    const job = await this.queue.getJob(id);
    await job?.remove().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.queue.close();
    this.redis.disconnect();
  }
}

export interface WorkerOptions {
  cluster: string; // redis://...
  store?: FileStore; // for networks and results; in the Redis by default
  cache: string; // a folder for networks
  capacity?: number; // threads; one per core by default
  signal: AbortSignal; // finishes what is being done, takes nothing more
  onReady?(): void;
  onJob?(event: { id: string; kind: string; error?: string }): void;
}

/** Works on the queue until told to stop. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { cluster, store, cache, capacity = processors(), signal, onReady, onJob } = options;
  const { Worker } = await loadBull();
  const redis = await connect(cluster);
  const shared = store ?? new RedisStore(redis);
  const local = new FolderStore(cache);
  const threads = new EmbeddedTransport(local, { threads: capacity });
  const never = new AbortController().signal;
  const work = async (data: unknown): Promise<string> => {
    const job = parseJob(data);
    const named = namedNetwork(job.spec.player);
    if (named && !(await local.get(named.hash, named.ending))) {
      const network = await shared.get(named.hash);
      if (!network) throw new UserError("NETWORK_MISSING", `network ${named.hash} is not in the store, or is damaged.`);
      await local.put(network, named.ending);
    }
    return shared.put(await threads.run(job, never));
  };
  // Enough jobs to fill the batches of every thread: each plays its games one after another.
  const worker = new Worker(QUEUE, ({ data }) => work(data), {
    connection: redis.duplicate({ lazyConnect: false }),
    concurrency: threads.capacity,
    lockDuration: LOCK_MS,
    maxStalledCount: STALLS,
    stalledInterval: LOCK_MS / 2,
    metrics: { maxDataPoints: 60 },
  });
  worker.on("error", () => {}); // Redis went away: the connection comes back by itself
  worker.on("completed", ({ id = "", name }) => onJob?.({ id, kind: name }));
  worker.on("failed", (job, { message }) => onJob?.({ id: job?.id ?? "", kind: job?.name ?? "", error: message }));
  await worker.waitUntilReady();
  onReady?.();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await worker.close();
  await threads.close();
  redis.disconnect();
}

export interface ClusterStatus {
  queues: { name: string; waiting: number; active: number; completed: number; failed: number; delayed: number }[];
  workers: { name: string; address: string; seconds: number }[]; // seconds since it came
  rates: { jobsPerMinute: number }; // over the last minutes
  failures: { id: string; reason: string }[]; // the last ones
}

export async function readStatus(url: string): Promise<ClusterStatus> {
  const { Queue } = await loadBull();
  const redis = await connect(url);
  const queue = new Queue(QUEUE, { connection: redis });
  try {
    const { waiting = 0, active = 0, completed = 0, failed = 0, delayed = 0 } = await queue.getJobCounts();
    const workers = await queue.getWorkers();
    const { data } = await queue.getMetrics("completed", 0, 4);
    const failures = await queue.getFailed(0, 9);
    return {
      queues: [{ name: QUEUE, waiting, active, completed, failed, delayed }],
      workers: workers.map(({ name = "", addr = "", age = "0" }) => ({ name, address: addr, seconds: Number(age) })),
      rates: { jobsPerMinute: data.length === 0 ? 0 : data.reduce((sum, n) => sum + Number(n), 0) / data.length },
      failures: failures.map(({ id = "", failedReason }) => ({ id, reason: failedReason })),
    };
  } finally {
    await queue.close();
    redis.disconnect();
  }
}
