import { platform } from "#platform";
import { bunzip2 } from "./bunzip2.js";
import { concatBytes } from "./bytes.js";
import { UserError } from "./errors.js";
import type { RandomBytes, RawOutput } from "./platform.js";
import { isFull, writeProblem } from "./write-problem.js";
import { readZip } from "./zip.js";

/** The content of a file as it streams in, decompressed. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  readonly path: string;
  /** Bytes on the disk, before decompression; not known of a pipe. */
  readonly size: number | undefined;
  /** How many of those were read so far: for progress bars. */
  readonly bytesRead: number;
}

const MAGIC = [
  { kind: "gzip", bytes: [0x1f, 0x8b] },
  { kind: "zstd", bytes: [0x28, 0xb5, 0x2f, 0xfd] },
  { kind: "bzip2", bytes: [0x42, 0x5a, 0x68] },
  { kind: "zip", bytes: [0x50, 0x4b, 0x03, 0x04] },
] as const;
type Compression = (typeof MAGIC)[number]["kind"];

/** How bytes that begin like this are compressed. */
export function compressionOf(start: Uint8Array): Compression | undefined {
  // A zstd file may open with a frame to be skipped: any of sixteen magic numbers.
  if ((start[0] & 0xf0) === 0x50 && start[1] === 0x2a && start[2] === 0x4d && start[3] === 0x18) return "zstd";
  return MAGIC.find(({ bytes }) => bytes.every((byte, i) => start[i] === byte))?.kind;
}

/** Undoes whatever compression the first bytes show, or none; `name` is for messages. */
export async function* decompress(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const input = bytes[Symbol.asyncIterator]();
  let start = new Uint8Array(0);
  let ended = false;
  while (start.length < 4 && !ended) {
    const { value, done } = await input.next();
    if (done) ended = true;
    else start = concatBytes([start, value]) as Uint8Array<ArrayBuffer>;
  }
  const whole = (async function* () {
    try {
      if (start.length > 0) yield start;
      for (let next = await input.next(); !next.done; next = await input.next()) yield next.value;
    } finally {
      await input.return?.();
    }
  })();
  const kind = compressionOf(start);
  if (kind === undefined) yield* whole;
  else if (kind === "bzip2") yield* bunzip2(whole, name);
  else if (kind === "zip")
    throw new UserError("FILE_ZIP", `${name}: a .zip can only be read from a file. Unpack it first.`);
  else yield* platform.decompress(kind, whole, name);
}

/**
 * Opens a file, or "-" for standard input, and decompresses .zst, .gz and .bz2 by what the file begins with, not by its
 * name; of a .zip that holds one file, that file. Memory stays flat however long the file is.
 */
export async function openBytes(path: string): Promise<ByteSource> {
  const raw = await platform.openRaw(path);
  let bytesRead = 0;
  const counted = (async function* () {
    for await (const chunk of raw) {
      bytesRead += chunk.length;
      yield chunk;
    }
  })();
  let content: AsyncIterable<Uint8Array> = decompress(counted, path);
  if (path !== "-" && raw.size !== undefined && raw.size >= 22) {
    const random = await platform.openRandom(path);
    const isZip = compressionOf(random.read(0, 4)) === "zip";
    random.close();
    if (isZip) content = onlyMember(path, (n) => (bytesRead += n));
  }
  return {
    path,
    size: raw.size,
    get bytesRead() {
      return bytesRead;
    },
    [Symbol.asyncIterator]: () => content[Symbol.asyncIterator](),
  };
}

async function* onlyMember(path: string, count: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  const members = await openZip(path);
  if (members.length !== 1) {
    throw new UserError(
      "FILE_ZIP",
      `${path}: holds ${members.length} files (${members.slice(0, 5).map(({ name }) => name)}); expected one. Unpack it first.`,
    );
  }
  yield* members[0].open();
  count(members[0].compressedSize);
}

/** A file inside a .zip. */
export interface ZipMember {
  name: string;
  size: number; // bytes, unpacked
  compressedSize: number;
  open(): AsyncIterable<Uint8Array>;
}

/** The files inside a .zip, folders left out. */
export async function openZip(path: string): Promise<ZipMember[]> {
  const random = await platform.openRandom(path);
  try {
    return readZip(path, random).map((entry) => ({
      ...entry,
      async *open() {
        const file = await platform.openRandom(path);
        try {
          const pieces = entry.pieces(file);
          yield* entry.stored ? pieces : platform.decompress("deflate", pieces, `${path}/${entry.name}`);
        } finally {
          file.close();
        }
      },
    }));
  } finally {
    random.close();
  }
}

/** The whole content of a file, decompressed. */
export async function readBytes(path: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await openBytes(path)) chunks.push(chunk);
  return concatBytes(chunks);
}

/** The whole content of a text file, decompressed. */
export const readText = async (path: string): Promise<string> => new TextDecoder().decode(await readBytes(path));

/** A file read in any order. It is not decompressed. */
export const openRandom = (path: string): Promise<RandomBytes> => platform.openRandom(path);

