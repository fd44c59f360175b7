import { concatBytes } from "./bytes.js";
import { UserError } from "./errors.js";
import type { PlatformFiles, RawAppend, Scratch } from "./platform.js";

/** Bytes that grow; read as one piece when they are wanted. */
class Held {
  private parts: Uint8Array[] = [];
  private length = 0;

  get size(): number {
    return this.length;
  }

  add(bytes: Uint8Array): void {
    this.parts.push(bytes);
    this.length += bytes.length;
  }

  get bytes(): Uint8Array {
    if (this.parts.length !== 1) this.parts = [concatBytes(this.parts)];
    return this.parts[0];
  }

  cut(length: number): void {
    this.parts = [this.bytes.slice(0, length)];
    this.length = this.parts[0].length;
  }

  /** The bytes from `offset`, which belong to the caller. */
  read = (offset: number, length: number): Uint8Array => this.bytes.slice(offset, offset + length);
}

/** Files and folders in the memory of this program, for a page, which has no disk: what is kept here ends with it. */
export function createMemoryFiles(): Omit<PlatformFiles, "compress" | "decompress"> {
  const files = new Map<string, Held>();
  const folders = new Set<string>();
  let names = 0;

  const find = (path: string): Held => {
    const held = files.get(path);
    if (held) return held;
    throw new UserError("FILE_MISSING", `${path}: no such file or folder.`);
  };
  const create = (path: string): Held => {
    if (files.has(path)) throw new UserError("FILE_EXISTS", `${path}: this file exists.`);
    const held = new Held();
    files.set(path, held);
    return held;
  };
  /** What the paths below a folder, and the folder itself, are to be called when it has another name. */
  const renamed = (path: string, from: string, to: string): string | undefined =>
    path === from || path.startsWith(`${from}/`) ? to + path.slice(from.length) : undefined;
  const writing = (held: Held): RawAppend => ({
    write: async (bytes) => held.add(bytes),
    sync: async () => {},
    finish: async () => {},
    discard: async () => {},
  });

  return {
    async openRaw(path) {
      const held = find(path);
      return {
        size: held.size,
        async *[Symbol.asyncIterator]() {
          yield held.bytes;
        },
      };
    },
    async openRandom(path) {
      const { size, read } = find(path);
      return { size, read, close() {} };
    },
    createRaw: async (path) => writing(create(path)),
    async rename(from, to) {
      for (const [path, held] of [...files]) {
        const name = renamed(path, from, to);
        if (name === undefined) continue;
        files.delete(path);
        files.set(name, held);
      }
      for (const path of [...folders]) {
        const name = renamed(path, from, to);
        if (name === undefined) continue;
        folders.delete(path);
        folders.add(name);
      }
    },
    async openAppend(path, length) {
      const held = length === "new" ? create(path) : (files.get(path) ?? create(path));
      if (length !== "new") held.cut(length);
      return writing(held);
    },
    async createScratch(): Promise<Scratch> {
      const held = new Held();
      return {
        get size() {
          return held.size;
        },
        write: async (bytes) => held.add(bytes),
        read: held.read,
        close: async () => held.cut(0),
      };
    },
    async remove(path) {
      files.delete(path);
    },
    async makeFolder(path) {
      folders.add(path);
    },
    async listFolder(path) {
      if (!folders.has(path)) return undefined;
      const below = [...files.keys(), ...folders].filter((each) => each.startsWith(`${path}/`));
      return [...new Set(below.map((each) => each.slice(path.length + 1).split("/", 1)[0]))].sort();
    },
    async removeFolder(path) {
      for (const each of [...files.keys()]) if (each.startsWith(`${path}/`)) files.delete(each);
      for (const each of [...folders]) if (renamed(each, path, "") !== undefined) folders.delete(each);
    },
    async append(path, bytes) {
      (files.get(path) ?? create(path)).add(bytes.slice());
    },
    temporaryName: (path) => `${path}.${names++}.part`,
  };
}
