import { spawnSync } from "node:child_process";

/** Whether a process of this user can have a disk of its own, of a few kilobytes. */
export const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/tmp"]).status === 0;
