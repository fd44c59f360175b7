// What the leader of a training and its helpers write on the board. All of it comes from elsewhere, and is checked.
import * as z from "zod";

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const whole = z.int().min(0);
const name = z.string().regex(/^[\w.:@-]{1,120}$/);

/** A training that wants helpers; under its id in the key `trainings`. */
const training = z.object({
  offer: z.union([hash, z.literal("")]), // a file: recipe and data; none if the helpers have them already
  beat: whole, // grows as long as the leader lives
});
export type TrainingMessage = z.infer<typeof training>;

/** The round under way. */
const round = z.object({
  id: z.string().max(100), // the same only for the same steps from the same weights
  epoch: whole,
  epochStep: whole,
  step: whole,
  steps: z.int().min(1),
  base: hash, // of the weights it begins with
  weights: hash.optional(), // these as a file, or
  update: z.object({ from: hash, file: hash }).optional(), // what to add to those of the round before
  shards: z.record(name, z.int().min(1)), // who takes part, with which part of the data
  closing: z.boolean(), // whoever is not done gives what it has
});
export type RoundMessage = z.infer<typeof round>;

/** A helper, under its name. */
const worker = z.object({
  beat: whole,
  have: z.union([hash, z.literal("")]), // the last weights it knows
  leaving: z.boolean().optional(), // it was told to stop, and what it gave is its last
  given: z
    .object({
      round: z.string().max(100),
      steps: whole, // taken; none: it could not, and says why
      file: z.union([hash, z.literal("")]),
      loss: z.number().nullable(), // mean
      reason: z.string().max(500),
    })
    .optional(),
});
export type WorkerMessage = z.infer<typeof worker>;

/** A message, or undefined if it is none of ours. */
const reader =
  <T>(schema: z.ZodType<T>) =>
  (text: string | undefined): T | undefined => {
    try {
      return schema.parse(JSON.parse(text ?? ""));
    } catch {
      return undefined;
    }
  };
export const readTraining = reader(training);
export const readRound = reader(round);
export const readWorker = reader(worker);
export const isName = (text: string): boolean => name.safeParse(text).success;

export const TRAININGS = "trainings";
export const roundKey = (id: string): string => `${id}:round`; // one field, `now`
export const workersKey = (id: string): string => `${id}:workers`;

/** Whether others live: a beat that stands still on one's own clock. Clocks of different machines are never compared. */
export class Pulse {
  private beat = -1;
  private since = 0;

  /** Milliseconds since the beat last changed. */
  stillMs(beat: number, nowMs: number): number {
    if (beat !== this.beat) [this.beat, this.since] = [beat, nowMs];
    return nowMs - this.since;
  }
}

export const BEAT_MS = 1_000;
export const GONE_MS = 15_000; // without a beat; a machine that swaps or a short cut of the network is not gone
export const POLL_MS = 200;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
