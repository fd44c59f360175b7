import { UserError } from "#base";
import type { RecordKind } from "#formats";
import type { FamilyName } from "#models";
import { ACTION_VALUE } from "./action-value/task.js";
import { DECODER_TASK } from "./decoder/task.js";
import { NNUE_VALUE } from "./nnue/task.js";
import { POLICY_VALUE } from "./policy-value/task.js";
import type { Task } from "./task.js";

/** What each family learns; a family without a task can be played but not trained. */
const TASKS: Partial<Record<FamilyName, Task>> = {
  residual: POLICY_VALUE,
  moe: ACTION_VALUE,
  decoder: DECODER_TASK,
  nnue: NNUE_VALUE,
};

/** How networks of a family are trained and judged. */
export function taskOf(family: FamilyName): Task {
  const task = TASKS[family];
  if (task) return task;
  throw new UserError(
    "FAMILY_UNTRAINED",
    `Networks of the family ${family} cannot be trained or evaluated here; those of ${Object.keys(TASKS).join(", ")} can.`,
  );
}

/** Families that learn from data of a kind. */
export const learnersOf = (kind: RecordKind | "games"): string[] =>
  Object.entries(TASKS).flatMap(([family, { reads }]) => (reads.includes(kind) ? [family] : []));

/** Settings of a family that came later than its first runs, as those worked. */
export const earlierSettings = (family: unknown): Readonly<Record<string, unknown>> =>
  Object.entries(TASKS).find(([name]) => name === family)?.[1].earlier ?? {};
