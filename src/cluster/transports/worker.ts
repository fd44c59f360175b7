// A machine that works for a cluster. It watches the queues of jobs that it can do, and leaves the others to others.
import type { Job as BullJob, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { messageOf, processors, UserError } from "#base";
import { filesOf, jobId, parseJob } from "../jobs/job.js";
import type { NamedFile } from "../jobs/names.js";
import { benchSignature, engineSignature, JOBS_VERSION, type Needs, playableFamilies, refuse } from "../jobs/needs.js";
import { FolderStore } from "../stores/folder.js";
import { RedisStore } from "../stores/redis.js";
import type { FileStore } from "../stores/store.js";
import { FileGone } from "./bullmq.js";
import { connect, loadBull } from "./connection.js";
import { EmbeddedTransport } from "./embedded.js";
import { patiently } from "./patience.js";
import { BEAT_MS, RATE_MINUTES, Registry, type WorkerCard } from "./registry.js";

const LOCK_MS = 30_000; // after which the jobs of a worker that is gone are given to another; renewed at half of it
const STALLS = 100; // that a job survives: of workers killed, stopped or cut off
const REST_MS = 10_000; // of a machine that is in trouble, before it tries again
const SILENT_MS = 20_000; // without an answer; twice as long as a queue is waited for

/** What a worker of a cluster is called, may use and can do. */
export interface WorkerOptions {
  cluster: string; // redis://...
  cache: string; // a folder for files
  name: string; // as others see it
  capacity?: number; // threads; one per core by default
  engines?: Readonly<Record<string, string>>; // commands of UCI engines by the names that jobs have for them
  hasRuntime?: boolean; // networks other than NNUE can be computed; true by default
  bench?: number; // signature, if it is known
  lockMs?: number;
  store?: FileStore; // for files and results; in the Redis by default
  signal: AbortSignal; // finishes what is being done, takes nothing more
  onReady?(): void;
  onJob?(event: { id: string; kind: string; error?: string }): void;
  note?(text: string): void;
}

/** Works on the queues until told to stop. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const redis = await connect(options.cluster);
  const listener = redis.duplicate({ lazyConnect: false, socketTimeout: undefined, keepAlive: SILENT_MS });
  listener.on("error", () => {}); // it comes back by itself
  const desk = new Desk(await loadBull(), redis, options, await introduce(options));
  try {
    await desk.look();
    const look = () => void desk.look().catch(() => {});
    await Registry.listen(listener, { look, letGo: (job) => desk.letGo(job) });
    const beat = setInterval(look, BEAT_MS);
    options.onReady?.();
    await new Promise<void>((resolve) => {
      if (options.signal.aborted) resolve();
      options.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    clearInterval(beat);
  } finally {
    await desk.close();
    listener.disconnect();
    redis.disconnect();
  }
}

/** What this machine can do. */
async function introduce({
  name,
  capacity = processors(),
  engines = {},
  hasRuntime = true,
  bench,
  note,
}: WorkerOptions): Promise<WorkerCard> {
  // biome-ignore format: a list
  const signed: Record<string, string> = {};
  for (const [engine, command] of Object.entries(engines)) {
    signed[engine] = await engineSignature(command);
    note?.(`engine ${engine}: signature ${signed[engine]}`);
  }
  return {
    name,
    version: JOBS_VERSION,
    bench: bench ?? (await benchSignature()),
    families: playableFamilies(hasRuntime),
    engines: signed,
    capacity,
    done: 0,
    failed: 0,
    jobsPerMinute: 0,
    refused: [],
    trouble: "",
  };
}

/** Where the jobs of a machine come together: its threads, its files and the queues it watches. */
class Desk {
  private readonly registry: Registry;
  private readonly shared: FileStore;
  private readonly local: FolderStore;
  private readonly threads: EmbeddedTransport;
  private readonly queues = new Map<string, Worker>();
  private readonly refusals = new Map<string, string>(); // by queue
  private readonly startMs = performance.now();
  private doneMs: number[] = []; // when jobs were done, over the last minutes
  private readonly fetched = new Map<string, Promise<void>>(); // files that jobs share, by hash

  constructor(
    private readonly bullmq: Bull,
    private readonly redis: Redis,
    private readonly options: WorkerOptions,
    private readonly card: WorkerCard,
  ) {
    this.registry = new Registry(redis);
    this.shared = options.store ?? new RedisStore(redis);
    this.local = new FolderStore(options.cache);
    this.threads = new EmbeddedTransport(this.local, { threads: card.capacity, engines: options.engines ?? {} });
  }

  /** Signs in, and watches the queues whose jobs this machine can do; those that nobody needs any more are left. */
  async look(): Promise<void> {
    const { card, queues, refusals } = this;
    const needed = await this.registry.needs();
    for (const [queue, needs] of needed) {
      if (queues.has(queue) || refusals.has(queue)) continue;
      const reason = refuse(needs, card);
      if (reason === undefined) queues.set(queue, this.open(queue, needs));
      else {
        refusals.set(queue, reason);
        this.options.note?.(`jobs are left to others: ${reason}`);
      }
    }
    for (const queue of refusals.keys()) if (!needed.has(queue)) refusals.delete(queue);
    for (const [queue, worker] of queues) {
      if (needed.has(queue)) continue;
      queues.delete(queue);
      void worker.close();
    }
    card.refused = [...new Set(refusals.values())];
    card.jobsPerMinute = this.rate();
    await this.registry.signIn(card);
  }

  private rate(): number {
    const now = performance.now();
    this.doneMs = this.doneMs.filter((ms) => now - ms < RATE_MINUTES * 60_000);
    const minutes = Math.min(RATE_MINUTES, (now - this.startMs) / 60_000);
    return this.doneMs.length === 0 ? 0 : this.doneMs.length / minutes;
  }

  letGo(job: string): void {
    for (const worker of this.queues.values()) worker.cancelJob(job, LET_GO);
  }

  private open(queue: string, { cores, crowd }: Needs): Worker {
    const { lockMs = LOCK_MS, onJob } = this.options;
    const { card } = this;
    const connection = this.redis.duplicate({ lazyConnect: false, socketTimeout: SILENT_MS });
    connection.on("error", () => {});
    const worker: Worker = new this.bullmq.Worker(
      queue,
      (job, token, signal) => this.work(worker, job, token ?? "", signal ?? new AbortController().signal),
      {
        connection,
        concurrency: Math.max(1, Math.floor(card.capacity / cores)) * crowd,
        lockDuration: lockMs,
        maxStalledCount: STALLS,
        stalledInterval: lockMs / 2,
        metrics: { maxDataPoints: 60 },
      },
    );
    worker.on("error", () => {}); // Redis went away, or a lock was lost while it was
    worker.on("lockRenewalFailed", (jobs) => {
      for (const job of jobs) worker.cancelJob(job, "another worker has it"); // its result would not be taken
    });
    worker.on("completed", ({ id = "", name }) => {
      card.done++;
      this.doneMs.push(performance.now());
      onJob?.({ id, kind: name });
    });
    worker.on("failed", (job, { message }) => {
      if (message === LET_GO) void job?.remove().catch(() => {});
      card.failed++;
      onJob?.({ id: job?.id ?? "", kind: job?.name ?? "", error: message });
    });
    return worker;
  }

  /** Does a job; the hash is that of its result. */
  private async work(worker: Worker, bull: BullJob, token: string, signal: AbortSignal): Promise<string> {
    const { UnrecoverableError } = this.bullmq;
    const job = (() => {
      try {
        return parseJob(bull.data);
      } catch (error) {
        throw new UnrecoverableError(messageOf(error));
      }
    })();
    const id = await jobId(bull.data);
    if (id !== bull.id) throw new UnrecoverableError("the job is not the one that its name says.");
    const files = filesOf(job);
    try {
      for (const { file, own } of files) await this.fetch(file, own);
      const result = await this.threads.perform(id, job, signal);
      const hash = await patiently(() => this.shared.put(result), this.options.note);
      this.card.trouble = "";
      return hash;
    } catch (error) {
      if (signal.aborted) throw new UnrecoverableError(String(signal.reason ?? LET_GO));
      if (error instanceof FileGone) throw new UnrecoverableError(error.message);
      if (isTrouble(error)) return this.rest(worker, bull, token, messageOf(error));
      throw error instanceof UserError ? new UnrecoverableError(error.message) : error;
    } finally {
      for (const { file, own } of files) if (own) await this.local.remove(file.hash, file.ending).catch(() => {});
    }
  }

  /** Brings a file here. Those that jobs share are kept, and checked when they come. */
  private fetch(file: NamedFile, own: boolean): Promise<void> {
    const known = own ? undefined : this.fetched.get(file.hash);
    const fetching = known ?? this.bring(file);
    if (!own) this.fetched.set(file.hash, fetching);
    fetching.catch(() => this.fetched.delete(file.hash));
    return fetching;
  }

  private async bring({ hash, ending }: NamedFile): Promise<void> {
    if (await this.local.get(hash, ending)) return;
    const bytes = await this.shared.get(hash, ending);
    if (!bytes) throw new FileGone(hash, ending);
    await this.local.remove(hash, ending); // what is there is damaged
    try {
      await this.local.put(bytes, ending);
    } catch (error) {
      throw new Trouble(messageOf(error), { cause: error });
    }
  }

  /** Gives a job back that only this machine cannot do now, and takes none for a while. */
  private async rest(worker: Worker, job: BullJob, token: string, reason: string): Promise<never> {
    const { card, options } = this;
    if (card.trouble !== reason) options.note?.(`in trouble, resting: ${reason}`);
    card.trouble = reason;
    await worker.pause(true);
    setTimeout(() => worker.resume(), REST_MS).unref?.();
    await job.moveToDelayed(Date.now() + 1_000, token);
    throw new this.bullmq.DelayedError();
  }

  /** Finishes what is being done. */
  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((worker) => worker.close()));
    await this.registry.signOut(this.card.name);
    await this.threads.close();
  }
}

const LET_GO = "let go";

type Bull = Awaited<ReturnType<typeof loadBull>>;

/** This machine is to blame, not the job. */
class Trouble extends Error {}

const isTrouble = (error: unknown): boolean =>
  error instanceof Trouble ||
  (error instanceof UserError && /^(ENGINE_START|PROGRAM_MISSING|DISK_FULL)$/.test(error.code));
