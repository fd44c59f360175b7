import { processors, startWorker, type WorkerClient } from "#base";
import type { DType } from "./graph.js";

/** Where a model runs. Anything but "cpu" needs an ONNX Runtime that was built for it. */
export const DEVICES = ["cpu", "cuda", "webgpu", "dml", "coreml"] as const;
export type Device = (typeof DEVICES)[number];

export interface SessionOptions {
  device?: Device; // default: "cpu"
  threads?: number; // 0 or nothing: one per core
  lanes?: number; // runs at the same time, each in a worker of its own with its share of the threads; default: 1
}

export type Values = Float32Array | Int32Array | Uint8Array | Int8Array | BigInt64Array | Uint16Array;

/** Values with their shape, which can be left out where a model's own says enough. */
export interface TensorData {
  data: Values;
  shape: readonly number[];
  dtype: DType;
}

export type Feeds = Readonly<Record<string, Values | { data: Values; shape: readonly number[] }>>;

export interface RunOptions {
  model?: number; // which of the models, if there are several; the first by default
  /** Hands the arrays over instead of copying them. They come back with the results, for `room` to give out again. */
  lend?: boolean;
}

const MOST_SPARE = 8; // arrays kept for the next runs

/** The memory of all feeds. */
export const buffersOf = (feeds: Feeds): ArrayBuffer[] =>
  Object.values(feeds).map((feed) => (ArrayBuffer.isView(feed) ? feed : feed.data).buffer as ArrayBuffer);

/** A worker that has the models open. */
interface Lane {
  worker: WorkerClient;
  running: number; // or waiting there
}

/** A model ready to run, in a worker or several: the caller's thread stays free while it computes. */
export class Session {
  private readonly spare: ArrayBuffer[] = []; // that were lent and came back

  private constructor(
    private readonly lanes: readonly Lane[],
    readonly inputs: readonly string[],
    readonly outputs: readonly string[],
  ) {}

  /** Loads a model file's bytes, or those of several models with the same inputs and outputs. */
  static async open(models: Uint8Array | readonly Uint8Array[], options: SessionOptions = {}): Promise<Session> {
    const list = models instanceof Uint8Array ? [models] : models;
    const threads = options.threads || processors();
    const count = Math.max(1, Math.min(options.lanes ?? 1, threads));
    const each = { ...options, threads: count === 1 ? options.threads : Math.ceil(threads / count) };
    const workers = Array.from({ length: count }, () => startWorker("tensor/session-worker"));
    try {
      const [{ inputs, outputs }] = await Promise.all(
        workers.map((worker) =>
          worker.call<{ inputs: string[]; outputs: string[] }>("open", { models: list, options: each }),
        ),
      );
      return new Session(
        workers.map((worker) => ({ worker, running: 0 })),
        inputs,
        outputs,
      );
    } catch (error) {
      await Promise.all(workers.map((worker) => worker.close()));
      throw error;
    }
  }

  /** Runs a model once. Arrays are copied unless they are lent, so the caller may use them again at once. */
  async run(feeds: Feeds, { model = 0, lend = false }: RunOptions = {}): Promise<Record<string, TensorData>> {
    const lent = lend ? buffersOf(feeds) : [];
    const lane = this.lanes.reduce((best, each) => (each.running < best.running ? each : best));
    lane.running++;
    try {
      const answer = await lane.worker.call<{ results: Record<string, TensorData>; returned: ArrayBuffer[] }>(
        "run",
        { feeds, model, lend },
        lent,
      );
      this.spare.push(...answer.returned);
      if (this.spare.length > MOST_SPARE) this.spare.splice(0, this.spare.length - MOST_SPARE);
      return answer.results;
    } finally {
      lane.running--;
    }
  }

  /** An array to be filled and lent: memory that came back from an earlier run, if there is any. */
  room(length: number): Float32Array {
    const fit = this.spare.findIndex(({ byteLength }) => byteLength >= 4 * length);
    if (fit < 0) {
      this.spare.length = 0; // too small for what is asked now
      return new Float32Array(length);
    }
    const [buffer] = this.spare.splice(fit, 1);
    return new Float32Array(buffer, 0, length);
  }

  async close(): Promise<void> {
    await Promise.all(this.lanes.map(({ worker }) => worker.close()));
  }
}
