import { messageOf, parentChannel, UserError } from "#base";
import type { Job } from "./job.js";
import { JobRunner } from "./run.js";

/** What a thread is told: how to find networks, a job to do, or one to let go. */
export type Told =
  | { type: "open"; networks: string; threads: number }
  | { type: "job"; id: number; job: Job }
  | { type: "stop"; id: number };

/** What it says of a job. */
export interface Said {
  id: number;
  result?: Uint8Array;
  error?: { message: string; code?: string };
}

const channel = parentChannel();
const stops = new Map<number, AbortController>();
let runner: JobRunner | undefined;

channel.listen((message) => {
  const told = message as Told;
  if (told.type === "open") {
    const { networks, threads } = told;
    runner = new JobRunner({ network: ({ hash, ending }) => `${networks}/${hash}${ending}`, threads });
  } else if (told.type === "stop") stops.get(told.id)?.abort();
  else void work(told.id, told.job);
});

/** Many jobs are worked on at the same time: the evaluator puts their positions together. */
async function work(id: number, job: Job): Promise<void> {
  const stop = new AbortController();
  stops.set(id, stop);
  try {
    if (!runner) throw new Error("internal: a job before the runner was opened");
    const result = await runner.run(job, stop.signal);
    channel.post({ id, result } satisfies Said, [result.buffer as ArrayBuffer]);
  } catch (error) {
    const code = error instanceof UserError ? error.code : undefined;
    channel.post({ id, error: { message: messageOf(error), code } } satisfies Said);
  } finally {
    stops.delete(id);
  }
}
