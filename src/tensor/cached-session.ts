import { startWorker, type WorkerClient } from "#base";
import type { Feeds, SessionOptions, TensorData } from "./session.js";

/** What a model reads of earlier runs, and what it adds to it: rows along the first axis. */
export interface CacheSpec {
  input: string; // [rows so far, ...]
  output: string; // [new rows, ...]
  shape: readonly number[]; // of a row
}

/**
 * Models that share memory of what they have read: each run adds rows to the caches, which never leave the worker. So a
 * token costs one small run however long the sequence is, and a sequence can be cut back to any length.
 */
export class CachedSession<Name extends string = string> {
  private constructor(private readonly worker: WorkerClient) {}

  /** Loads models by name; `capacity` is the most rows that the caches ever hold. */
  static async open<Name extends string>(
    models: Readonly<Record<Name, Uint8Array>>,
    caches: readonly CacheSpec[],
    capacity: number,
    options: SessionOptions = {},
  ): Promise<CachedSession<Name>> {
    const worker = startWorker("tensor/session-worker");
    try {
      await worker.call("openCached", { models, caches, capacity, options });
      return new CachedSession(worker);
    } catch (error) {
      await worker.close();
      throw error;
    }
  }

  /** Runs a model on what the caches hold and keeps what it adds; the other results are returned. */
  run(model: Name, feeds: Feeds): Promise<Record<string, TensorData>> {
    return this.worker.call("runCached", { model, feeds });
  }

  /** Forgets all rows from the one numbered `length` on. */
  truncate(length: number): Promise<void> {
    return this.worker.call("truncate", length);
  }

  close(): Promise<void> {
    return this.worker.close();
  }
}
