import type { MoveTableName } from "#encodings";
import type { RawBatch, RawForm } from "#formats";

/** What is known of a file beside its records. */
export interface FileNotes {
  moves?: MoveTableName; // of the move indices in it
  resultShare?: number; // instead of that of the encoding
}

/** Records of one form, next to one another in a batch. */
export interface BatchRows {
  form: RawForm;
  batch: RawBatch;
  path: string; // of the file
}

/** A record that cannot be used, by its place in the batch. */
export class BadRow extends Error {
  constructor(
    readonly row: number,
    readonly problem: string,
  ) {
    super(problem);
  }
}
