// What a record teaches, whatever file it comes from.
import { UserError } from "#base";
import { clampScore, type Move, type Position, parseScore, parseUci, scoreOfProbability, winProbability } from "#chess";
import { MOVE_TABLES, type MoveTable, type MoveTableName } from "#encodings";
import type { DataRecord } from "#formats";

/** What is to be learnt of a position; all for the mover. */
export interface Target {
  move: number; // 0 if there is none
  policy?: { table: MoveTable; shares: Readonly<Record<number, number>> }; // of several moves, instead of the one
  score: number;
  value?: number; // -1..1, instead of the score; of self-play, what the search found
  result: number | undefined;
  actions: readonly { move: Move; winProbability: number }[];
}

export const NO_ACTIONS: Target["actions"] = [];

/** Centipawns of a move's value in a record: a number, or "#n" for a mate in n moves. */
export const cpOf = (value: number | string): number => {
  const score = parseScore(value);
  if (score !== undefined) return score;
  throw new UserError("RECORD_FIELD", `a move is valued ${JSON.stringify(value)}, expected centipawns or "#n".`);
};

/** What a record with names teaches of its position; `table` is that of the move numbers in its file. */
export function targetOf(record: DataRecord, position: Position, table: MoveTableName | undefined): Target {
  const legal = (uci: string): Move => {
    const move = parseUci(position, uci);
    if (move === undefined) throw new UserError("RECORD_MOVE", `the move ${uci} is not legal in ${record.fen}.`);
    return move;
  };
  if (record.moves) {
    const actions = Object.entries(record.moves).map(([uci, value]) => {
      const score = cpOf(value);
      return { move: legal(uci), score, winProbability: winProbability(score) };
    });
    const best = actions.reduce((a, b) => (b.score > a.score ? b : a), actions[0]);
    if (!best) throw new UserError("RECORD_FIELD", '"moves" is empty.');
    return { move: best.move, score: best.score, result: undefined, actions };
  }
  // A game of self-play is remembered with its result as the value, and what the search found beside it.
  const found = typeof record.root_value === "number" ? record.root_value : undefined;
  const { value = 0 } = record;
  const valued = {
    score: 0,
    value: found ?? value,
    result: found === undefined ? undefined : value,
    actions: NO_ACTIONS,
  };
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
  if (record.win_prob !== undefined) {
    const probability = record.win_prob;
    const score = clampScore(scoreOfProbability(probability));
    return {
      move,
      score,
      result: undefined,
      actions: move === 0 ? NO_ACTIONS : [{ move, winProbability: probability }],
    };
  }
  const score = record.score ?? 0;
  const isAction = move !== 0 && record.score !== undefined;
  const actions = isAction ? [{ move, winProbability: winProbability(score) }] : NO_ACTIONS;
  return { move, score, result: record.result, actions };
}
