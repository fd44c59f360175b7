import { platform } from "#platform";
import { UserError } from "./errors.js";
import { suggestion } from "./nearest.js";
import type { Process, ProcessEvents } from "./platform.js";

/**
 * Starts a program by path or by name. It is not disturbed by a Ctrl-C meant for us, it is killed when we end, and if we
 * are killed it sees the end of its input.
 */
export async function startProcess(name: string, args: readonly string[], events: ProcessEvents): Promise<Process> {
  const path = await platform.findProgram(name);
  if (path === undefined) {
    const isPath = /[\\/]/.test(name);
    throw new UserError(
      "PROGRAM_MISSING",
      isPath
        ? `${name}: there is no program at this path, or it may not be executed.`
        : `${name}: no such program on the search path.${suggestion(name, await platform.programNames())}\n` +
            "Give its full path if it lies elsewhere.",
    );
  }
  return platform.startProcess(path, args, events);
}

/** The path of a program by the name a user would type; undefined if it is not installed. */
export const findProgram = (name: string): Promise<string | undefined> => platform.findProgram(name);

/** What a process leaves in a file, so that others can see later whether it still runs; without a number, our own. */
export const processKey = (pid?: number): string => platform.processKey(pid) ?? "";

/** Whether the process that left this key still runs. Its number alone would not do: numbers are given again. */
export function isProcessAlive(key: string): boolean {
  const pid = Number.parseInt(key, 10);
  return pid > 0 && platform.processKey(pid) === key;
}
