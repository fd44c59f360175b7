import { sha256 } from "./hash.js";
import type { FileStore } from "./store.js";

/** For workers of one program. */
export class MemoryStore implements FileStore {
  private readonly files = new Map<string, Uint8Array>();

  async put(bytes: Uint8Array): Promise<string> {
    const hash = await sha256(bytes);
    this.files.set(hash, bytes.slice());
    return hash;
  }

  async get(hash: string): Promise<Uint8Array | undefined> {
    return this.files.get(hash);
  }

  async remove(hash: string): Promise<void> {
    this.files.delete(hash);
  }
}
