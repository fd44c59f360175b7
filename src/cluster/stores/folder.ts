import { listFolder, makeFolder, openRandom, readBytes, removeFile, type UserError, writeFile } from "#base";
import { sha256 } from "./hash.js";
import { type FileStore, MOST_BYTES } from "./store.js";

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

  async get(hash: string, ending = "", mostBytes = MOST_BYTES): Promise<Uint8Array | undefined> {
    const path = `${this.folder}/${hash}${ending}`;
    const file = await openRandom(path).catch((error: UserError) => {
      if (error.code === "FILE_MISSING") return undefined;
      throw error;
    });
    try {
      if (!file || file.size > mostBytes) return undefined;
      // A name that ends so was compressed when it was written; bytes that merely look compressed are left as they are.
      const bytes = /\.(gz|zst)$/.test(ending) ? await readBytes(path) : file.read(0, file.size);
      if ((await sha256(bytes)) === hash) return bytes;
      await this.remove(hash, ending); // or whoever has the right bytes would believe that they are here
      return undefined;
    } finally {
      file?.close();
    }
  }

  remove(hash: string, ending = ""): Promise<void> {
    return removeFile(`${this.folder}/${hash}${ending}`);
  }
}
