// Names for files that are being written, and what becomes of those that a killed process left behind.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync, unlinkSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * Names the machine, or the container, in which a number means one process: others may write to the same folder, and a
 * process that is dead here may live there.
 */
const place = createHash("sha256")
  .update(hostname())
  .update(attempt(() => readFileSync("/etc/machine-id")) ?? "")
  .update(attempt(() => readlinkSync("/proc/self/ns/pid")) ?? "")
  .digest("hex")
  .slice(0, 8);
const LEFT = new RegExp(`^\\..+\\.${place}-(\\d+)-\\d+\\.part$`);

let made = 0;
const swept = new Set<string>();

/** A name in the folder of `path` that nobody else uses. What dead processes left in that folder is removed, once. */
export function temporaryName(path: string): string {
  const folder = dirname(path);
  if (!swept.has(folder)) sweep(folder);
  swept.add(folder);
  return join(folder, `.${basename(path)}.${place}-${process.pid}-${made++}.part`);
}

function sweep(folder: string): void {
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    const [, pid] = LEFT.exec(name) ?? [];
    if (pid !== undefined && isDead(Number(pid))) attempt(() => unlinkSync(join(folder, name)));
  }
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0); // sends nothing
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"; // somebody else's process is EPERM
  }
}
