import type { Command } from "./command.js";
import doctor from "./doctor.js";

/** Every command of the program, in the order of the help. */
export const COMMANDS: readonly Command[] = [doctor];
