import type { Job } from "../jobs/job.js";
import type { FileStore } from "../stores/store.js";

/** Where jobs are done. */
export interface Transport {
  readonly capacity: number; // jobs worth having under way at once
  readonly gamesPerJob: number;
  readonly store: FileStore; // networks that jobs name must be in it
  /** Does a job somewhere and brings its result back. */
  run(job: Job, signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}
