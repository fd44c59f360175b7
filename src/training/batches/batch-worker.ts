import { serve, Transferred } from "#base";
import { WindowEncoder } from "../decoder/window-encoder.js";
import { BatchEncoder, type BatchEncoding } from "./batch-encoder.js";
import { BadRow, type BatchRows, type FileNotes } from "./batch-rows.js";

let encoder: BatchEncoder | WindowEncoder | undefined;

serve({
  configure: ({ encoding, files }: { encoding: BatchEncoding; files: Record<string, FileNotes> }) => {
    encoder = encoding.kind === "windows" ? new WindowEncoder(encoding, files) : new BatchEncoder(encoding, files);
  },
  encode: ({ rows, seed, shuffled }: { rows: BatchRows[]; seed: number; shuffled: boolean }) => {
    if (!encoder) throw new Error("internal: not configured");
    try {
      const arrays = encoder.encode(rows, seed, shuffled);
      const buffers = Object.values(arrays).map((array) => ("data" in array ? array.data : array).buffer);
      return new Transferred({ arrays }, buffers);
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      return { bad: { row: error.row, problem: error.problem } };
    }
  },
});
