import { platform } from "#platform";
import { messageOf, UserError } from "./errors.js";
import type { WorkerName } from "./worker-table.js";

/** The two ends of a worker's line, alike on Node and in the browser. */
export interface Channel {
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  listen(onMessage: (message: unknown) => void, onDeath?: (reason: Error) => void): void;
  close(): Promise<void>;
}

interface Question {
  id: number;
  method: string;
  argument: unknown;
}
interface Answer {
  id: number;
  value?: unknown;
  error?: { message: string; code?: string; stack?: string };
}

/** An answer whose buffers are handed over instead of copied. */
export class Transferred<T> {
  constructor(
    readonly value: T,
    readonly buffers: readonly ArrayBuffer[],
  ) {}
}

/** The caller's side of a worker that runs `serve`: questions in order, each with one answer. */
export class WorkerClient {
  private readonly open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  private nextId = 0;
  private dead: Error | undefined;

  constructor(private readonly channel: Channel) {
    channel.listen(
      (message) => this.settle(message as Answer),
      (reason) => {
        this.dead = reason;
        for (const { reject } of this.open.values()) reject(reason);
        this.open.clear();
      },
    );
  }

  call<T>(method: string, argument: unknown, transfer: readonly ArrayBuffer[] = []): Promise<T> {
    if (this.dead) return Promise.reject(this.dead);
    const id = this.nextId++;
    return new Promise<T>((resolve, reject) => {
      this.open.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.channel.post({ id, method, argument } satisfies Question, transfer);
    });
  }

  async close(): Promise<void> {
    this.dead ??= new Error("the worker was closed");
    await this.channel.close();
  }

  private settle({ id, value, error }: Answer): void {
    const asked = this.open.get(id);
    this.open.delete(id);
    if (!error) asked?.resolve(value);
    else if (error.code) asked?.reject(new UserError(error.code, error.message));
    else asked?.reject(Object.assign(new Error(error.message), { stack: error.stack }));
  }
}

/** Starts one of our worker files, by its path below dist: "tensor/session-worker". */
export const startWorker = (path: WorkerName): WorkerClient => new WorkerClient(platform.startWorker(path));

/** Several workers of one kind that share a stream of questions. */
export class WorkerPool {
  private readonly workers: WorkerClient[];
  private turn = 0;

  constructor(path: WorkerName, count: number) {
    this.workers = Array.from({ length: count }, () => startWorker(path));
  }

  /** Asks every worker the same; for settings. */
  async tell(method: string, argument: unknown): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.call(method, argument)));
  }

  /**
   * Answers in the order of the questions, whoever is ready first; no more than a few questions are read ahead. Buffers in
   * `transfer` are handed over.
   */
  async *map<Result>(
    method: string,
    questions: AsyncIterable<{ argument: unknown; transfer?: readonly ArrayBuffer[] }>,
  ): AsyncGenerator<Result> {
    const ahead = 3 * this.workers.length; // one at work, two waiting for each: enough to keep them busy
    const asked: Promise<Result>[] = [];
    for await (const { argument, transfer } of questions) {
      const answer = this.workers[this.turn].call<Result>(method, argument, transfer);
      answer.catch(() => {}); // seen when its turn comes
      this.turn = (this.turn + 1) % this.workers.length;
      asked.push(answer);
      if (asked.length >= ahead) yield (await asked.shift()) as Result;
    }
    for (const answer of asked) yield await answer;
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
  }
}

/** Starts a worker file for talk of any kind, not only questions and answers. */
export const openWorker = (path: WorkerName): Channel => platform.startWorker(path);

/** Inside such a worker: the line to whoever started it. */
export const parentChannel = (): Channel => platform.parent();

/** The worker's side: answers questions with the methods, one after another. */
export function serve(methods: Readonly<Record<string, (argument: never) => unknown>>): void {
  const channel = platform.parent();
  let last: Promise<void> = Promise.resolve();
  channel.listen((message) => {
    const { id, method, argument } = message as Question;
    last = last.then(async () => {
      try {
        const value = await methods[method](argument as never);
        if (value instanceof Transferred) channel.post({ id, value: value.value } satisfies Answer, value.buffers);
        else channel.post({ id, value } satisfies Answer);
      } catch (error) {
        const code = error instanceof UserError ? error.code : undefined;
        const stack = error instanceof Error ? error.stack : undefined;
        channel.post({ id, error: { message: messageOf(error), code, stack } } satisfies Answer);
      }
    });
  });
}
