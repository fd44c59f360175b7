import type { UserError } from "#base";
import type { Io } from "./command.js";

const SHOWN = 5;

/** Counts bad records and tells of the first few; nothing is skipped in silence. */
export class BadRecords {
  count = 0;
  first: UserError | undefined;

  constructor(private readonly io: Pick<Io, "note">) {}

  /** For readers and writers, as their `onBad`. */
  readonly add = (error: UserError): void => {
    this.first ??= error;
    if (++this.count <= SHOWN) this.io.note(`left out: ${error.message}`);
  };

  /** The last word, if there were more than were shown. */
  report(): void {
    if (this.count > SHOWN)
      this.io.note(`${this.count} bad records were left out, ${this.count - SHOWN} more like these.`);
  }
}
