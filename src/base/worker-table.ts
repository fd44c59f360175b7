/**
 * Every program that runs in a worker, by its path below dist, and where it runs. Only what stands here can be started; those
 * for the page are built with it (vite.config.ts), which a test of the layers holds to this table.
 */
export const WORKERS = {
  "cluster/jobs/job-worker": "node",
  "data/import-worker": "node and page",
  "search/alphabeta/search-worker": "node and page",
  "tensor/session-worker": "node and page",
  "training/decoder/window-worker": "node",
  "training/nnue/nnue-worker": "node",
  "training/policy-value/plane-worker": "node and page",
  "web/page/minds/mind-worker": "page",
  "web/page/minds/train-worker": "page",
} as const;

/** The name of a worker that comes with the program. */
export type WorkerName = keyof typeof WORKERS;
