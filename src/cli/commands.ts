import type { Command } from "./command.js";
import doctor from "./doctor.js";
import encode from "./encode.js";

/** Every command of the program, in the order of the help. */
export const COMMANDS: readonly Command[] = [encode, doctor];
