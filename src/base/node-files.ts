import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import {
  access,
  appendFile,
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  truncate,
  unlink,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Duplex } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";
import { Decompress } from "fzstd";
import { UserError } from "./errors.js";
import { patiently } from "./patiently.js";
import type { PlatformFiles, RawAppend, RawBytes, RawOutput, Scratch } from "./platform.js";
import { temporaryName } from "./temporary-name.js";

const CHUNK = 256 * 1024;
const RETRIES = 5; // of deleting what is open elsewhere; as in patiently.ts

/** Turns what the operating system says into a message that names the file. */
function explainOpen(error: unknown, path: string): unknown {
  const reasons: Record<string, [string, string]> = {
    ENOENT: ["FILE_MISSING", "no such file or folder"],
    ENOTDIR: ["FILE_MISSING", "no such file: a part of the path is not a folder"],
    EEXIST: ["FILE_EXISTS", "this file exists"],
    EISDIR: ["FILE_IS_FOLDER", "this is a folder; expected a file"],
    EACCES: ["FILE_DENIED", "permission denied"],
    EPERM: ["FILE_DENIED", "permission denied"],
    EROFS: ["FILE_DENIED", "this file system cannot be written to"],
    EMFILE: ["FILE_MANY", "too many files are open"],
    EIO: ["FILE_READ", "the disk could not be read"],
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ""];
  return reason ? new UserError(reason[0], `${path}: ${reason[1]}.`, { cause: error }) : error;
}

async function* readChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    const handle = await open(path, "r");
    try {
      for (;;) {
        const chunk = Buffer.allocUnsafeSlow(CHUNK);
        const { bytesRead } = await handle.read(chunk, 0, CHUNK);
        if (bytesRead === 0) return;
        yield chunk.subarray(0, bytesRead);
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw explainOpen(error, path);
  }
}

async function openRaw(path: string): Promise<RawBytes> {
  if (path === "-") return { size: undefined, [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() };
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    await access(path, constants.R_OK);
    // Opened when it is read, and only once: a pipe (/dev/fd/63) cannot be opened twice.
    return { size: found.isFile() ? found.size : undefined, [Symbol.asyncIterator]: () => readChunks(path) };
  } catch (error) {
    throw explainOpen(error, path);
  }
}

function openRandom(path: string) {
  let file: number;
  try {
    file = openSync(path, "r");
    if (fstatSync(file).isDirectory()) {
      closeSync(file);
      throw Object.assign(new Error(), { code: "EISDIR" });
    }
  } catch (error) {
    throw explainOpen(error, path);
  }
  const { size } = fstatSync(file);
  return {
    size,
    read: (offset: number, length: number) => readAt(file, path, offset, length),
    close: () => closeSync(file),
  };
}

/** Synchronous on purpose: a read from the page cache takes 1 microsecond, a promise through the thread pool 20. */
function readAt(file: number, path: string, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length; ) {
    const got = readSync(file, bytes, done, length - done, offset + done);
    if (got === 0) {
      throw new UserError(
        "FILE_TRUNCATED",
        `${path}: ends at byte ${offset + done}; expected ${length - done} bytes more. Did it change while it was read?`,
      );
    }
    done += got;
  }
  return bytes;
}

async function createRaw(path: string): Promise<RawOutput> {
  if (path === "-") {
    return {
      write: (bytes) =>
        new Promise((resolve, reject) => process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
      finish: async () => {},
      discard: async () => {},
    };
  }
  return writing(await openHandle(path, "wx"));
}

const openHandle = (path: string, flags: string) =>
  open(path, flags).catch((error: unknown) => {
    throw explainOpen(error, path);
  });

async function openAppend(path: string, length: number | "new"): Promise<RawAppend> {
  const handle = await openHandle(path, length === "new" ? "ax" : "a");
  if (length !== "new") await truncate(path, length);
  return { ...writing(handle), sync: () => handle.datasync() };
}

const READ_ONLY = ["EACCES", "EPERM", "EROFS"];

/** Where nothing may be written beside the file, the room is in the system's folder for such. */
async function createScratch(near: string): Promise<Scratch> {
  let path = temporaryName(near);
  const handle = await open(path, "wx+").catch((error: NodeJS.ErrnoException) => {
    if (!READ_ONLY.includes(error.code ?? "")) throw explainOpen(error, path);
    path = temporaryName(join(tmpdir(), basename(near)));
    return openHandle(path, "wx+");
  });
  // Where a file that is open can lose its name, nothing is left of it even after kill -9.
  const nameless = await unlink(path).then(
    () => true,
    () => false,
  );
  let size = 0;
  return {
    get size() {
      return size;
    },
    async write(bytes) {
      await writeAll(handle, bytes);
      size += bytes.length;
    },
    read: (offset, length) => readAt(handle.fd, path, offset, length),
    async close() {
      await handle.close();
      if (!nameless) await unlink(path).catch(() => {});
    },
  };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
  }
}

