import { listFolder, makeFolder, readBytes, type UserError, writeFile } from "#base";
import { sha256 } from "./hash.js";
import type { FileStore } from "./store.js";

/** A folder, of this machine or shared by several: files under the names of their hashes, each whole or not there. */
export class FolderStore implements FileStore {
  constructor(readonly folder: string) {}

  async put(bytes: Uint8Array, ending = ""): Promise<string> {
    const hash = await sha256(bytes);
    if ((await listFolder(this.folder))?.includes(hash + ending)) return hash;
    await makeFolder(this.folder);
    await writeFile(`${this.folder}/${hash}${ending}`, bytes);
    return hash;
  }

  async get(hash: string, ending = ""): Promise<Uint8Array | undefined> {
    const bytes = await readBytes(`${this.folder}/${hash}${ending}`).catch((error: UserError) => {
      if (error.code === "FILE_MISSING") return undefined;
      throw error;
    });
    return bytes && (await sha256(bytes)) === hash ? bytes : undefined;
  }
}
