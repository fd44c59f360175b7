import type { PlatformThreads, Runtime } from "./platform.js";

/** Written out one by one, because bundlers look for exactly this form. */
const WORKERS: Record<string, () => Worker> = {
  "search/alphabeta/search-worker": () =>
    new Worker(new URL("../search/alphabeta/search-worker.js", import.meta.url), { type: "module" }),
  "tensor/session-worker": () =>
    new Worker(new URL("../tensor/session-worker.js", import.meta.url), { type: "module" }),
};

/** The part of a worker's global scope we use; the DOM library only describes pages. */
interface WorkerScope {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
  close(): void;
}

/** Workers and ONNX Runtime, the browser side. */
export const threads: PlatformThreads = {
  startWorker(path) {
    const worker = WORKERS[path]();
    return {
      post: (message, transfer = []) => worker.postMessage(message, [...transfer]),
      listen(onMessage, onDeath) {
        worker.onmessage = (event) => onMessage(event.data);
        worker.onerror = (event) => onDeath?.(new Error(event.message));
      },
      close: async () => worker.terminate(),
    };
  },

  parent() {
    const scope = globalThis as unknown as WorkerScope;
    return {
      post: (message, transfer = []) => scope.postMessage(message, [...transfer]),
      listen(onMessage) {
        scope.onmessage = (event) => onMessage(event.data);
      },
      close: async () => scope.close(),
    };
  },

  async loadRuntime(device) {
    // the build without graphics is half as large (14 MB) and opens a session in half the time
    const runtime = await (device === "cpu" ? import("onnxruntime-web/wasm") : import("onnxruntime-web"));
    if (!globalThis.crossOriginIsolated) runtime.env.wasm.numThreads = 1; // threads need shared memory
    return runtime as unknown as Runtime;
  },
  processors: () => navigator.hardwareConcurrency,
  runtimeFillsOutputs: false,
};
