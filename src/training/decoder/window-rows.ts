import { concatBytes, UserError } from "#base";
import { eachRecord, joinRecords, type RawBatch } from "#formats";
import { encodeInWorkers } from "../batches/encode-in-workers.js";
import { openRecordSource, packedEnds, type RecordSource } from "../batches/record-source.js";
import type { RowFormat } from "../batches/row-format.js";
import { areThoughts } from "./thought.js";
import type { ThoughtArrays, WindowArrays, WindowEncoding } from "./window-encoder.js";

/** Rows of a decoder: windows of games, and thoughts if it learns them. */
export function windowRows(encoding: WindowEncoding): RowFormat<WindowArrays & Partial<ThoughtArrays>, RecordSource> {
  const positionsPerRow = encoding.context;
  return {
    positionsPerRow,
    mixesResults: true,
    async open(path, { scratch }) {
      const source = await openRecordSource(path, scratch);
      try {
        return windowsOf(source, encoding);
      } catch (error) {
        await source.close();
        throw error;
      }
    },
    encoder({ seed, files, workers }) {
      const resultShares = Object.fromEntries(files.map(({ path, resultShare }) => [path, resultShare]));
      return encodeInWorkers(
        "training/decoder/window-worker",
        { encoding, resultShares },
        { seed, workers, positionsPerRow },
      );
    },
  };
}

/**
 * A file as windows of its games: rows of `context` neighbours each; a rest that fills none is left out. Records that are
 * thoughts are rows of their own.
 */
function windowsOf(source: RecordSource, { context: size, thinking = false }: WindowEncoding): RecordSource {
  if (source.form === "line" && thinking && areThoughts(source.read(0, 1))) return source;
  if (source.form === "bag")
    throw new UserError(
      "DATA_FORM",
      `${source.path}: games are learnt from .bin, .binpack and .jsonl files, whose records follow one another as they were played.\n` +
        "Import games into one of these (tabiya data import).",
    );
  const read = (first: number, count: number): RawBatch => {
    const batch = source.read(first * size, count * size);
    return source.form === "packed" ? { bytes: batch.bytes, ends: packedEnds(count, size) } : joinLines(batch, size);
  };
  return { ...source, count: Math.floor(source.count / size), read };
}

const NEWLINE = Uint8Array.of(10);

/** Lines as rows of `size` lines each. */
function joinLines(batch: RawBatch, size: number): RawBatch {
  const lines = [...eachRecord(batch)];
  const rows = Array.from({ length: lines.length / size }, (_, i) => lines.slice(i * size, (i + 1) * size));
  return joinRecords(rows.map((row) => concatBytes(row.flatMap((line) => [line, NEWLINE]))));
}
