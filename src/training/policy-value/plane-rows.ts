import { readText } from "#base";
import { MOVE_TABLE_NAMES, type MoveTableName } from "#encodings";
import { encodeInWorkers } from "../batches/encode-in-workers.js";
import { openRecordSource, type RecordSource } from "../batches/record-source.js";
import type { RowFormat } from "../batches/row-format.js";
import type { FileNotes, PlaneEncoding, PolicyValueBatch } from "./plane-encoder.js";

/** Rows of networks that learn moves and values: positions as planes. */
export function planeRows(encoding: PlaneEncoding): RowFormat<PolicyValueBatch, RecordSource> {
  return {
    positionsPerRow: 1,
    mixesResults: true,
    open: (path, { scratch }) => openRecordSource(path, scratch),
    async encoder({ seed, files: named, workers }) {
      const files: Record<string, FileNotes> = {};
      for (const { path, resultShare } of named) files[path] = { moves: await moveTableOf(path), resultShare };
      const setup = { encoding, files };
      return encodeInWorkers("training/policy-value/plane-worker", setup, { seed, workers, positionsPerRow: 1 });
    },
  };
}

/** The table of a file with move numbers, from what stands beside it. */
async function moveTableOf(path: string): Promise<MoveTableName | undefined> {
  if (!/\.(jsonl|parquet)/.test(path)) return undefined;
  const text = await readText(`${path}.meta.json`).catch(() => "{}");
  const { moves } = JSON.parse(text) as { moves?: string };
  return MOVE_TABLE_NAMES.find((name) => name === moves);
}
