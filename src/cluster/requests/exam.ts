import { workInSlots } from "#base";
import { type FaultKind, PlayerFault } from "#engine";
import type { Limits } from "#search";
import type { Examined, PuzzlesJob, SuiteJob } from "../jobs/exam.js";
import type { Transport } from "../transports/transport.js";
import { cut, moveSeconds } from "./cut.js";

const MOVES = { puzzles: 3, suite: 1 }; // that the player makes for one question

/** Puzzles or tasks of a suite for a player, to be shared among machines. */
export interface ExamRequest<Question> {
  kind: "puzzles" | "suite";
  player: string;
  limits: Limits;
  questions: readonly Question[];
  format(question: Question): string; // as a line of the job's file
  signal: AbortSignal;
}

/** Puts questions to a player by jobs; answers come in the order of the questions. */
export async function examineByJobs<Question, Answer>(
  transport: Transport,
  { kind, player, limits, questions, format, signal }: ExamRequest<Question>,
  onAnswer: (question: Question, answer: Answer | undefined, fault: PlayerFault | undefined) => void,
): Promise<void> {
  const { files } = transport;
  const name = await files.player(player);
  const { nodes, depth, moveTimeMs, deadlineMs } = limits;
  const size = transport.itemsPerJob(MOVES[kind] * moveSeconds(player, limits));
  const parts = [...cut(questions, size)];
  const done = new Map<Question[], Examined[]>();
  let next = 0;
  await workInSlots(parts, { slots: transport.slots(1), signal }, async (part, stop) => {
    const file = await files.putLines(part.map(format));
    const job: PuzzlesJob | SuiteJob = { kind, player: name, limits: { nodes, depth, moveTimeMs, deadlineMs }, questions: file }; // biome-ignore format: a list
    try {
      const lines = await transport.run(job, part.length, stop);
      done.set(part, lines.map((line) => JSON.parse(line) as Examined)); // biome-ignore format: a list
    } finally {
      await files.drop(file);
    }
    for (let found = done.get(parts[next]); found; found = done.get(parts[next])) {
      for (const [i, { answer, fault }] of found.entries()) {
        const told = fault && new PlayerFault(fault.kind as FaultKind, fault.message.replaceAll(name, player));
        onAnswer(parts[next][i], answer as Answer | undefined, told);
      }
      done.delete(parts[next++]);
    }
  });
}
