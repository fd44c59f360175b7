import { type Channel, openWorker, processors, UserError } from "#base";
import { type Job, jobId, parseResult } from "../jobs/job.js";
import type { Said, Told } from "../jobs/job-worker.js";
import type { FolderStore } from "../stores/folder.js";
import { JobFiles } from "./job-files.js";
import type { Transport } from "./transport.js";

interface Waiting {
  resolve(result: Uint8Array): void;
  reject(error: unknown): void;
}

interface Thread {
  channel: Channel;
  waiting: Map<number, Waiting>;
  dead?: Error;
}

const JOB_SECONDS = 1; // a kill loses no game that is over

/** Threads of this program; nothing that they compute blocks the one that waits for them. */
export class EmbeddedTransport implements Transport {
  readonly files: JobFiles;
  private readonly threads: Thread[];
  private next = 0;

  constructor(
    private readonly store: FolderStore,
    private readonly options: { threads?: number; engines?: Readonly<Record<string, string>> } = {},
  ) {
    this.files = new JobFiles(store, "as written");
    this.threads = Array.from({ length: options.threads ?? processors() }, () => this.start());
  }

  slots(crowd: number): number {
    return this.threads.length * crowd;
  }

  itemsPerJob(secondsEach: number): number {
    return Math.max(1, Math.min(256, Math.floor(JOB_SECONDS / secondsEach)));
  }

  private start(): Thread {
    const { threads = processors(), engines } = this.options;
    const thread: Thread = { channel: openWorker("cluster/jobs/job-worker"), waiting: new Map() };
    thread.channel.listen(
      (message) => {
        const { number, result, error } = message as Said;
        const asked = thread.waiting.get(number);
        thread.waiting.delete(number);
        if (result) asked?.resolve(result);
        else if (error?.code) asked?.reject(new UserError(error.code, error.message));
        else asked?.reject(new Error(error?.message));
      },
      (reason) => {
        thread.dead = reason;
        for (const { reject } of thread.waiting.values()) reject(reason);
        thread.waiting.clear();
      },
    );
    const each = Math.max(1, Math.floor(processors() / threads));
    const equipment = { folder: this.store.folder, threads: each, engines };
    thread.channel.post({ type: "open", equipment } satisfies Told);
    return thread;
  }

  async run(job: Job, items: number, signal: AbortSignal): Promise<string[]> {
    const id = await jobId(job);
    return parseResult(id, await this.perform(id, job, signal), items);
  }

  /** Does a job under the name it has; the bytes are its result. */
  perform(id: string, job: Job, signal: AbortSignal): Promise<Uint8Array> {
    const index = this.threads.reduce((a, b, i) => (b.waiting.size < this.threads[a].waiting.size ? i : a), 0);
    if (this.threads[index].dead) this.threads[index] = this.start(); // the next job may do better
    const thread = this.threads[index];
    if (signal.aborted) return Promise.reject(signal.reason);
    const number = this.next++;
    const stop = () => {
      thread.channel.post({ type: "stop", number } satisfies Told);
      thread.waiting.get(number)?.reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    return new Promise<Uint8Array>((resolve, reject) => {
      thread.waiting.set(number, { resolve, reject });
      thread.channel.post({ type: "job", number, id, job } satisfies Told);
    }).finally(() => signal.removeEventListener("abort", stop));
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({ channel }) => channel.close()));
  }
}
