import { UserError } from "#base";
import {
  core,
  formatFen,
  formatUci,
  movesToMate,
  parseFen,
  parseScore,
  parseUci,
  preferenceOf,
  winProbability,
} from "#chess";
import { MOVE_TABLES, type MoveTable, type MoveTableName } from "#encodings";
import type { DataRecord, RecordKind } from "#formats";

import { isQuiet } from "./quiet.js";

type Conversion = (record: DataRecord, table: MoveTable | undefined) => DataRecord[];

/** The share of points a valued move is worth: centipawns, or "#n" for mate in n. */
function probabilityOf(value: number | string): number {
  const score = parseScore(value);
  if (score !== undefined) return winProbability(score);
  throw new UserError(
    "CONVERT_VALUE",
    `the value ${JSON.stringify(value)} is neither centipawns nor a mate like "#3".`,
  );
}

const bestOf = (moves: Record<string, number | string>) =>
  Object.entries(moves)
    .map(([move, value]) => ({ move, win_prob: probabilityOf(value) }))
    .reduce((best, next) => (next.win_prob > best.win_prob ? next : best));

/** The move an index names in the record's position. */
function moveOf(fen: string, index: number, table: MoveTable | undefined): string {
  if (!table) throw new UserError("CONVERT_TABLE", "nothing says which table of moves the numbers refer to: name one.");
  const position = parseFen(fen);
  const move = table.decode(position, index);
  if (move === undefined) {
    throw new UserError("CONVERT_INDEX", `the number ${index} of ${table.name} names no legal move of ${fen}.`);
  }
  return formatUci(position, move);
}

/** The index with the largest share. A list of 4096 or 4288 numbers moves like moves4288. */
function topOf({ fen, policy }: DataRecord, table: MoveTable | undefined): string {
  const shares: [number, number][] = Object.entries(policy!).map(([index, share]) => [Number(index), share]);
  const [index] = shares.reduce((best, next) => (next[1] > best[1] ? next : best));
  return moveOf(fen, index, Array.isArray(policy) ? MOVE_TABLES.moves4288 : table);
}

const POLICY_SCALE = 0.03; // preference that makes a move e times as likely: some 23 centipawns in balanced positions
const POLICY_ODDS = 0.1;
const MATE_DELAY = 0.015; // preference that a mate loses with every move it takes
const SLOWEST_MATE = 20; // moves; what takes longer is no worse

/** How much a move is preferred by its value: won positions still have better moves, and quick mates are the best. */
function worthOf(value: number | string): number {
  const mate = movesToMate(parseScore(value) ?? 0);
  const delay = mate === undefined ? 0 : Math.sign(mate - 0.5) * Math.min(SLOWEST_MATE, Math.abs(mate)) * MATE_DELAY;
  return preferenceOf(probabilityOf(value), POLICY_ODDS) - delay;
}

/** Shares of moves by their values, numbered by moves4672, with the best move and its value. */
function policyOf({ fen, moves }: DataRecord): DataRecord {
  const position = parseFen(fen);
  const worth = Object.entries(moves!).map(([text, value]) => ({ text, preference: worthOf(value) }));
  const best = worth.reduce((found, next) => (next.preference > found.preference ? next : found));
  const weights = worth.map(({ text, preference }) => {
    const move = parseUci(position, text);
    if (move === undefined) throw new UserError("CONVERT_MOVE", `${text} is no legal move of ${fen}.`);
    return {
      index: MOVE_TABLES.moves4672.encode(position, move),
      weight: Math.exp((preference - best.preference) / POLICY_SCALE),
    };
  });
  const sum = weights.reduce((total, { weight }) => total + weight, 0);
  const shares = weights.map(({ index, weight }) => [index, Number((weight / sum).toFixed(5))] as const);
  const policy = Object.fromEntries(shares.filter(([, share]) => share > 0));
  const value = Number((2 * bestOf(moves!).win_prob - 1).toFixed(4));
  return { fen, move: best.text, policy, value };
}

/** The quiet positions behind the moves with what the moves are worth, but for mates: values for networks that look at positions alone. */
function quietChildren({ fen, moves }: DataRecord): DataRecord[] {
  const position = parseFen(fen);
  const ply = 2 * (position.fullmoves - 1) + (position.turn === "white" ? 1 : 2);
  const children: DataRecord[] = [];
  for (const [text, value] of Object.entries(moves!)) {
    const move = parseUci(position, text);
    if (move === undefined) throw new UserError("CONVERT_MOVE", `${text} is no legal move of ${fen}.`);
    if (typeof value !== "number") continue;
    position.play(move);
    core.bytes.set(position.bytes(), core.POSITION);
    if (isQuiet() && position.moves().length > 0)
      children.push({ fen: formatFen(position), move: null, score: -value, ply, result: 0 });
    position.undo();
  }
  return children;
}

const halfway = (value: number) => (value + 1) / 2;

/**
 * What can be made of each kind of record, by the kind wanted. A kind that lacks what the other needs is not here: the value
 * of one move is not that of its position.
 */
const CONVERSIONS: Partial<Record<RecordKind, Partial<Record<RecordKind, Conversion>>>> = {
  action_value: {
    scored: ({ fen, move, score }) => [{ fen, move, win_prob: winProbability(score!) }],
    all_moves: ({ fen, moves }) =>
      Object.entries(moves!).map(([move, value]) => ({ fen, move, win_prob: probabilityOf(value) })),
    move_index: ({ fen, move_index, value }, table) => [
      { fen, move: moveOf(fen, move_index!, table), win_prob: halfway(value!) },
    ],
  },
  state_value: {
    scored: ({ fen, score }) => [{ fen, win_prob: winProbability(score!) }],
    bullet: ({ fen, score }) => [{ fen, win_prob: winProbability(score!) }],
    all_moves: ({ fen, moves }) => [{ fen, win_prob: bestOf(moves!).win_prob }],
    move_index: ({ fen, value }) => [{ fen, win_prob: halfway(value!) }],
    policy: ({ fen, value }) => [{ fen, win_prob: halfway(value!) }],
  },
  behavioral_cloning: {
    scored: ({ fen, move }) => (move === null ? [] : [{ fen, move }]),
    all_moves: ({ fen, moves }) => [{ fen, move: bestOf(moves!).move }],
    move_index: ({ fen, move_index }, table) => [{ fen, move: moveOf(fen, move_index!, table) }],
    policy: (record, table) => [{ fen: record.fen, move: topOf(record, table) }],
  },
  scored: {
    all_moves: quietChildren,
  },
  policy: {
    all_moves: (record) => [policyOf(record)],
  },
};

/** Whether records of one kind can become another. */
export const canConvert = (from: RecordKind, to: RecordKind): boolean =>
  from === to || CONVERSIONS[to]?.[from] !== undefined;

/** The records of another kind that a record becomes: one for most, up to one for each move if every move is valued. */
export function convertRecord(record: DataRecord, from: RecordKind, to: RecordKind, table?: MoveTable): DataRecord[] {
  if (from === to) return [record];
  const conversion = CONVERSIONS[to]?.[from];
  if (!conversion) throw new UserError("CONVERT_KIND", `${from} records do not hold what ${to} records need.`);
  return conversion(record, table);
}

/** The table of moves of that name; an unknown name is an error. */
export function findMoveTable(name: string): MoveTable {
  const table = MOVE_TABLES[name as MoveTableName];
  if (table) return table;
  throw new UserError(
    "TABLE_UNKNOWN",
    `There is no table of moves "${name}". Known are: ${Object.keys(MOVE_TABLES).join(", ")}.`,
  );
}