function writing(handle: FileHandle): RawOutput {
  return {
    write: (bytes) => writeAll(handle, bytes),
    async finish() {
      await handle.sync();
      await handle.close();
    },
    discard: () => handle.close().catch(() => {}), // already closed by a finish that failed
  };
}

async function renameInto(from: string, to: string): Promise<void> {
  try {
    await patiently(() => rename(from, to));
  } catch (error) {
    throw explainOpen(error, to);
  }
  // The new name must survive a power cut too. Windows cannot open folders, and need not.
  const folder = await open(dirname(to), "r").catch(() => undefined);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

/** Sends bytes through a stream or a process, with back-pressure both ways. `failed` explains an error of the stream. */
async function* through(
  bytes: AsyncIterable<Uint8Array>,
  stream: NodeJS.ReadWriteStream,
  failed: (error: Error) => unknown,
): AsyncGenerator<Uint8Array> {
  let inputError: unknown;
  const watched = async function* () {
    try {
      yield* bytes;
    } catch (error) {
      inputError = error;
      throw error;
    }
  };
  const fed = pipeline(watched(), stream).catch(() => {}); // its error also comes out of the other end
  try {
    for await (const chunk of stream) yield chunk as Buffer;
    await fed;
  } catch (error) {
    throw inputError ?? failed(error as Error);
  }
}

const truncated = (name: string) =>
  new UserError("FILE_TRUNCATED", `${name}: the compressed file ends too early. Copy or download it again.`);
const corrupt = (name: string, kind: string, why: string) =>
  new UserError("FILE_CORRUPT", `${name}: damaged ${kind} data (${why}). Copy or download it again.`);

type Decoder = (bytes: AsyncIterable<Uint8Array>, name: string) => AsyncIterable<Uint8Array>;

const zlibDecoder =
  (kind: string, create: () => NodeJS.ReadWriteStream): Decoder =>
  (bytes, name) =>
    through(bytes, create(), (error) =>
      (error as NodeJS.ErrnoException).code === "Z_BUF_ERROR" ? truncated(name) : corrupt(name, kind, error.message),
    );

async function* zstdProgramDecoder(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const child = spawn("zstd", ["-dcq", "--long=31"]);
  const end = ended(child);
  let abandoned = true; // by a reader who has seen enough
  try {
    yield* through(bytes, Duplex.from({ writable: child.stdin, readable: child.stdout }), (error) => error);
    abandoned = false;
  } catch (error) {
    if (error instanceof UserError) throw error; // of the input
    abandoned = false; // a broken pipe is explained below, by the program's own words
  } finally {
    if (abandoned) child.kill();
  }
  const { code, stderr } = await end;
  if (/premature end|unexpected end|unknown header/i.test(stderr)) throw truncated(name);
  if (code !== 0) throw corrupt(name, "zstd", stderr.replace(/^.*?:\s*/, "").trim() || `zstd ended with ${code}`);
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<{ code: number | null; stderr: string }> {
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {}); // a program that dies says why on stderr
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stderr };
}

async function* zstdScriptDecoder(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const decoder = new Decompress((chunk) => ready.push(chunk));
  const push = (chunk: Uint8Array, last: boolean) => {
    try {
      decoder.push(chunk, last);
    } catch (error) {
      const { message } = error as Error;
      throw message === "unexpected EOF" ? truncated(name) : corrupt(name, "zstd", message);
    }
    const out = ready.filter((piece) => piece.length > 0);
    ready = [];
    return out;
  };
  for await (const chunk of bytes) yield* push(chunk.slice(), false); // it keeps what it is given
  yield* push(new Uint8Array(0), true);
}

