#!/usr/bin/env node
import { writeSync } from "node:fs";
import { loadCommands } from "./commands.js";
import { runProgram } from "./program.js";
import { version } from "./version.js";

/** Writes all of a text before it returns, also into a full pipe; a reader that went away ends the program quietly. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(file, bytes, done);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "EPIPE") process.exit(0);
      if (code !== "EAGAIN") throw error;
    }
  }
}

const interrupt = new AbortController();

/** From now on a signal asks the command to stop. Before, and for a command that never listens, it ends the process. */
function listen(): void {
  // On Windows Ctrl-Break is SIGBREAK, and a console that is closed SIGHUP; elsewhere nobody sends SIGBREAK.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const) {
    process.removeAllListeners(name).on(name, () => {
      if (interrupt.signal.aborted) process.exit(130); // asked twice: leave at once
      interrupt.abort();
    });
  }
}

const output = {
  stdout: (text: string) => writeAll(1, text),
  stderr: (text: string) => writeAll(2, text),
  columns: () => (process.stderr.isTTY ? process.stderr.columns : undefined),
};
const argv = process.argv.slice(2);
const code = await runProgram(await loadCommands(argv), argv, output, {
  version,
  signal: interrupt.signal,
  onListen: listen,
});
process.exit(code);
