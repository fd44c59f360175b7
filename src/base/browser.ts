import { Decompress } from "fzstd";
import { beside, threads } from "./browser-threads.js";
import { UserError } from "./errors.js";
import { createMemoryFiles } from "./memory-files.js";
import type { Platform } from "./platform.js";

const unavailable = (path: string) =>
  new UserError("FILE_BROWSER", `${path}: a page cannot write files. Use the program tabiya for this.`);

const memory = createMemoryFiles();

/** Files that a page writes have names that begin so, and are kept in memory: all others are addresses. */
const isInMemory = (path: string): boolean => path.startsWith("memory:");

/** The files in memory, for a path there; there is nothing else to write to. */
function writable(path: string): typeof memory {
  if (isInMemory(path)) return memory;
  throw unavailable(path);
}

const fromBase64 = (text: string) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

async function fetchOk(url: string | URL): Promise<Response> {
  const response = await fetch(url).catch((error: unknown) => {
    throw new UserError("FILE_MISSING", `${url}: could not be loaded (${error}).`);
  });
  if (!response.ok) throw new UserError("FILE_MISSING", `${url}: ${response.status} ${response.statusText}`);
  return response;
}

async function* pieces(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}

async function* unzstd(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = [];
  const decoder = new Decompress((chunk) => ready.push(chunk));
  for await (const chunk of bytes) {
    decoder.push(chunk.slice(), false);
    yield* ready.splice(0);
  }
  decoder.push(new Uint8Array(0), true);
  yield* ready.splice(0);
}

function inflate(kind: "gzip" | "deflate", bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  const source = new ReadableStream<BufferSource>({
    async pull(controller) {
      const { value, done } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
  });
  return pieces(source.pipeThrough(new DecompressionStream(kind === "gzip" ? "gzip" : "deflate-raw")));
}

/** A page reads files by their address, and writes to memory alone. */
export const platform: Platform = {
  ...threads,
  async readWasm(name) {
    if (name === "chess") return fromBase64((await import("#chess-wasm")).default); // for bundles of the rules alone
    return (await fetchOk(beside(`wasm/${name}.wasm`))).arrayBuffer();
  },
  async openRaw(path) {
    if (isInMemory(path)) return memory.openRaw(path);
    const { body, headers } = await fetchOk(path);
    const size = Number(headers.get("content-length")) || undefined;
    return { size, [Symbol.asyncIterator]: () => pieces(body ?? new ReadableStream()) };
  },
  async openRandom(path) {
    if (isInMemory(path)) return memory.openRandom(path);
    const bytes = new Uint8Array(await (await fetchOk(path)).arrayBuffer());
    return { size: bytes.length, read: (offset, length) => bytes.slice(offset, offset + length), close() {} };
  },
  async *decompress(kind, bytes, name) {
    try {
      yield* kind === "zstd" ? unzstd(bytes) : inflate(kind, bytes);
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw new UserError("FILE_CORRUPT", `${name}: damaged or cut off ${kind} data (${error}).`);
    }
  },
  createRaw: async (path) => writable(path).createRaw(path),
  rename: async (from, to) => writable(to).rename(from, to),
  openAppend: async (path, length) => writable(path).openAppend(path, length),
  createScratch: (near) => memory.createScratch(near),
  remove: (path) => memory.remove(path),
  makeFolder: async (path) => writable(path).makeFolder(path),
  listFolder: (path) => memory.listFolder(path),
  removeFolder: (path) => memory.removeFolder(path),
  append: async (path, bytes) => writable(path).append(path, bytes),
  temporaryName: memory.temporaryName,
  compress: () => {
    throw unavailable("output");
  },
  shippedPath: (name) => String(beside(`nets/${name}`)),
  findProgram: async () => undefined,
  programNames: async () => [],
  processKey: () => undefined,
  startProcess: (path) => {
    throw new UserError("PROGRAM_BROWSER", `${path}: a page cannot start programs. Use the program tabiya for this.`);
  },
};
