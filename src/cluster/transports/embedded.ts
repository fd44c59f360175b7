import { type Channel, openWorker, processors, UserError } from "#base";
import type { Job } from "../jobs/job.js";
import type { Said, Told } from "../jobs/job-worker.js";
import type { FolderStore } from "../stores/folder.js";
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

const JOBS_PER_THREAD = 32; // at once: so many trees fill the batches of a network

/** Threads of this program; nothing that they compute blocks the one that waits for them. */
export class EmbeddedTransport implements Transport {
  readonly capacity: number;
  readonly gamesPerJob = 1; // a kill loses no game that is over
  private readonly threads: Thread[];
  private next = 0;

  constructor(
    readonly store: FolderStore,
    { threads = processors(), jobsPerThread = JOBS_PER_THREAD }: { threads?: number; jobsPerThread?: number } = {},
  ) {
    this.threads = Array.from({ length: threads }, () => this.start(Math.max(1, Math.floor(processors() / threads))));
    this.capacity = threads * jobsPerThread;
  }

  private start(threads: number): Thread {
    const thread: Thread = { channel: openWorker("cluster/jobs/job-worker"), waiting: new Map() };
    thread.channel.listen(
      (message) => {
        const { id, result, error } = message as Said;
        const asked = thread.waiting.get(id);
        thread.waiting.delete(id);
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
    thread.channel.post({ type: "open", networks: this.store.folder, threads } satisfies Told);
    return thread;
  }

  run(job: Job, signal: AbortSignal): Promise<Uint8Array> {
    const thread = this.threads.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
    if (thread.dead) return Promise.reject(thread.dead);
    if (signal.aborted) return Promise.reject(signal.reason);
    const id = this.next++;
    const stop = () => {
      thread.channel.post({ type: "stop", id } satisfies Told);
      thread.waiting.get(id)?.reject(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    return new Promise<Uint8Array>((resolve, reject) => {
      thread.waiting.set(id, { resolve, reject });
      thread.channel.post({ type: "job", id, job } satisfies Told);
    }).finally(() => signal.removeEventListener("abort", stop));
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(({ channel }) => channel.close()));
  }
}
