import type { UserError } from "#base";
import { badRecord } from "#formats";
import type { DataSource } from "./data-source.js";
import type { GatheredRecords } from "./record-order.js";
import type { RandomRows } from "./record-source.js";

/** All that a family brings to its batches: what a row of its files is, and how rows become numbers. */
export interface RowFormat<B, S extends RandomRows = RandomRows> {
  readonly positionsPerRow: number;
  readonly mixesResults: boolean; // whether a file may have a `resultShare` of its own
  /** Opens a file; more than `limit` of its rows (0: all) are not needed. What must be unpacked goes beside `scratch`. */
  open(path: string, options: { scratch: string; limit: number }): Promise<S>;
  encoder(options: { seed: number; files: readonly DataSource[]; workers: number }): Promise<RowEncoder<B, S>>;
  /** What the order of a file's rows is drawn from, if not from seed and number of the file as usual. */
  orderSeed?(seed: number, file: number): number;
}

/** Makes batches of rows, in this thread or in others. */
export interface RowEncoder<B, S extends RandomRows = RandomRows> {
  encode(rows: AsyncIterable<RowBatch<S>>): AsyncIterable<B>;
  close(): Promise<void>;
}

/** The rows of a batch in the order of the files. */
export interface RowBatch<S extends RandomRows = RandomRows> {
  parts: readonly FileRows<S>[];
  number: number; // of the batch, from 0: all that its random numbers may depend on beside the seed
  shuffled: boolean; // false: as they stand in the files, to judge by
}

export interface FileRows<S extends RandomRows = RandomRows> {
  file: S;
  rows: GatheredRecords;
}

/** A row that cannot be used, by its number in the batch. */
export class BadRow extends Error {
  constructor(
    readonly row: number,
    readonly problem: string,
  ) {
    super(problem);
  }
}

/** What to say of a bad row: its file, its number there and how to do without it. */
export function describeBadRow(
  { row, problem }: Pick<BadRow, "row" | "problem">,
  parts: readonly FileRows[],
  positionsPerRow = 1,
): UserError {
  let left = row;
  for (const { file, rows } of parts) {
    if (left < rows.numbers.length) {
      const advice = `Leave such records out with: tabiya data convert ${file.path} -o NEW`;
      const record = rows.numbers[left] * positionsPerRow;
      return badRecord("DATA_RECORD", { path: file.path, record }, `${problem}\n${advice}`);
    }
    left -= rows.numbers.length;
  }
  throw new Error(`internal: row ${row} is in no file`);
}
