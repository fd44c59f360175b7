import { type Pending, UserError } from "#base";

/**
 * One record of a data file, in the shape its JSON twin has. Which fields it has decides its kind:
 *
 * | kind               | fields                                                    |
 * |--------------------|-----------------------------------------------------------|
 * | action_value       | fen, move, win_prob                                       |
 * | state_value        | fen, win_prob                                             |
 * | behavioral_cloning | fen, move                                                 |
 * | scored             | fen, move, score, ply, result (.bin, .binpack, .plain)    |
 * | bullet             | fen, score, result (seen by the mover, as White)          |
 * | move_index         | fen, move_index, value                                    |
 * | policy             | fen, policy ({index: share} or a list), value             |
 * | all_moves          | fen, moves ({uci: centipawns or "#n"})                    |
 * | row                | fen and whatever columns a Parquet table has              |
 *
 * Moves are UCI (e1g1; king takes rook in Chess960). Scores are centipawns, results -1, 0, 1, values -1..1, win
 * probabilities 0..1: all for the side to move.
 */
export interface DataRecord {
  fen: string;
  move?: string | null;
  win_prob?: number;
  score?: number;
  ply?: number;
  result?: number;
  move_index?: number;
  policy?: Record<string, number> | number[];
  value?: number;
  moves?: Record<string, number | string>;
  [column: string]: unknown;
}

/** The kinds of records, by what they know of a position. */
export const RECORD_KINDS = [
  "action_value",
  "state_value",
  "behavioral_cloning",
  "scored",
  "bullet",
  "move_index",
  "policy",
  "all_moves",
  "row",
] as const;
/** A kind of record. */
export type RecordKind = (typeof RECORD_KINDS)[number];

/** The kind of a record, by the fields it has. */
export function kindOf(record: DataRecord): RecordKind {
  const has = (...fields: string[]) => fields.every((field) => record[field] !== undefined);
  if (has("moves")) return "all_moves";
  if (has("policy", "value")) return "policy";
  if (has("move_index", "value")) return "move_index";
  if (has("move", "score", "ply", "result")) return "scored";
  if (has("move", "win_prob")) return "action_value";
  if (has("win_prob")) return "state_value";
  if (has("score", "result")) return "bullet";
  const fields = Object.keys(record).filter((field) => record[field] !== undefined);
  return fields.length === 2 && has("move") ? "behavioral_cloning" : "row";
}

/** Where in a file something is wrong. */
export interface Place {
  path: string;
  record?: number; // the first is 0
  line?: number; // of a text file, from 1
  byte?: number;
}

/** The error of one record: file, record and byte, what was found, what was expected. */
export function badRecord(code: string, { path, record, line, byte }: Place, problem: string): UserError {
  const places = [
    record === undefined ? "" : `record ${record}`,
    line === undefined ? "" : `line ${line}`,
    byte === undefined ? "" : `byte ${byte}`,
  ].filter(Boolean);
  return new UserError(code, `${path}: ${places.join(", ")}: ${problem}`);
}

/** What is done about a bad record: throw (the default of readers), or count and go on. */
export type OnBad = (error: UserError) => void;

/** The usual answer to a bad record: it ends the reading. */
export const throwBad: OnBad = (error) => {
  throw error;
};

/** The records of a file, in batches. */
export interface RecordReader extends AsyncIterable<DataRecord[]> {
  readonly path: string;
  readonly format: string;
  /** How many records there are, if the file tells without being read. */
  readonly records: number | undefined;
  /** Bytes on the disk, and how many of them were read: for progress. */
  readonly size: number | undefined;
  readonly bytesRead: number;
  /** The table of moves that indices refer to, if the file or the caller named one. */
  readonly moves?: string;
}

/** A data file on its way to the disk; see Output of #base. */
export interface RecordWriter extends Pending {
  /** Takes records in order. One that the format cannot hold goes to `onBad` and is left out. */
  write(records: readonly DataRecord[]): Promise<void>;
  /** Records taken so far. */
  readonly records: number;
}

/** A field as a number, or an error that names it. */
export function numberField(record: DataRecord, field: string, minimum: number, maximum: number): number {
  const value = record[field];
  if (typeof value !== "number" || !(value >= minimum && value <= maximum)) {
    throw new UserError(
      "RECORD_FIELD",
      `"${field}" is ${JSON.stringify(value) ?? "missing"}, expected a number from ${minimum} to ${maximum}.`,
    );
  }
  return value;
}

/** A field as a text, or an error that names it. */
export function textField(record: DataRecord, field: string): string {
  const value = record[field];
  if (typeof value !== "string" || value === "") {
    throw new UserError("RECORD_FIELD", `"${field}" is ${JSON.stringify(value) ?? "missing"}, expected a text.`);
  }
  return value;
}
