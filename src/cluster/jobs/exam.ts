import * as z from "zod";
import { examine, parseTask, solvePuzzle, solveTask } from "#arena";
import { readText } from "#base";
import { type Player, resolvePlayer } from "#engine";
import type { Puzzle } from "#formats";
import type { Workplace } from "./kind.js";
import { LIMITS_SCHEMA, linesOf } from "./lines.js";
import { namedFile } from "./names.js";
import { onePlayerKind } from "./one-player.js";

const EXAM = {
  player: z.string(),
  limits: LIMITS_SCHEMA,
  questions: z.string().refine((name) => namedFile(name), "Expected a file named by its hash"),
};
const PUZZLES_SCHEMA = z.strictObject({ kind: z.literal("puzzles"), ...EXAM });
const SUITE_SCHEMA = z.strictObject({ kind: z.literal("suite"), ...EXAM });

/** Puzzles to be solved: a file with one of them a line, as JSON. */
export type PuzzlesJob = z.infer<typeof PUZZLES_SCHEMA>;
/** Positions of a test suite: a file with one of them a line, as EPD. */
export type SuiteJob = z.infer<typeof SUITE_SCHEMA>;

/** What became of a question: a line of the result. */
export interface Examined {
  answer?: unknown;
  fault?: { kind: string; message: string };
}

async function sit<Q>(
  { player, limits, questions }: PuzzlesJob | SuiteJob,
  place: Workplace,
  signal: AbortSignal,
  parse: (line: string, number: number) => Q,
  ask: (player: Player, question: Q, limits: PuzzlesJob["limits"]) => Promise<unknown>,
): Promise<string[]> {
  const asked = linesOf(await readText(place.path(questions))).map((line, i) => ({ i, question: parse(line, i + 1) }));
  const lines: string[] = [];
  const local = place.player(player);
  await examine({
    questions: asked,
    create: () => resolvePlayer(local, { steady: true }),
    ask: (solver, { question }) => ask(solver, question, limits),
    onAnswer({ i }, answer, fault) {
      const said = fault && { kind: fault.kind, message: fault.message.replaceAll(local, player) };
      lines[i] = JSON.stringify({ answer, fault: said } satisfies Examined);
    },
    signal,
  });
  return lines;
}

export const PUZZLES = onePlayerKind<PuzzlesJob>({
  schema: PUZZLES_SCHEMA,
  file: ({ questions }) => questions,
  run: (job, place, signal) => sit(job, place, signal, (line) => JSON.parse(line) as Puzzle, solvePuzzle),
});

export const SUITE = onePlayerKind<SuiteJob>({
  schema: SUITE_SCHEMA,
  file: ({ questions }) => questions,
  run: (job, place, signal) => sit(job, place, signal, (line, number) => parseTask(line, `line ${number}`), solveTask),
});
