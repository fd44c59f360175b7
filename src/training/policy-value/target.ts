// What a record teaches, whatever file it comes from.
import { UserError } from "#base";
import { clampScore, type Move, type Position, parseUci, scoreOfProbability } from "#chess";
import { MOVE_TABLES, type MoveTable, type MoveTableName } from "#encodings";
import type { DataRecord } from "#formats";
import { cpOf } from "../batches/move-value.js";

/** What is to be learnt of a position; all for the mover. */
export interface Target {
  move: number; // 0 if there is none
  policy?: { table: MoveTable; shares: Readonly<Record<number, number>> }; // of several moves, instead of the one
  score: number;
  value?: number; // -1..1, instead of the score; of self-play, what the search found
  result: number | undefined;
}

/** What a record with names teaches of its position; `table` is that of the move numbers in its file. */
export function targetOf(record: DataRecord, position: Position, table: MoveTableName | undefined): Target {
  const legal = (uci: string): Move => {
    const move = parseUci(position, uci);
    if (move === undefined) throw new UserError("RECORD_MOVE", `the move ${uci} is not legal in ${record.fen}.`);
    return move;
  };
  if (record.moves) {
    const valued = Object.entries(record.moves).map(([uci, value]) => ({ move: legal(uci), score: cpOf(value) }));
    const best = valued.reduce((a, b) => (b.score > a.score ? b : a), valued[0]);
    if (!best) throw new UserError("RECORD_FIELD", '"moves" is empty.');
    return { ...best, result: undefined };
  }
  // A game of self-play is remembered with its result as the value, and what the search found beside it.
  const found = typeof record.root_value === "number" ? record.root_value : undefined;
  const { value = 0 } = record;
  const valued = { score: 0, value: found ?? value, result: found === undefined ? undefined : value };
  if (record.policy) {
    const name = Array.isArray(record.policy) ? "moves4288" : table; // a list says by its length what it is
    if (!name) throw new UserError("RECORD_MOVE", "nothing says which table the numbers of its moves belong to.");
    return { ...valued, move: 0, policy: { table: MOVE_TABLES[name], shares: record.policy } };
  }
  if (record.move_index !== undefined) {
    const move = table && MOVE_TABLES[table].decode(position, record.move_index);
    if (!move)
      throw new UserError("RECORD_MOVE", `the move number ${record.move_index} names no legal move of ${table}.`);
    return { ...valued, move };
  }
  const move = typeof record.move === "string" ? legal(record.move) : 0;
  if (record.win_prob !== undefined)
    return { move, score: clampScore(scoreOfProbability(record.win_prob)), result: undefined };
  return { move, score: record.score ?? 0, result: record.result };
}
