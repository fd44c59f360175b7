// What the page asks of the server: every body is checked by one of these before anything happens.
import * as z from "zod";

const name = z
  .string()
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u,
    "Expected 1 to 64 letters, digits, blanks, dots, dashes or underscores",
  )
  .refine((text) => !/[ .]$/.test(text), "Expected no dot or blank at the end, which Windows leaves out")
  .refine(
    (text) => !/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(text),
    "Expected a name that Windows does not reserve",
  );

/** Starts a training run: POST /api/runs. */
export const START_RUN = z.strictObject({
  name, // of its folder in runs/
  settings: z.record(z.string(), z.unknown()), // as in a recipe; `data` and `validation` are ids of /api/data, with ?player=NAME behind them
});
export type StartRun = z.output<typeof START_RUN>;

/** Starts a contest: POST /api/contests. */
export const START_CONTEST = z.strictObject({
  name,
  spec: z.record(z.string(), z.unknown()), // see ContestInput; `openings.file` is an id of /api/data
});
export type StartContest = z.output<typeof START_CONTEST>;

/** The name of an uploaded file: PUT /api/data/NAME. */
export const UPLOAD_NAME = name;
