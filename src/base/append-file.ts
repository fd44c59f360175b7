import { platform } from "#platform";
import { messageOf, UserError } from "./errors.js";
import type { RawAppend } from "./platform.js";
import { writeProblem } from "./write-problem.js";

/** A text file that grows by whole pieces, each on the disk before the next is taken: what must outlive a power cut. */
export class AppendFile {
  private constructor(
    readonly path: string,
    private readonly output: RawAppend,
  ) {}

  /** Opens a file cut to its first `length` bytes; "new" refuses one that exists (FILE_EXISTS). */
  static async open(path: string, length: number | "new"): Promise<AppendFile> {
    return new AppendFile(path, await platform.openAppend(path, length));
  }

  /** Adds a piece; resolves when it is on the disk. Calls must not overlap. */
  async append(text: string): Promise<void> {
    try {
      await this.output.write(new TextEncoder().encode(text));
      await this.output.sync();
    } catch (error) {
      const problem = writeProblem(error) ?? `could not be written (${messageOf(error)})`;
      throw new UserError(
        "FILE_WRITE",
        `${this.path}: ${problem}. What was written before is kept: make room, then resume.`,
        { cause: error },
      );
    }
  }

  close(): Promise<void> {
    return this.output.finish();
  }
}
