import { availableParallelism } from "node:os";
import { parentPort, Worker } from "node:worker_threads";
import { UserError } from "./errors.js";
import type { PlatformThreads } from "./platform.js";

// src/base and dist/base are equally deep: workers always come from the built program, also in tests.
const workers = new URL("../../dist/workers/", import.meta.url);

const died = (path: string, why: string) =>
  new UserError(
    "WORKER_DIED",
    `A thread (${path}) died: ${why}. Try again with fewer threads or more free memory; what was saved is kept.`,
  );

/** Worker threads, the Node side. */
export const threads: PlatformThreads = {
  startWorker(path) {
    const worker = new Worker(new URL(`${path}.js`, workers));
    return {
      post: (message, transfer = []) => worker.postMessage(message, transfer as ArrayBuffer[]),
      listen(onMessage, onDeath) {
        worker.on("message", onMessage);
        worker.on("error", (error: NodeJS.ErrnoException) =>
          onDeath?.(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? died(path, "it ran out of memory") : error),
        );
        worker.on("exit", (code) => onDeath?.(died(path, `it ended with code ${code}`)));
      },
      close: async () => {
        await worker.terminate();
      },
    };
  },

  parent() {
    const port = parentPort;
    if (!port) throw new Error("internal: not in a worker");
    return {
      post: (message, transfer = []) => port.postMessage(message, transfer as ArrayBuffer[]),
      listen: (onMessage) => port.on("message", onMessage),
      close: async () => port.close(),
    };
  },

  processors: availableParallelism,
  runtimeConvolves: true,
  runtimeFillsOutputs: true,
};
