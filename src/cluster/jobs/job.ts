// Work that can be done anywhere: a job is plain JSON, its result bytes that follow from it alone. Doing one twice gives the
// same bytes and harms nobody. Files that it needs are named by their hashes.
import { UserError } from "#base";
import { sha256 } from "../stores/hash.js";
import { PUZZLES, type PuzzlesJob, SUITE, type SuiteJob } from "./exam.js";
import { GAMES, type GamesJob } from "./games.js";
import type { JobKind } from "./kind.js";
import { linesOf } from "./lines.js";
import { type NamedFile, namedFile } from "./names.js";
import { LABEL, type LabelJob, VARIATIONS, type VariationsJob } from "./positions.js";
import { SELFPLAY, type SelfPlayJob } from "./selfplay.js";

/** A piece of work for any machine of a cluster: plain data. */
export type Job = SelfPlayJob | GamesJob | LabelJob | VariationsJob | PuzzlesJob | SuiteJob;

/** Every kind of job there is. */
const KINDS: { [K in Job["kind"]]: JobKind<Extract<Job, { kind: K }>> } = {
  selfplay: SELFPLAY,
  games: GAMES,
  label: LABEL,
  variations: VARIATIONS,
  puzzles: PUZZLES,
  suite: SUITE,
};

export const kindOf = (job: Job): JobKind<Job> => KINDS[job.kind] as JobKind<Job>;

/** The name of a job: equal for equal work. */
export const jobId = (job: unknown): Promise<string> => sha256(new TextEncoder().encode(JSON.stringify(job)));

/** Checks a job that came from elsewhere: it may name files by their hashes and nothing else of this machine. */
export function parseJob(value: unknown): Job {
  const kind = (value as { kind?: unknown } | null)?.kind;
  if (typeof kind === "string" && Object.hasOwn(KINDS, kind)) return KINDS[kind as Job["kind"]].parse(value);
  throw new UserError("JOB_KIND", `job: its kind is ${JSON.stringify(kind)}; there are ${Object.keys(KINDS).join(", ")}.`); // biome-ignore format: a sentence
}

/** Files that must be there before a job can be done; those of its own are of no use to others. */
export function filesOf(job: Job): { file: NamedFile; own: boolean }[] {
  const kind = kindOf(job);
  const { own, shared } = kind.files(job);
  const found = (texts: readonly (string | undefined)[], isOwn: boolean) =>
    texts.flatMap((text) => {
      const file = text === undefined ? undefined : namedFile(text);
      return file ? [{ file, own: isOwn }] : [];
    });
  return [...found([own], true), ...found([...kind.players(job), shared], false)];
}

/** A result begins with the name of its job, so that no other can be taken for it. */
export const formatResult = (id: string, lines: readonly string[]): Uint8Array =>
  new TextEncoder().encode(`${[JSON.stringify({ job: id }), ...lines].join("\n")}\n`);

/** The lines of a job's result, or what is wrong with it. */
export function parseResult(id: string, bytes: Uint8Array, items: number): string[] {
  const [head, ...lines] = linesOf(new TextDecoder().decode(bytes));
  if (head !== JSON.stringify({ job: id }))
    throw new UserError("JOB_RESULT", `a result is not that of job ${id.slice(0, 12)}.`);
  if (lines.length !== items)
    throw new UserError("JOB_RESULT", `the result of job ${id.slice(0, 12)} has ${lines.length} lines, expected ${items}.`); // biome-ignore format: a sentence
  return lines;
}