/** Bytes in memory, read like a file. */
export const randomBytes = (bytes: Uint8Array): RandomBytes => ({
  size: bytes.length,
  read: (offset, length) => bytes.slice(offset, offset + length),
  close() {},
});

const GATHERED = 256 * 1024; // bytes collected before they are handed to the disk

/** What is written but not yet seen under its name: `finish`, which may find no room, comes before `commit`. */
export interface Pending {
  finish(): Promise<void>;
  commit(): Promise<void>;
  abort(): Promise<void>;
}

/** Names files that belong together only when all of them are whole on the disk, in the given order. */
export async function commitAll(files: readonly Pending[]): Promise<void> {
  for (const file of files) await file.finish();
  for (const file of files) await file.commit();
}

/**
 * A file on its way to the disk. Nothing is seen under its name before `commit`; after `abort`, or if a write fails,
 * nothing is left of it. A name that ends in .gz or .zst is compressed.
 */
export class Output implements Pending {
  private gathered = new Uint8Array(GATHERED);
  private length = 0;
  private state: "open" | "finished" | "done" | "failed" = "open";
  /** Bytes given to `write`. */
  bytesWritten = 0;

  constructor(
    readonly path: string,
    private readonly temporary: string,
    private readonly raw: RawOutput,
  ) {}

  /** Takes the bytes (they may be reused at once). What it returns must be awaited before the next call, if it is a promise. */
  write(data: Uint8Array | string): Promise<void> | undefined {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    this.bytesWritten += bytes.length;
    if (this.length + bytes.length <= GATHERED) {
      this.gathered.set(bytes, this.length);
      this.length += bytes.length;
      return undefined;
    }
    return this.flush(bytes.slice());
  }

  private async flush(more?: Uint8Array): Promise<void> {
    if (this.state !== "open") throw new Error(`internal: ${this.path} was written to after it was ${this.state}`);
    const full = this.gathered.subarray(0, this.length);
    this.gathered = new Uint8Array(GATHERED);
    this.length = 0;
    await this.attempt(async () => {
      if (full.length > 0) await this.raw.write(full);
      if (more !== undefined) await this.raw.write(more);
    });
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      await this.abort();
      throw explainWrite(error, this.path, this.bytesWritten);
    }
  }

  /** Flushes all to the disk. Nothing more can be written. */
  async finish(): Promise<void> {
    if (this.state === "finished") return;
    await this.flush();
    await this.attempt(() => this.raw.finish());
    this.state = "finished";
  }

  /** Finishes, and gives the file its name. */
  async commit(): Promise<void> {
    await this.finish();
    await this.attempt(async () => {
      if (this.path !== "-") await platform.rename(this.temporary, this.path);
    });
    this.state = "done";
  }

  /** Gives up: the file is removed. Does nothing after `commit` or a failure. */
  async abort(): Promise<void> {
    if (this.state === "done" || this.state === "failed") return;
    this.state = "failed";
    await this.raw.discard();
    if (this.path !== "-") await platform.remove(this.temporary);
  }
}

function explainWrite(error: unknown, path: string, bytes: number): unknown {
  const problem = writeProblem(error);
  if (problem === undefined) return error;
  return isFull(error)
    ? new UserError(
        "DISK_FULL",
        `${path}: ${problem}, after ${bytes} bytes. Nothing was written under that name. Free some room, or write elsewhere.`,
        { cause: error },
      )
    : new UserError("FILE_WRITE", `${path}: ${problem}. Nothing was written under that name.`, { cause: error });
}

/** Starts a file, or "-" for standard output; see Output. */
export async function createOutput(path: string): Promise<Output> {
  const temporary = path === "-" ? path : platform.temporaryName(path);
  const raw = await platform.createRaw(temporary).catch((error: unknown) => {
    throw error instanceof UserError ? new UserError(error.code, error.message.replaceAll(temporary, path)) : error;
  });
  const kind = /\.gz$/i.test(path) ? "gzip" : /\.zst$/i.test(path) ? "zstd" : undefined;
  if (kind === undefined) return new Output(path, temporary, raw);
  try {
    return new Output(path, temporary, platform.compress(kind, raw));
  } catch (error) {
    await raw.discard();
    await platform.remove(temporary);
    throw error;
  }
}

/** A name beside `path` that nobody else uses, for a file that is not whole yet; see `renameFile`. */
export const temporaryName = (path: string): string => platform.temporaryName(path);

/** Puts a finished file in its place, over what was there. */
export const renameFile = (from: string, to: string): Promise<void> => platform.rename(from, to);

/** Deletes a file; says nothing if there is none. */
export const removeFile = (path: string): Promise<void> => platform.remove(path);

/** A whole file that is yet to get its name. */
export async function prepareFile(path: string, content: Uint8Array | string): Promise<Output> {
  const output = await createOutput(path);
  try {
    await output.write(content);
  } catch (error) {
    await output.abort();
    throw error;
  }
  return output;
}

/** Writes a whole file at once, all or nothing. */
export const writeFile = async (path: string, content: Uint8Array | string): Promise<void> =>
  (await prepareFile(path, content)).commit();

/** Where a file of the folder nets/ is, the networks that come with the program. */
export const shippedPath = (name: string): string => platform.shippedPath(name);
