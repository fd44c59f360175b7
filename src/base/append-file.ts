import { platform } from "#platform";
import { UserError } from "./errors.js";
import type { RawAppend } from "./platform.js";

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
      const code = (error as { code?: string }).code ?? String(error);
      throw new UserError(
        "FILE_WRITE",
        `${this.path}: could not be written (${code}). What was written before is kept: make room, then resume.`,
        { cause: error },
      );
    }
  }

  close(): Promise<void> {
    return this.output.finish();
  }
}
