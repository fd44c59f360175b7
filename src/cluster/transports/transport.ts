import type { Job } from "../jobs/job.js";
import type { JobFiles } from "./job-files.js";

/** Where jobs are done. */
export interface Transport {
  readonly files: JobFiles; // networks and data that jobs name must be in it
  /** Jobs worth having under way at once, if a core does best with so many of them. */
  slots(crowd: number): number;
  /** Items worth putting into one job, if each takes so long on a core. */
  itemsPerJob(secondsEach: number): number;
  /** Does a job somewhere and brings the lines of its result back, so many as it has items. */
  run(job: Job, items: number, signal: AbortSignal): Promise<string[]>;
  close(): Promise<void>;
}
