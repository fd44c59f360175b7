import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { lockFolder } from "./lock.js";
import { processKey } from "./processes.js";

const root = mkdtempSync(join(tmpdir(), "tabiya-lock-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("a folder is held by one process until it is released", async () => {
  const folder = join(root, "one");
  const lock = await lockFolder(folder);
  await assert.rejects(lockFolder(folder), { code: "FOLDER_LOCKED", message: new RegExp(`process ${process.pid} `) });
  await lock.release();
  assert.ok(!existsSync(join(folder, "lock")));
  await (await lockFolder(folder)).release();
});

test("a lock is respected while its process lives, and taken over once it was killed", async () => {
  const folder = join(root, "two");
  await (await lockFolder(folder)).release();
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  await once(child, "spawn");
  writeFileSync(join(folder, "lock"), processKey(child.pid));
  await assert.rejects(lockFolder(folder), { code: "FOLDER_LOCKED" });
  child.kill("SIGKILL");
  await once(child, "exit");
  // Of those who find it at the same time, one gets it.
  const tries = await Promise.allSettled([lockFolder(folder), lockFolder(folder), lockFolder(folder)]);
  assert.equal(tries.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(readFileSync(join(folder, "lock"), "utf8"), processKey());
});

test("a number that another process has now, and a lock that was never written, hold nothing", async () => {
  for (const [name, left] of [
    ["reused", `${process.pid}@1`],
    ["empty", ""],
  ]) {
    const folder = join(root, name);
    await (await lockFolder(folder)).release();
    writeFileSync(join(folder, "lock"), left);
    await (await lockFolder(folder)).release();
  }
});
