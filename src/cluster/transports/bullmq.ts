// Jobs on Redis by BullMQ. The queue holds only what is to be done and the hash of each result; bytes lie in the store. A
// job's id is the hash of its text: asked for twice, it is done once. Jobs that need the same of a machine share a queue.
import type { Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import { findProgram, UserError } from "#base";
import { type Job, jobId, kindOf, parseResult } from "../jobs/job.js";
import { engineOf } from "../jobs/names.js";
import { benchSignature, engineSignature, type Needs, needsOf, refuse } from "../jobs/needs.js";
import { RedisStore } from "../stores/redis.js";
import type { FileStore } from "../stores/store.js";
import { connect, loadBull } from "./connection.js";
import { JobFiles } from "./job-files.js";
import { patiently } from "./patience.js";
import { Registry } from "./registry.js";
import type { Transport } from "./transport.js";

const POLL_MS = 2_000; // an event could be missed while Redis is away; a question cannot
const WATCH_MS = 15_000; // without a result, after which it is looked whether anybody can do the jobs
const NEED_MS = 60_000; // between two signs that the queue is still needed
const ATTEMPTS = 3; // at a job that fails; one whose worker is lost is not counted
const KEPT_SECONDS = 3600; // that a job which nobody fetches is remembered
const SLOTS = 256; // jobs under way: enough for a hundred cores, and few enough to be forgotten when work is stopped
const JOB_SECONDS = 90; // a job should take: far more than its dispatch costs, and little to do again

/** How jobs are given to a cluster. */
export interface BullOptions {
  itemsPerJob?: number; // instead of what takes about a minute
  store?: FileStore; // for files and results; in the Redis by default
  note?(text: string): void; // what people should know
  watchMs?: number; // between two looks at whether anybody can do the jobs
}

/** What is known of a job that is waited for: the hash of its result, or only that something happened. */
type Wake = (hash?: string) => void;

interface Lane {
  name: string;
  needs: Needs;
  queue: Queue;
  events: QueueEvents;
}

/** Hands jobs to whoever works on the queues. */
export class BullTransport implements Transport {
  readonly files: JobFiles;
  private readonly registry: Registry;
  private readonly lanes = new Map<string, Promise<Lane>>(); // by what they need
  private readonly waiting = new Map<string, Wake>();
  private readonly signatures = new Map<string, string>(); // of engines
  private readonly watch: ReturnType<typeof setInterval>[];
  private bench: Promise<number> | undefined;
  private lastDone = performance.now();
  private told = "";

  private constructor(
    private readonly redis: Redis,
    private readonly options: BullOptions,
  ) {
    this.files = new JobFiles(options.store ?? new RedisStore(redis), "by name");
    this.registry = new Registry(redis);
    const every = (ms: number, work: () => Promise<void>) => setInterval(() => void work().catch(() => {}), ms);
    this.watch = [
      every(options.watchMs ?? WATCH_MS, () => this.lookForWorkers()),
      every(NEED_MS, () => this.needAgain()),
    ];
  }

  static async open(url: string, options: BullOptions = {}): Promise<BullTransport> {
    return new BullTransport(await connect(url), options);
  }

  slots(): number {
    return SLOTS;
  }

  itemsPerJob(secondsEach: number): number {
    return this.options.itemsPerJob ?? Math.max(1, Math.min(1000, Math.round(JOB_SECONDS / secondsEach)));
  }

  async run(job: Job, items: number, signal: AbortSignal): Promise<string[]> {
    const id = await jobId(job);
    const { queue } = await this.laneOf(job);
    const { store } = this.files;
    for (let restored = 0; ; ) {
      signal.throwIfAborted();
      const woken = new Promise<string | undefined>((resolve) => this.waiting.set(id, resolve));
      try {
        await this.patiently(() =>
          queue.add(job.kind, job, {
            jobId: id,
            attempts: ATTEMPTS,
            backoff: { type: "fixed", delay: 500 },
            removeOnComplete: { age: KEPT_SECONDS },
            removeOnFail: { age: KEPT_SECONDS },
          }),
        );
        const hash = await this.finished(queue, id, woken, signal);
        const bytes = hash === undefined ? undefined : await store.get(hash);
        await this.forget(queue, id); // whatever came of it; whoever asks again begins anew
        if (bytes) {
          const lines = parseResult(id, bytes, items);
          if (hash !== undefined) await store.remove(hash);
          this.lastDone = performance.now();
          return lines;
        }
        if (hash !== undefined) this.note(`the result of a job (${job.kind} ${id.slice(0, 12)}) is missing or damaged; it is done again.`); // biome-ignore format: a sentence
      } catch (error) {
        const gone = error instanceof FileGone ? error : undefined;
        if (!gone || restored++ >= ATTEMPTS || !(await this.files.restore(gone.hash, gone.ending))) throw error;
        this.note(`${gone.message} It was put there again.`);
      } finally {
        this.waiting.delete(id);
      }
    }
  }

  /** The hash of a job's result, once it is there; undefined if the job has vanished. */
  private async finished(
    queue: Queue,
    id: string,
    first: Promise<string | undefined>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    let woken = first;
    let stop: Wake = () => {};
    const stopped = new Promise<undefined>((resolve) => (stop = () => resolve(undefined)));
    const onAbort = () => stop();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      for (;;) {
        const { timer, late } = timeout(POLL_MS);
        const hash = await Promise.race([woken, late, stopped]);
        clearTimeout(timer);
        if (signal.aborted) {
          await this.forget(queue, id);
          await this.registry.letGo(id);
          throw signal.reason;
        }
        if (hash !== undefined) return hash;
        woken = new Promise<string | undefined>((resolve) => this.waiting.set(id, resolve));
        const job = await queue.getJob(id);
        if (!job) return undefined;
        if (job.finishedOn === undefined) continue;
        if (!job.failedReason) return String(job.returnvalue);
        await this.forget(queue, id);
        if (/stalled/.test(job.failedReason)) return undefined; // its workers were lost, again and again
        throw FileGone.of(job.failedReason) ?? new UserError("JOB_FAILED", `a job (${job.name}) failed on the cluster: ${job.failedReason}`); // biome-ignore format: a sentence
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Takes a job out of the queue, unless somebody is at work on it. */
  private async forget(queue: Queue, id: string): Promise<void> {
    await queue.remove(id).catch(() => undefined);
  }

  /** The queue of those who can do a job. */
  private async laneOf(job: Job): Promise<Lane> {
    const players = kindOf(job).players(job);
    for (const name of players.flatMap((text) => engineOf(text) ?? []))
      if (!this.signatures.has(name)) this.signatures.set(name, await this.signEngine(name));
    const bench = await (this.bench ??= benchSignature());
    const needs = needsOf(job, bench, this.files.families, this.signatures);
    const key = JSON.stringify(needs);
    const lane = this.lanes.get(key) ?? this.openLane(needs);
    this.lanes.set(key, lane);
    lane.catch(() => this.lanes.delete(key));
    return lane;
  }

  private async openLane(needs: Needs): Promise<Lane> {
    const name = await this.patiently(() => this.registry.need(needs));
    const { Queue, QueueEvents } = await loadBull();
    const queue = new Queue(name, { connection: this.redis, streams: { events: { maxLen: 10_000 } } });
    const connection = this.redis.duplicate({ lazyConnect: false });
    connection.on("error", () => {}); // Redis went away: the connection comes back by itself
    const events = new QueueEvents(name, { connection });
    const wake = (id: string, hash?: string) => this.waiting.get(id)?.(hash);
    events.on("completed", ({ jobId, returnvalue }) => wake(jobId, String(returnvalue)));
    events.on("failed", ({ jobId }) => wake(jobId));
    events.on("duplicated", ({ jobId }) => wake(jobId)); // it was there before: perhaps it is done
    queue.on("error", () => {});
    events.on("error", () => {});
    await events.waitUntilReady();
    return { name, needs, queue, events };
  }

  /** What an engine must answer: as the one here does, or as those of the workers do. */
  private async signEngine(name: string): Promise<string> {
    if (await findProgram(name)) return engineSignature(name);
    for (let isFirst = true; ; isFirst = false) {
      const found = (await this.registry.workers()).flatMap(({ engines }) => engines[name] ?? []);
      const [most] = [...new Set(found)].sort((a, b) => count(found, b) - count(found, a));
      if (most !== undefined) return most;
      if (isFirst) this.note(`waiting for a worker with the engine ${name}: tabiya worker --engines ${name}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Says why nothing is done, if nobody can do it. */
  private async lookForWorkers(): Promise<void> {
    if (this.waiting.size === 0 || performance.now() - this.lastDone < (this.options.watchMs ?? WATCH_MS)) return;
    const workers = await this.registry.workers();
    for (const lane of this.lanes.values()) {
      const { needs } = await lane;
      const reasons = workers.map((card) => ({ card, reason: refuse(needs, card) || card.trouble }));
      if (reasons.some(({ reason }) => !reason)) continue;
      const refused = reasons.map(({ card, reason }) => `\n  ${card.name}: ${reason}`);
      const text = `no worker can do these jobs${refused.join("") || ": there is none. Start one: tabiya worker --cluster URL"}`;
      if (text !== this.told) this.note(text);
      this.told = text;
    }
  }

  private async needAgain(): Promise<void> {
    for (const lane of this.lanes.values()) await this.registry.need((await lane).needs);
  }

  /** Memory that Redis uses. */
  async usedBytes(): Promise<number> {
    return Number(/used_memory:(\d+)/.exec(await this.redis.info("memory"))?.[1] ?? Number.NaN);
  }

  private patiently<T>(work: () => Promise<T>): Promise<T> {
    return patiently(work, (text) => this.note(text));
  }

  private note(text: string): void {
    this.options.note?.(text);
  }

  async close(): Promise<void> {
    for (const timer of this.watch) clearInterval(timer);
    for (const opened of await Promise.allSettled(this.lanes.values())) {
      if (opened.status === "rejected") continue;
      await opened.value.queue.close();
      await opened.value.events.close();
    }
    this.redis.disconnect();
  }
}

const count = (list: readonly string[], item: string): number => list.filter((each) => each === item).length;

function timeout(ms: number): { timer: ReturnType<typeof setTimeout>; late: Promise<undefined> } {
  let timer!: ReturnType<typeof setTimeout>;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  return { timer, late };
}

/** A file that a job names is not in the store, or is damaged. */
export class FileGone extends UserError {
  constructor(
    readonly hash: string,
    readonly ending: string,
  ) {
    super("FILE_GONE", `file ${hash}${ending} is not in the store, or is damaged.`);
  }

  /** The same error from its words. */
  static of(text: string): FileGone | undefined {
    const match = /^file ([0-9a-f]{64})(\S*) is not in the store/.exec(text);
    return match ? new FileGone(match[1], match[2]) : undefined;
  }
}