let program: boolean | undefined;
const hasZstdProgram = () => (program ??= spawnSync("zstd", ["--version"], { stdio: "ignore" }).status === 0);

/**
 * The ways to read zstd, the best first: a process of its own runs beside us. Each is tested. Node's own decoder (since
 * 22.15) is not among them: it stops after the first frame and takes a cut-off file for a whole one.
 */
export const ZSTD_DECODERS: readonly { name: string; available(): boolean; decode: Decoder }[] = [
  { name: "the zstd program", available: hasZstdProgram, decode: zstdProgramDecoder },
  { name: "fzstd", available: () => true, decode: zstdScriptDecoder },
];

const DECODERS: Record<"gzip" | "zstd" | "deflate", Decoder> = {
  gzip: zlibDecoder("gzip", () => zlib.createGunzip({ chunkSize: CHUNK })),
  deflate: zlibDecoder("deflate", () => zlib.createInflateRaw({ chunkSize: CHUNK })),
  zstd: (bytes, name) => ZSTD_DECODERS.find(({ available }) => available())!.decode(bytes, name),
};

/** A compressing stream whose output goes to `to`. */
function compressInto(stream: NodeJS.ReadWriteStream, to: RawOutput, end: () => Promise<void>): RawOutput {
  let failure: unknown;
  const done = (async () => {
    for await (const chunk of stream) await to.write(chunk as Buffer);
    await end();
  })().catch((error: unknown) => {
    failure = error;
  });
  const check = () => {
    if (failure !== undefined) throw failure;
  };
  return {
    async write(bytes) {
      check();
      if (!stream.write(bytes)) await Promise.race([once(stream, "drain"), done]);
      check();
    },
    async finish() {
      stream.end();
      await done;
      check();
      await to.finish();
    },
    async discard() {
      (stream as Duplex).destroy();
      await done;
      await to.discard();
    },
  };
}

/** What Node has since 22.15. */
const builtin = zlib as typeof zlib & { createZstdCompress?(): NodeJS.ReadWriteStream };

function compress(kind: "gzip" | "zstd", to: RawOutput): RawOutput {
  if (kind === "gzip") return compressInto(zlib.createGzip({ chunkSize: CHUNK }), to, async () => {});
  if (hasZstdProgram()) {
    const child = spawn("zstd", ["-cq", "-T0"]);
    const end = ended(child);
    return compressInto(Duplex.from({ writable: child.stdin, readable: child.stdout }), to, async () => {
      const { code, stderr } = await end;
      if (code !== 0) throw new UserError("ZSTD_FAILED", `the zstd program failed (${code}): ${stderr.trim()}`);
    });
  }
  if (builtin.createZstdCompress) return compressInto(builtin.createZstdCompress(), to, async () => {});
  throw new UserError(
    "ZSTD_MISSING",
    "To write .zst, install the zstd program (apt install zstd, brew install zstd, winget install zstd) or use Node 22.15 or newer.\n" +
      "Or let the name end in .gz, which needs nothing.",
  );
}

const orExplain = (work: Promise<unknown>, path: string): Promise<void> =>
  work.then(
    () => {},
    (error: unknown) => {
      throw explainOpen(error, path);
    },
  );

async function listFolder(path: string): Promise<string[] | undefined> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw explainOpen(error, path);
  }
}

export const files: PlatformFiles = {
  openRaw,
  openRandom: async (path) => openRandom(path),
  createRaw,
  rename: renameInto,
  remove: (path) => patiently(() => unlink(path)).catch(() => {}),
  temporaryName,
  openAppend,
  createScratch,
  makeFolder: (path) => orExplain(mkdir(path, { recursive: true }), path),
  listFolder,
  removeFolder: (path) => orExplain(rm(path, { recursive: true, force: true, maxRetries: RETRIES }), path),
  append: (path, bytes) => orExplain(appendFile(path, bytes), path),
  decompress: (kind, bytes, name) => DECODERS[kind](bytes, name),
  compress,
};
