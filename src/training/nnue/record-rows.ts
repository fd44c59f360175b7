import { concatBytes, UserError } from "#base";
import { openRecordSource, type RecordSource } from "../batches/record-source.js";
import { describeBadRow, type RowBatch, type RowFormat } from "../batches/row-format.js";
import type { NnueBatch } from "./trainer.js";

/** Rows of the nnue family: .bin records as they are, which the trainer's threads read. */
export const NNUE_ROWS: RowFormat<NnueBatch, RecordSource> = {
  positionsPerRow: 1,
  mixesResults: false,
  async open(path, { scratch }) {
    const source = await openRecordSource(path, scratch);
    if (source.form === "packed") return source;
    await source.close();
    throw new UserError(
      "DATA_FORM",
      `${path}: networks of this family learn from .bin and .binpack files.\nMake one with: tabiya data convert ${path} -o NEW.bin`,
    );
  },
  encoder: async () => ({
    async *encode(rows) {
      for await (const batch of rows) yield toBatch(batch);
    },
    async close() {},
  }),
};

function toBatch({ parts }: RowBatch): NnueBatch {
  const records = parts.map(({ rows }) => rows.batch.bytes);
  return {
    records: records.length === 1 ? records[0] : concatBytes(records),
    describe: (row) => describeBadRow({ row, problem: "its position is not one of chess." }, parts),
  };
}
