import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { processKey } from "#base";

const PATIENCE_MS = 15_000; // with a start
const LOOK_MS = 100;

/** How the server starts long work: as the program itself, in a process that outlives the server. */
export class Program {
  constructor(
    private readonly command: readonly string[], // how tabiya is called
    readonly folder: string, // to work in
  ) {}

  /** Starts a command of tabiya; what it prints goes to the end of the file `log`, or nowhere. */
  start(args: readonly string[], log?: string): Promise<Child> {
    const output = log === undefined ? "ignore" : openSync(log, "a");
    const [file, ...first] = this.command;
    const child = spawn(file, [...first, ...args], {
      cwd: this.folder,
      detached: true, // a group of its own: Ctrl-C in the server's terminal does not reach it
      stdio: ["ignore", output, output],
      windowsHide: true,
    });
    child.unref();
    if (output !== "ignore") closeSync(output); // the child has its own
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("spawn", () => resolve(new Child(child)));
    });
  }

  /** Asks a process to stop and save its state, as Ctrl-C does. */
  stop(key: string): void {
    process.kill(Number.parseInt(key, 10), "SIGINT");
  }
}

/** A process that was started. */
export class Child {
  readonly key: string;
  private ended = false;

  constructor(child: ChildProcess) {
    this.key = processKey(child.pid);
    child.once("exit", () => {
      this.ended = true;
    });
  }

  /** Resolves when something is true, when the process has ended, or when patience has. */
  async until(isTrue: () => Promise<boolean>, patienceMs = PATIENCE_MS): Promise<"true" | "ended" | "late"> {
    const end = Date.now() + patienceMs;
    while (Date.now() < end) {
      if (await isTrue()) return "true";
      if (this.ended) return "ended";
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return "late";
  }
}
