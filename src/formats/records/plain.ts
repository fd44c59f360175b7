// Stockfish's text form of its training records: lines "fen", "move", "score", "ply", "result", and "e" at the end of each.
import { openBytes, readLineBatches, UserError } from "#base";
import {
  badRecord,
  type DataRecord,
  numberField,
  type OnBad,
  type RecordReader,
  type RecordWriter,
  textField,
  throwBad,
} from "./record.js";
import { findMove, putFen } from "./struct.js";
import { writeEach } from "./write-each.js";

const NUMBERS = { score: [-32768, 32767], ply: [0, 65535], result: [-1, 1] } as const;

/** The record of some lines, without the "e"; throws what is wrong with it. */
function parseRecord(lines: readonly string[]): DataRecord {
  const record: DataRecord = { fen: "" };
  for (const line of lines) {
    const gap = line.indexOf(" ");
    const field = line.slice(0, gap);
    const text = line.slice(gap + 1).trim();
    if (field === "fen") record.fen = text;
    else if (field === "move")
      record.move = text === "a1a1" ? null : text; // how Stockfish writes no move
    else if (field in NUMBERS) record[field] = text === "" ? Number.NaN : Number(text);
    else
      throw new UserError(
        "PLAIN_RECORD",
        `"${line.slice(0, 60)}" is no line of a record (fen, move, score, ply, result, e).`,
      );
  }
  const { fen } = record;
  putFen(textField(record, "fen"));
  if (record.move !== null && findMove(textField(record, "move")) === undefined) {
    throw new UserError("PLAIN_RECORD", `the move ${record.move} is not legal in ${fen}.`);
  }
  for (const [field, [minimum, maximum]] of Object.entries(NUMBERS)) numberField(record, field, minimum, maximum);
  const { move, score, ply, result } = record;
  return { fen, move, score, ply, result };
}

export async function openPlain(path: string, onBad: OnBad = throwBad): Promise<RecordReader> {
  const source = await openBytes(path);
  return {
    path,
    format: "plain",
    records: undefined,
    size: source.size,
    get bytesRead() {
      return source.bytesRead;
    },
    async *[Symbol.asyncIterator]() {
      let lines: string[] = [];
      let line = 0;
      let record = 0;
      const finish = (): DataRecord | undefined => {
        try {
          return parseRecord(lines);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          onBad(badRecord(error.code, { path, record, line: line - lines.length }, error.message));
          return undefined;
        } finally {
          lines = [];
          record++;
        }
      };
      for await (const batch of readLineBatches(source, path)) {
        const records: DataRecord[] = [];
        for (const text of batch.lines) {
          line++;
          if (text !== "e") {
            if (text !== "") lines.push(text);
            continue;
          }
          const found = finish();
          if (found) records.push(found);
        }
        yield records;
      }
      if (lines.length > 0) {
        onBad(badRecord("PLAIN_CUT", { path, record, line }, 'the file ends in the middle of a record (no "e").'));
      }
    },
  };
}

export const createPlain = (path: string, onBad: OnBad = throwBad): Promise<RecordWriter> =>
  writeEach(path, onBad, (record) => {
    const numbers = Object.entries(NUMBERS).map(
      ([field, [minimum, maximum]]) => `${field} ${numberField(record, field, minimum, maximum)}\n`,
    );
    const move = record.move === null ? "a1a1" : textField(record, "move");
    return `fen ${textField(record, "fen")}\nmove ${move}\n${numbers.join("")}e\n`;
  });
