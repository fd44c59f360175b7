import { availableParallelism } from "node:os";
import { parentPort, Worker } from "node:worker_threads";
import type { PlatformThreads } from "./platform.js";

// src/base and dist/base are equally deep: workers always come from the built program, also in tests.
const dist = new URL("../../dist/", import.meta.url);

/** Worker threads, the Node side. */
export const threads: PlatformThreads = {
  startWorker(path) {
    const worker = new Worker(new URL(`${path}.js`, dist));
    return {
      post: (message, transfer = []) => worker.postMessage(message, transfer as ArrayBuffer[]),
      listen(onMessage, onDeath) {
        worker.on("message", onMessage);
        worker.on("error", (error) => onDeath?.(error));
        worker.on("exit", (code) => onDeath?.(new Error(`the worker ${path} ended with code ${code}`)));
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
