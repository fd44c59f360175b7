import { processors, startWorker, type WorkerClient } from "#base";
import type { DType } from "./graph.js";

/** Where a model runs. Anything but "cpu" needs an ONNX Runtime that was built for it. */
export const DEVICES = ["cpu", "cuda", "webgpu", "dml", "coreml"] as const;
/** What a model is computed on. */
export type Device = (typeof DEVICES)[number];

/** What a model is computed on, and with how many threads. */
export interface SessionOptions {
  device?: Device; // default: "cpu"
  threads?: number; // 0 or nothing: one per core
  lanes?: number; // runs at the same time, each in a worker of its own with its share of the threads; default: 1
  eager?: boolean; // all lanes open the first model at once; by default, each when it first has something to run
}

/** Numbers of a tensor, one after another. */
export type Values = Float32Array | Int32Array | Uint8Array | Int8Array | BigInt64Array | Uint16Array;

/** Values with their shape, which can be left out where a model's own says enough. */
export interface TensorData {
  data: Values;
  shape: readonly number[];
  dtype: DType;
}

/** The inputs of a model by name. */
export type Feeds = Readonly<Record<string, Values | { data: Values; shape: readonly number[] }>>;

export interface RunOptions {
  model?: number; // which of the models, if there are several; the first by default
  /** Hands the arrays over instead of copying them. They come back with the results, for `room` to give out again. */
  lend?: boolean;
  /** Of these outputs only the values at these places come back, in this order: less to carry, and less to clean up. */
  pick?: Readonly<Record<string, Int32Array>>;
}

const MOST_SPARE = 8; // arrays kept for the next runs

/** The memory of all feeds. */
export const buffersOf = (feeds: Feeds): ArrayBuffer[] =>
  Object.values(feeds).map((feed) => (ArrayBuffer.isView(feed) ? feed : feed.data).buffer as ArrayBuffer);

/** A worker that runs the models. */
interface Lane {
  worker: WorkerClient;
  running: number; // or waiting there
  opened: Set<number>; // models
}

/** The bytes of a model file, or what makes them when they are first needed. */
export type ModelSource = Uint8Array | (() => Uint8Array);

/** A model ready to run, in a worker or several: the caller's thread stays free while it computes. */
export class Session {
  /** What the first model reads and gives, if its bytes were given. */
  inputs: readonly string[] = [];
  outputs: readonly string[] = [];
  readonly mostLanes: number; // that run at the same time
  private readonly lanes: Lane[] = [];
  private readonly spare: ArrayBuffer[] = []; // that were lent and came back

  private constructor(
    private readonly models: ModelSource[],
    private readonly options: SessionOptions,
  ) {
    const threads = options.threads || processors();
    this.mostLanes = Math.max(1, Math.min(options.lanes ?? 1, threads));
    if (this.mostLanes > 1) this.options = { ...options, threads: Math.ceil(threads / this.mostLanes) };
  }

  /** Opens a model, or several with the same inputs and outputs; all but a first one of bytes when they are first run. */
  static async open(models: ModelSource | readonly ModelSource[], options: SessionOptions = {}): Promise<Session> {
    const session = new Session(Array.isArray(models) ? [...models] : [models as ModelSource], options);
    const lane = session.addLane();
    try {
      if (options.eager) {
        while (session.lanes.length < session.mostLanes) session.addLane();
        const [opened] = await Promise.all(session.lanes.map((each) => session.openModel(each, 0)));
        Object.assign(session, opened);
      } else if (session.models[0] instanceof Uint8Array) Object.assign(session, await session.openModel(lane, 0));
      else await lane.worker.call("loadRuntime", options);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Runs a model once. Arrays are copied unless they are lent, so the caller may use them again at once. */
  async run(feeds: Feeds, { model = 0, lend = false, pick }: RunOptions = {}): Promise<Record<string, TensorData>> {
    const lent = lend ? buffersOf(feeds) : [];
    const lane = this.freeLane();
    lane.running++;
    try {
      const opening = lane.opened.has(model) ? undefined : this.openModel(lane, model);
      const running = lane.worker.call<{ results: Record<string, TensorData>; returned: ArrayBuffer[] }>(
        "run",
        { feeds, model, lend, pick },
        lent,
      );
      const [, answer] = await Promise.all([opening, running]); // a model that cannot be opened fails first
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

  private addLane(): Lane {
    const lane = { worker: startWorker("tensor/session-worker"), running: 0, opened: new Set<number>() };
    this.lanes.push(lane);
    return lane;
  }

  /** The lane with the least to do; a new one if all have something to do and there may be more. */
  private freeLane(): Lane {
    const best = this.lanes.reduce((best, each) => (each.running < best.running ? each : best));
    return best.running > 0 && this.lanes.length < this.mostLanes ? this.addLane() : best;
  }

  private openModel({ worker, opened }: Lane, index: number): Promise<{ inputs: string[]; outputs: string[] }> {
    opened.add(index);
    const source = this.models[index];
    const model = typeof source === "function" ? source() : source;
    this.models[index] = model;
    return worker.call("open", { index, model, options: this.options });
  }
}
