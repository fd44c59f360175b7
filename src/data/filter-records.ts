import { atPlace, UserError } from "#base";
import { createRawRecords, eachRecord, joinRecords, type OnBad, openRawRecords } from "#formats";
import { FactReader, type Facts, type MoveKind } from "./facts.js";

/** From and to, both included; undefined is no limit. */
export interface Range {
  from: number | undefined;
  to: number | undefined;
}

/** Which records to keep; what is not given keeps all. Everything is for the side to move. */
export interface RecordFilter {
  score?: Range; // centipawns
  ply?: Range;
  pieces?: Range; // on the board, kings counted
  results?: readonly number[]; // -1, 0, 1
  inCheck?: boolean; // only positions in check, or none
  moves?: readonly MoveKind[]; // kinds that the record's move may be; a record without a move is kept
}

/** The filter of bullet's examples for Stockfish's data: quiet positions with quiet moves, beyond the opening, not yet decided. */
export const BULLET_FILTER: RecordFilter = {
  score: { from: -10_000, to: 10_000 },
  ply: { from: 16, to: undefined },
  inCheck: false,
  moves: ["quiet"],
};

const isWithin = (value: number, { from, to }: Range) =>
  (from === undefined || value >= from) && (to === undefined || value <= to);

/** Why a record is left out, as the key of a count; undefined if it is kept. */
export function refuseRecord(facts: Facts, filter: RecordFilter): string | undefined {
  for (const name of ["ply", "score", "pieces"] as const) {
    const range = filter[name];
    if (range && !isWithin(needed(facts, name), range)) return name;
  }
  if (filter.results && !filter.results.includes(needed(facts, "result"))) return "result";
  if (filter.inCheck !== undefined && facts.inCheck !== filter.inCheck) return filter.inCheck ? "no check" : "check";
  if (filter.moves && facts.move !== undefined && !filter.moves.includes(facts.move)) return `${facts.move} move`;
  return undefined;
}

function needed(facts: Facts, name: "ply" | "score" | "pieces" | "result"): number {
  const value = facts[name];
  if (value !== undefined) return value;
  throw new UserError("FILTER_FIELD", `these records have no ${name}, so they cannot be chosen by it.`);
}

/** How many records were kept, and why others were not. */
export interface FilterResult {
  records: number; // read
  kept: number;
  left: Record<string, number>; // how many were left out, by reason
}

/** Copies the records that a filter keeps, in order and as they are. Broken ones go to `onBad` and are left out. */
export async function filterRecords(
  from: string,
  to: string,
  filter: RecordFilter,
  options: {
    signal: AbortSignal;
    onBad: OnBad;
    onProgress(state: { done: number; total: number | undefined; records: number }): void;
  },
): Promise<FilterResult> {
  const reader = await openRawRecords(from);
  const facts = new FactReader(from, reader.form, options.onBad);
  const writer = await createRawRecords(to, reader.form, from);
  const result: FilterResult = { records: 0, kept: 0, left: {} };
  try {
    for await (const batch of reader) {
      options.signal.throwIfAborted();
      const found = facts.read(batch);
      const kept: Uint8Array[] = [];
      let i = 0;
      for (const bytes of eachRecord(batch)) {
        const fact = found[i++];
        const reason = fact === undefined ? "broken" : refuse(fact, filter, from);
        if (reason === undefined) kept.push(bytes);
        else result.left[reason] = (result.left[reason] ?? 0) + 1;
      }
      result.records += found.length;
      result.kept += kept.length;
      if (kept.length > 0) await writer.write(joinRecords(kept));
      options.onProgress({ done: reader.progress, total: reader.size, records: result.records });
    }
    if (result.kept === 0) throw nothingKept(from, result);
    await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  }
  return result;
}

function refuse(facts: Facts, filter: RecordFilter, path: string): string | undefined {
  return atPlace(path, () => refuseRecord(facts, filter));
}

function nothingKept(path: string, { records, left }: FilterResult): UserError {
  if (records === 0) return new UserError("RECORDS_NONE", `${path}: there is no record in it, so nothing was written.`);
  const reasons = Object.entries(left).map(([reason, count]) => `${reason} ${count}`);
  return new UserError(
    "RECORDS_NONE",
    `${path}: none of its ${records} records is kept, so nothing was written. Left out: ${reasons.join(", ")}.\n` +
      `See what it holds with: tabiya data info ${path}`,
  );
}
