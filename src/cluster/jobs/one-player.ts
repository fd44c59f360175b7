import type * as z from "zod";
import { parsePlain } from "#base";
import type { JobKind } from "./kind.js";
import { checkPlayer } from "./names.js";

/** What differs between jobs that put the lines of a file to one player. */
interface OnePlayer<J> {
  schema: z.ZodType<J>;
  file(job: J): string; // of the questions
  run: JobKind<J>["run"];
}

/** A kind of job that puts the lines of a file to one player: puzzles, positions to be valued. */
export const onePlayerKind = <J extends { player: string }>({ schema, file, run }: OnePlayer<J>): JobKind<J> => ({
  parse(value) {
    const job = parsePlain(schema, value, "job");
    checkPlayer(job.player);
    return job;
  },
  players: ({ player }) => [player],
  files: (job) => ({ own: file(job) }),
  items: () => undefined,
  crowd: () => 1,
  run,
});
