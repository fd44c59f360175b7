// A share of bench/faults.mjs: a full disk, a folder that may not be written to, kill -9 and Ctrl-C, and what is left.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "vitest";

/** Outcomes by command and fault. The patience is for machines with much else to do. */
function inject(jobs: string[], faults: string[]): string[][] {
  const args = ["--jobs", jobs.join(), "--faults", faults.join(), "--times", "1", "--patience", "10"];
  const { stdout, stderr } = spawnSync(process.execPath, ["bench/faults.mjs", ...args], { encoding: "utf8" });
  const rows = stdout.trim().split("\n").slice(2).map((line) => line.split("|").map((cell) => cell.trim())); // biome-ignore format: one thought
  assert.equal(rows.length, jobs.length * faults.length, stdout + stderr);
  return rows;
}

const isOk = ([, command, fault, outcome]: string[]) =>
  assert.match(outcome, /^ok/, `${command}, ${fault}: ${outcome}`);

const TIMEOUT = 600_000; // some twenty processes one after another

test.skipIf(process.platform === "win32")(
  "a command that is stopped or finds no room loses nothing",
  () => {
    inject(["data shuffle", "train"], ["full", "denied", "kill"]).forEach(isOk);
    inject(["data split"], ["full"]).forEach(isOk); // the larger of two files finds no room when the other is whole
  },
  TIMEOUT,
);

test.skipIf(process.platform === "win32")(
  "Ctrl-C ends long commands at once, and they are resumed",
  () => {
    inject(["selfplay", "learn"], ["interrupt"]).forEach(isOk);
  },
  TIMEOUT,
);
