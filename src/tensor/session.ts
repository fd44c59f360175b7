import { startWorker, type WorkerClient } from "#base";
import type { DType } from "./graph.js";

/** Where a model runs. Anything but "cpu" needs an ONNX Runtime that was built for it. */
export const DEVICES = ["cpu", "cuda", "webgpu", "dml", "coreml"] as const;
export type Device = (typeof DEVICES)[number];

export interface SessionOptions {
  device?: Device; // default: "cpu"
  threads?: number; // 0 or nothing: one per core
}

export type Values = Float32Array | Int32Array | Uint8Array | Int8Array | BigInt64Array | Uint16Array;

/** Values with their shape, which can be left out where a model's own says enough. */
export interface TensorData {
  data: Values;
  shape: readonly number[];
  dtype: DType;
}

export type Feeds = Readonly<Record<string, Values | { data: Values; shape: readonly number[] }>>;

/** A model ready to run, in a worker: the caller's thread stays free while it computes. */
export class Session {
  private constructor(
    private readonly worker: WorkerClient,
    readonly inputs: readonly string[],
    readonly outputs: readonly string[],
  ) {}

  /** Loads a model file's bytes. */
  static async open(model: Uint8Array, options: SessionOptions = {}): Promise<Session> {
    const worker = startWorker("tensor/session-worker");
    try {
      const names = await worker.call<{ inputs: string[]; outputs: string[] }>("open", { model, options });
      return new Session(worker, names.inputs, names.outputs);
    } catch (error) {
      await worker.close();
      throw error;
    }
  }

  /** Runs the model once. Arrays are copied, so the caller may use them again at once. */
  run(feeds: Feeds): Promise<Record<string, TensorData>> {
    return this.worker.call("run", feeds);
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}
