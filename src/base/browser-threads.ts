import type { PlatformThreads } from "./platform.js";

/** A file that stands beside the folder our bundle is in. Bundlers must leave the address as it is. */
export const beside = (path: string): URL => new URL(/* @vite-ignore */ `../${path}`, import.meta.url);

/** The part of a worker's global scope we use; the DOM library only describes pages. */
interface WorkerScope {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
  close(): void;
}
declare const self: WorkerScope;

const LISTENS = "tabiya: a worker listens";

/** Workers, the browser side. */
export const threads: PlatformThreads = {
  startWorker(path) {
    const worker = new Worker(beside(`${path}.js`), { type: "module" }); // built as a program of its own
    // A worker whose modules wait for the chess core loses what is sent before it listens.
    let waiting: (() => void)[] | undefined = [];
    let hear = (_: unknown): void => {};
    worker.onmessage = ({ data }) => {
      if (data !== LISTENS) return hear(data);
      for (const send of waiting ?? []) send();
      waiting = undefined;
    };
    return {
      post(message, transfer = []) {
        const send = () => worker.postMessage(message, [...transfer]);
        if (waiting) waiting.push(send);
        else send();
      },
      listen(onMessage, onDeath) {
        hear = onMessage;
        worker.onerror = (event) => onDeath?.(new Error(event.message));
      },
      close: async () => worker.terminate(),
    };
  },

  parent() {
    return {
      post: (message, transfer = []) => self.postMessage(message, [...transfer]),
      listen(onMessage) {
        self.onmessage = (event) => onMessage(event.data);
        self.postMessage(LISTENS, []);
      },
      close: async () => self.close(),
    };
  },

  processors: () => navigator.hardwareConcurrency,
  runtimeConvolves: false,
  runtimeFillsOutputs: false,
};
