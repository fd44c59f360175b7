import { messageOf, parentChannel, UserError } from "#base";
import type { Job } from "./job.js";
import { type Equipment, runJob } from "./run.js";

/** What a thread is told: what it has to work with, a job to do, or one to let go. */
export type Told =
  | { type: "open"; equipment: Equipment }
  | { type: "job"; number: number; id: string; job: Job }
  | { type: "stop"; number: number };

/** What it says of a job. */
export interface Said {
  number: number;
  result?: Uint8Array;
  error?: { message: string; code?: string };
}

const channel = parentChannel();
const stops = new Map<number, AbortController>();
let equipment: Equipment | undefined;

channel.listen((message) => {
  const told = message as Told;
  if (told.type === "open") equipment = told.equipment;
  else if (told.type === "stop") stops.get(told.number)?.abort();
  else void work(told.number, told.id, told.job);
});

/** Many jobs are worked on at the same time: the evaluator puts their positions together. */
async function work(number: number, id: string, job: Job): Promise<void> {
  const stop = new AbortController();
  stops.set(number, stop);
  try {
    if (!equipment) throw new Error("internal: a job before the equipment");
    const result = await runJob(id, job, equipment, stop.signal);
    channel.post({ number, result } satisfies Said, [result.buffer as ArrayBuffer]);
  } catch (error) {
    const code = error instanceof UserError ? error.code : undefined;
    channel.post({ number, error: { message: messageOf(error), code } } satisfies Said);
  } finally {
    stops.delete(number);
  }
}
