// One JSON object a line, the readable twin of every other format: docs/formats/jsonl.md
import { createOutput, openBytes, readLineBatches, UserError } from "#base";
import { badRecord, type DataRecord, type OnBad, type RecordReader, type RecordWriter, throwBad } from "./record.js";
import { formatSidecar, readSidecar, sidecarOf, withSidecar } from "./sidecar.js";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a record names moves by numbers of a table that nothing in it tells. A list says it by its length. */
const needsTable = (record: DataRecord) => record.move_index !== undefined || isObject(record.policy);

/** What is wrong with a parsed line, or undefined. */
function problemOf(value: unknown): string | undefined {
  if (!isObject(value)) return `it is ${JSON.stringify(value).slice(0, 40)}, expected an object {"fen": ...}.`;
  if (typeof value.fen !== "string") return `"fen" is ${JSON.stringify(value.fen) ?? "missing"}, expected a text.`;
  const { move_index: index, policy } = value;
  if (index !== undefined && !(Number.isInteger(index) && (index as number) >= 0)) {
    return `"move_index" is ${JSON.stringify(index)}, expected a whole number.`;
  }
  if (policy !== undefined) {
    const shares = isObject(policy) ? Object.values(policy) : policy;
    if (!Array.isArray(shares) || !shares.every((share) => typeof share === "number" && share >= 0)) {
      return '"policy" is neither an object of {index: share} nor a list of shares, none below 0.';
    }
    if (Array.isArray(policy) && policy.length !== 4096 && policy.length !== 4288) {
      return `"policy" is a list of ${policy.length} shares, expected 4096 or 4288.`;
    }
  }
  return undefined;
}

/** `moves` names the table of move indices, over what the file's sidecar says. */
export async function openJsonl(
  path: string,
  { moves, onBad = throwBad }: { moves?: string; onBad?: OnBad } = {},
): Promise<RecordReader> {
  const source = await openBytes(path);
  const table = moves ?? (path === "-" ? undefined : await readSidecar(path));
  return {
    path,
    format: "jsonl",
    records: undefined,
    size: source.size,
    moves: table,
    get bytesRead() {
      return source.bytesRead;
    },
    async *[Symbol.asyncIterator]() {
      for await (const { lines, firstLine, firstByte } of readLineBatches(source, path)) {
        const records: DataRecord[] = [];
        for (const [i, line] of lines.entries()) {
          if (line === "") continue;
          let value: unknown;
          let problem: string | undefined;
          try {
            value = JSON.parse(line);
            problem = problemOf(value);
          } catch (error) {
            problem = `no JSON: ${(error as Error).message}`;
          }
          if (problem !== undefined) {
            const before = lines.slice(0, i).reduce((sum, text) => sum + new TextEncoder().encode(text).length + 1, 0);
            onBad(badRecord("JSONL_LINE", { path, line: firstLine + i, byte: firstByte + before }, problem));
            continue;
          }
          const record = value as DataRecord;
          if (table === undefined && needsTable(record)) {
            throw new UserError(
              "JSONL_TABLE",
              `${path}: line ${firstLine + i} names moves by numbers, but nothing says of which table.\n` +
                `Name the table of moves, or write it to a file ${sidecarOf(path)}: {"moves": "moves4672"}.\n` +
                "(OmegaZero's own numbers are omegazero4672; they only look like AlphaZero's.)",
            );
          }
          records.push(record);
        }
        yield records;
      }
    },
  };
}

/** Writes any records; `moves` names the table if they hold move indices, and is kept in a sidecar. */
export async function createJsonl(path: string, moves?: string): Promise<RecordWriter> {
  const output = await createOutput(path);
  let written = 0;
  let indices = false;
  return {
    get records() {
      return written;
    },
    async write(records) {
      for (const record of records) {
        indices ||= needsTable(record);
        const full = output.write(`${JSON.stringify(record)}\n`);
        if (full) await full;
        written++;
      }
    },
    ...withSidecar(path, [output], () =>
      indices && moves !== undefined && path !== "-" ? formatSidecar(moves) : undefined,
    ),
  };
}
