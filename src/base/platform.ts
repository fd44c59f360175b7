import type { Channel } from "./workers.js";

/** ONNX Runtime; the packages for Node and for the browser have the same face. Both are large, and optional. */
export type Runtime = typeof import("onnxruntime-common");

/**
 * What the rest of the product needs from the machine it runs on. `node.ts` and `browser.ts` each provide it; the
 * `#platform` door of package.json picks one. Nothing above `base` knows which.
 */
export interface Platform extends PlatformFiles, PlatformProcesses, PlatformThreads {
  /** The bytes of a compiled module of ours, by its name in dist/wasm. */
  readWasm(name: string): Promise<BufferSource>;
  /** Where a file of the folder nets/ is, which comes with the program. */
  shippedPath(name: string): string;
}

/** Workers, and what is known of the runtime that computes in them. */
export interface PlatformThreads {
  /** Starts a worker file, by its path below dist without the ending. */
  startWorker(path: string): Channel;
  /** Inside a worker: the line to whoever started it. */
  parent(): Channel;
  /** Processors this program may use. */
  processors(): number;
  /** Whether the runtime has fast kernels for convolutions, or only for products of matrices. */
  runtimeConvolves: boolean;
  /** Whether the runtime writes results into memory the caller provides. */
  runtimeFillsOutputs: boolean;
}

/** Raw access to files, on which `files.ts` builds. Errors are UserErrors that name the file. */
export interface PlatformFiles {
  /** A file, or "-" for standard input, as it is on disk. */
  openRaw(path: string): Promise<RawBytes>;
  openRandom(path: string): Promise<RandomBytes>;
  /** A new file that must not exist yet, or "-" for standard output. */
  createRaw(path: string): Promise<RawOutput>;
  /** Puts a finished file in its place, over what was there. */
  rename(from: string, to: string): Promise<void>;
  /** A file that grows; made if there is none, cut to `length` bytes if there is one; with "new" there must be none. */
  openAppend(path: string, length: number | "new"): Promise<RawAppend>;
  /** Room on the disk near `path` for work that is larger than memory. No other program sees it. */
  createScratch(near: string): Promise<Scratch>;
  /** Deletes a file; says nothing if there is none. */
  remove(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** The names in a folder, sorted; undefined if there is no such folder. */
  listFolder(path: string): Promise<string[] | undefined>;
  /** Deletes a folder and all in it; says nothing if there is none. */
  removeFolder(path: string): Promise<void>;
  /** Adds to the end of a file, or begins it. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** A name in the same folder that nobody else uses. */
  temporaryName(path: string): string;
  /** Undoes a compression; `name` is for messages. bzip2 is not here, for it needs nothing from the machine. */
  decompress(
    kind: "gzip" | "zstd" | "deflate",
    bytes: AsyncIterable<Uint8Array>,
    name: string,
  ): AsyncIterable<Uint8Array>;
  /** A compressor that writes what it makes to `to`, and closes it in the end. */
  compress(kind: "gzip" | "zstd", to: RawOutput): RawOutput;
}

export interface RawBytes extends AsyncIterable<Uint8Array> {
  size: number | undefined; // bytes; not known of a pipe
}

export interface RawOutput {
  /** Resolves when more may be written. The bytes must not change afterwards. */
  write(bytes: Uint8Array): Promise<void>;
  /** All that was written is on the disk, and the file closed. */
  finish(): Promise<void>;
  /** Closes without caring for what was written. */
  discard(): Promise<void>;
}

export interface RawAppend extends RawOutput {
  /** Resolves when all that was written is on the disk. */
  sync(): Promise<void>;
}

/** A file without a name: written from front to back, read in any order, gone once it is closed or we end. */
export interface Scratch {
  readonly size: number;
  write(bytes: Uint8Array): Promise<void>;
  read(offset: number, length: number): Uint8Array;
  close(): Promise<void>;
}

/** Bytes read in any order, at once: for files in which one jumps about. */
export interface RandomBytes {
  readonly size: number;
  /** The bytes from `offset`, of which there must be `length`. They belong to the caller. */
  read(offset: number, length: number): Uint8Array;
  close(): void;
}

/** How a process ended. */
export interface ProcessEnd {
  /** For people: "exit code 3", "signal SIGSEGV", "could not be started (EACCES)". */
  reason: string;
  /** The last of what it wrote to its standard error, some lines at most. */
  lastWords: string;
}

/** What is told of a running program. */
export interface ProcessEvents {
  /** A line of its standard output, without the line end. A line of more than a megabyte is cut. */
  onLine(line: string): void;
  /** Called once, after the last line. */
  onEnd(end: ProcessEnd): void;
}

/** A running program that we speak to by lines. */
export interface Process {
  readonly pid: number | undefined;
  /** Sends text; does nothing when the process has ended. */
  write(text: string): void;
  /** Ends it and whatever it has started, without asking. */
  kill(): void;
}

export interface PlatformProcesses {
  /** The path of a program by the name a user would type; undefined if there is none. */
  findProgram(name: string): Promise<string | undefined>;
  /** The names that `findProgram` knows, for suggestions. */
  programNames(): Promise<string[]>;
  startProcess(path: string, args: readonly string[], events: ProcessEvents): Process;
  /** The name of a process that no other has had or will have on this machine; without a number, our own. */
  processKey(pid?: number): string | undefined;
}
