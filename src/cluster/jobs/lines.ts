import * as z from "zod";

const count = z.int().min(1);

/** How long a player of a job may think. */
export const LIMITS_SCHEMA = z.strictObject({
  nodes: count.optional(),
  depth: count.optional(),
  moveTimeMs: count.optional(),
  deadlineMs: z.number().min(0).optional(),
});

/** The lines of a text, without the empty one behind the last line end. */
export const linesOf = (text: string): string[] => text.split("\n").filter((line) => line !== "");
