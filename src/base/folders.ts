import { platform } from "#platform";
import { UserError } from "./errors.js";

/** Makes a folder and those above it; says nothing if it is there. */
export const makeFolder = (path: string): Promise<void> => platform.makeFolder(path);

/** The names in a folder, sorted; undefined if there is no such folder. */
export const listFolder = (path: string): Promise<string[] | undefined> => platform.listFolder(path);

/** Deletes a folder and all in it; says nothing if there is none. */
export const removeFolder = (path: string): Promise<void> => platform.removeFolder(path);

/** Adds to the end of a file, or begins it. What was added may be lost or cut off by a crash. */
export async function appendToFile(path: string, content: Uint8Array | string): Promise<void> {
  try {
    await platform.append(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
    throw new UserError(
      "DISK_FULL",
      `${path}: the disk is full. What was written before is kept: free some room, then go on.`,
      { cause: error },
    );
  }
}

/**
 * Makes a folder whose files all exist or none: `fill` writes them into a temporary one, which then takes the name, over
 * a folder of that name. A crash leaves the old folder, the new one, or (for an instant) the old one as NAME.old.
 */
export async function replaceFolder(path: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const [fresh, old] = [`${path}.part`, `${path}.old`];
  await platform.removeFolder(fresh);
  await platform.makeFolder(fresh);
  await fill(fresh);
  if ((await platform.listFolder(path)) !== undefined) {
    await platform.removeFolder(old);
    await platform.rename(path, old);
  }
  await platform.rename(fresh, path);
  await platform.removeFolder(old);
}

/** Brings back a folder that a crash inside `replaceFolder` left as NAME.old, and removes what it had begun. */
export async function mendFolder(path: string): Promise<void> {
  if ((await platform.listFolder(path)) === undefined && (await platform.listFolder(`${path}.old`)) !== undefined)
    await platform.rename(`${path}.old`, path);
  await platform.removeFolder(`${path}.old`);
  await platform.removeFolder(`${path}.part`);
}
