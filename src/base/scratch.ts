import { platform } from "#platform";
import { messageOf, UserError } from "./errors.js";
import { openBytes, openRandom } from "./files.js";
import { readLineBatches } from "./lines.js";
import type { RawOutput, Scratch } from "./platform.js";
import { isFull, writeProblem } from "./write-problem.js";

/** Room on the disk beside `near` for work larger than memory; it vanishes when it is closed or the program ends. */
export async function createScratch(near: string): Promise<Scratch> {
  const scratch = await platform.createScratch(near);
  const { write } = scratch;
  scratch.write = async (bytes) => {
    try {
      await write(bytes);
    } catch (error) {
      const problem = writeProblem(error);
      if (problem === undefined) throw error;
      throw new UserError(
        isFull(error) ? "DISK_FULL" : "FILE_WRITE",
        `${near}: ${problem}; what does not fit into memory is kept beside this file while it is made. Free some room, or write elsewhere.`,
        { cause: error },
      );
    }
  };
  return scratch;
}

/** What a journal is for. */
interface JournalOptions {
  path: string;
  header: string; // its first line: the work that it is of
  /** A line that is there, and the byte at which it begins. */
  onLine(line: string, byte: number): void;
  /** The refusal of a journal of other work, which has this header. */
  refuse(found: string): UserError;
}

/**
 * A text file to which whole lines are added, each at once: what long work has done so far. After a kill, at most the line
 * being written is lost; that one is cut off when the file is opened again. A journal in which nothing was done yet is
 * nobody's: it goes when it is closed, and is in nobody's way if it could not.
 */
export class Journal {
  private constructor(
    readonly path: string,
    private readonly output: RawOutput,
    private readonly headerBytes: number,
    /** Bytes in the file: where the next line will begin. */
    private end: number,
  ) {}

  /** Opens it, made if there is none, and shows what was done before. */
  static async open({ path, header, onLine, refuse }: JournalOptions): Promise<Journal> {
    const encoder = new TextEncoder();
    const whole = await wholeLines(path);
    let byte = 0;
    let found: string | undefined;
    if (whole > 0) {
      for await (const { lines } of readLineBatches(await openBytes(path), path)) {
        for (const line of lines) {
          if (byte >= whole) break; // the one that was cut off
          if (found === undefined) found = line;
          else if (found !== header) throw refuse(found);
          else onLine(line, byte);
          byte += encoder.encode(line).length + 1;
        }
      }
    }
    const end = found === header ? whole : 0;
    const headerBytes = encoder.encode(header).length + 1;
    const journal = new Journal(path, await platform.openAppend(path, end), headerBytes, end);
    if (end === 0) await journal.append(header);
    return journal;
  }

  /** Adds a line and tells at which byte it begins. Calls must not overlap. */
  async append(line: string): Promise<number> {
    const bytes = new TextEncoder().encode(`${line}\n`);
    const start = this.end;
    try {
      await this.output.write(bytes);
    } catch (error) {
      const problem = writeProblem(error) ?? `could not be written (${messageOf(error)})`;
      throw new UserError(
        "JOURNAL_WRITE",
        `${this.path}: ${problem}. Nothing done so far is lost: mend that and go on.`,
        {
          cause: error,
        },
      );
    }
    this.end += bytes.length;
    return start;
  }

  /** Flushes it to the disk and closes it. */
  async close(): Promise<void> {
    await this.output.finish();
    if (this.end <= this.headerBytes) await this.remove();
  }

  async remove(): Promise<void> {
    await platform.remove(this.path);
  }
}

/** Bytes of a file up to and with its last line end; 0 if there is no such file. */
async function wholeLines(path: string): Promise<number> {
  const file = await openRandom(path).catch((error: unknown) => {
    if ((error as UserError).code === "FILE_MISSING") return undefined;
    throw error;
  });
  if (!file) return 0;
  try {
    const STEP = 65536;
    for (let end = file.size; end > 0; end = Math.max(0, end - STEP)) {
      const start = Math.max(0, end - STEP);
      const newline = file.read(start, end - start).lastIndexOf(10);
      if (newline >= 0) return start + newline + 1;
    }
    return 0;
  } finally {
    file.close();
  }
}
