import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { constants, readFileSync } from "node:fs";
import { access, readdir, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import type { PlatformProcesses, Process, ProcessEvents } from "./platform.js";

const windows = process.platform === "win32";
const LONGEST_LINE = 1 << 20; // characters; an engine that never ends its line must not fill our memory
const LAST_WORDS = 2000; // characters of standard error kept for messages

/** Where programs are looked for. Debian keeps chess engines in /usr/games, which is not on everybody's path. */
function searchPath(): string[] {
  const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return process.platform === "linux" ? [...path, "/usr/games", "/usr/local/games"] : path;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function findProgram(name: string): Promise<string | undefined> {
  const endings = windows ? ["", ".exe"] : [""];
  const isPath = /[\\/]/.test(name);
  for (const folder of isPath ? ["."] : searchPath()) {
    for (const ending of endings) {
      const path = isPath ? resolve(name + ending) : join(folder, name + ending);
      if (await isProgram(path)) return path;
    }
  }
  return undefined;
}

async function programNames(): Promise<string[]> {
  const names = await Promise.all(searchPath().map((folder) => readdir(folder).catch(() => [])));
  return names.flat().map((name) => name.replace(/\.exe$/i, ""));
}

const living = new Set<() => void>();
let hooked = false;

/** Kills what still lives when we leave, however we leave (short of kill -9, which the children see as end of input). */
function killAtExit(kill: () => void): void {
  living.add(kill);
  if (hooked) return;
  hooked = true;
  process.on("exit", () => {
    for (const each of living) each();
  });
}

function startProcess(path: string, args: readonly string[], { onLine, onEnd }: ProcessEvents): Process {
  // A process group of its own: Ctrl-C in our terminal does not reach it, and we can kill its children with it.
  const child: ChildProcessWithoutNullStreams = spawn(path, args, { detached: !windows, windowsHide: true });
  let ended = false;
  let rest = "";
  let lastWords = "";
  let skipping = false; // inside a line that is too long

  const kill = () => {
    if (child.pid === undefined) return;
    try {
      if (windows) child.kill();
      else process.kill(-child.pid, "SIGKILL");
    } catch {
      // it is gone already
    }
  };
  const end = (reason: string) => {
    if (ended) return;
    ended = true;
    kill(); // what it may have started
    living.delete(kill);
    if (rest !== "" && !skipping) onLine(rest);
    child.stdout.destroy();
    child.stderr.destroy();
    child.stdin.destroy();
    onEnd({ reason, lastWords: lastWords.trim() });
  };
  killAtExit(kill);

  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    let start = 0;
    for (;;) {
      const newline = chunk.indexOf("\n", start);
      if (newline < 0) break;
      let line = chunk.slice(start, newline);
      start = newline + 1;
      if (rest !== "") {
        line = rest + line;
        rest = "";
      }
      if (skipping) skipping = false;
      else onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
    }
    if (skipping) return;
    rest += chunk.slice(start);
    if (rest.length <= LONGEST_LINE) return;
    onLine(rest.slice(0, LONGEST_LINE));
    rest = "";
    skipping = true;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    lastWords = (lastWords + chunk).slice(-LAST_WORDS);
  });
  child.stdin.on("error", () => {}); // it stopped reading: its end is about to be reported
  child.on("error", (error: NodeJS.ErrnoException) => end(`could not be started (${error.code})`));
  child.on("exit", (code, signal) => {
    const reason = signal === null ? `exit code ${code}` : `signal ${signal}`;
    child.on("close", () => end(reason));
    setTimeout(() => end(reason), 500).unref(); // a grandchild may hold the pipe open
  });
  return {
    pid: child.pid,
    write: (text) => {
      if (!ended) child.stdin.write(text);
    },
    kill,
  };
}

/** Number and start time, in ticks since the machine was started: `4711@8812345`. Only Linux tells the time. */
function processKey(pid = process.pid): string | undefined {
  if (process.platform === "linux") {
    try {
      // The program's name, in brackets, may hold anything; the 20th field behind it is the start time (man proc_pid_stat).
      const [, fields] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      const words = fields?.split(" ") ?? [];
      return words[0] === "Z" ? undefined : `${pid}@${words[19]}`;
    } catch {
      return undefined;
    }
  }
  try {
    process.kill(pid, 0); // sends nothing; throws if there is no such process
    return `${pid}@`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? `${pid}@` : undefined;
  }
}

export const processes: PlatformProcesses = { findProgram, programNames, startProcess, processKey };
