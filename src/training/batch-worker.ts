import { serve, Transferred } from "#base";
import { BadRow, BatchEncoder, type BatchEncoding, type BatchRows } from "./batch-encoder.js";

let encoder: BatchEncoder | undefined;

serve({
  configure: ({
    encoding,
    tables,
  }: {
    encoding: BatchEncoding;
    tables: ConstructorParameters<typeof BatchEncoder>[1];
  }) => {
    encoder = new BatchEncoder(encoding, tables);
  },
  encode: ({ rows, seed }: { rows: BatchRows[]; seed: number }) => {
    if (!encoder) throw new Error("internal: not configured");
    try {
      const arrays = encoder.encode(rows, seed);
      const buffers = Object.values(arrays).map(({ buffer }) => buffer as ArrayBuffer);
      return new Transferred({ arrays }, buffers);
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      return { bad: { row: error.row, problem: error.problem } };
    }
  },
});
