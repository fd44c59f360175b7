import { platform } from "#platform";
import { UserError } from "./errors.js";
import { readText } from "./files.js";
import { makeFolder } from "./folders.js";
import { isProcessAlive, processKey } from "./processes.js";

const WRITING_MS = 50; // a lock without a name gets so long for its owner to write it

/** A folder that only this process works in. */
interface FolderLock {
  release(): Promise<void>;
}

/**
 * Takes a folder for this process alone. Refused (FOLDER_LOCKED) while another process of this machine holds it; a lock
 * that a killed process left behind is taken over.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  await makeFolder(folder);
  const path = `${folder}/lock`;
  const key = processKey();
  for (;;) {
    if (await writeNew(path, key)) return { release: () => releaseLock(path, key) };
    let owner = await readLock(path);
    if (owner === "") {
      await new Promise((resolve) => setTimeout(resolve, WRITING_MS));
      owner = await readLock(path);
    }
    if (owner === undefined) continue; // released in between
    if (isProcessAlive(owner)) {
      throw new UserError(
        "FOLDER_LOCKED",
        `${folder}: process ${Number.parseInt(owner, 10)} is at work in this folder. Wait for it or stop it, or use another folder.`,
      );
    }
    await removeLeft(path, owner);
  }
}

async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    const file = await platform.createRaw(path);
    await file.write(new TextEncoder().encode(text));
    await file.finish();
    return true;
  } catch (error) {
    if (error instanceof UserError && error.code === "FILE_EXISTS") return false;
    throw error;
  }
}

async function readLock(path: string): Promise<string | undefined> {
  try {
    return await readText(path);
  } catch (error) {
    if (error instanceof UserError && error.code === "FILE_MISSING") return undefined;
    throw error;
  }
}

/** Removes the lock of a dead process. Whoever is first moves it away; a fresh lock moved by mistake is put back. */
async function removeLeft(path: string, owner: string): Promise<void> {
  const aside = platform.temporaryName(path);
  try {
    await platform.rename(path, aside);
  } catch {
    return; // somebody else was first
  }
  if ((await readLock(aside)) === owner) await platform.remove(aside);
  else await platform.rename(aside, path);
}

async function releaseLock(path: string, key: string): Promise<void> {
  if ((await readLock(path)) === key) await platform.remove(path);
}
