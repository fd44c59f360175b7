import type { FileStore } from "./store.js";

/** Counts the bytes that go into a store and come out of it. */
export class CountingStore implements FileStore {
  readonly bytes = { put: 0, got: 0 };

  constructor(private readonly store: FileStore) {}

  put(bytes: Uint8Array, ending?: string): Promise<string> {
    this.bytes.put += bytes.length;
    return this.store.put(bytes, ending);
  }

  async get(hash: string, ending?: string, mostBytes?: number): Promise<Uint8Array | undefined> {
    const bytes = await this.store.get(hash, ending, mostBytes);
    this.bytes.got += bytes?.length ?? 0;
    return bytes;
  }

  remove(hash: string, ending?: string): Promise<void> {
    return this.store.remove(hash, ending);
  }
}
