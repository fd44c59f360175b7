import type { FamilyName } from "#models";
import { ACTION_VALUE } from "./action-value.js";
import { NNUE } from "./nnue/task.js";
import { POLICY_VALUE } from "./policy-value.js";
import type { Task } from "./task.js";

/** What each family learns. The loop, the recipes and the command line ask here. */
export const TASKS: Record<FamilyName, Task> = {
  residual: POLICY_VALUE as unknown as Task,
  moe: ACTION_VALUE as unknown as Task,
  nnue: NNUE as unknown as Task,
};
