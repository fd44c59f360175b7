import assert from "node:assert/strict";
import { test } from "vitest";
import { formatFen, parseFen, parseUci, START_FEN } from "#chess";
import { MOVE_TABLES } from "#encodings";
import type { DataRecord } from "#formats";
import { RecordChecker } from "./check-records.js";

/** The records of a game that White won, by its first moves; each says what its mover played. */
function gameOf(number: number, words: readonly string[]): DataRecord[] {
  const position = parseFen(START_FEN);
  return words.map((word, ply): DataRecord => {
    const move = parseUci(position, word)!;
    const index = MOVE_TABLES.moves4672.encode(position, move);
    const value = position.turn === "white" ? 1 : -1;
    const record = { fen: formatFen(position), policy: { [index]: 1 }, value, root_value: 0.1, game: number, ply };
    position.play(move);
    return record;
  });
}

function check(records: readonly DataRecord[]) {
  const problems: string[] = [];
  const checker = new RecordChecker("games.jsonl", undefined, ({ message }) => problems.push(message));
  for (const record of records) checker.add(record);
  return { ...checker.counts, first: problems[0] };
}

const WORDS = ["e2e4", "e7e5", "g1f3", "b8c6"];

test("sound games are counted, and every next position follows by a legal move", () => {
  const { first, ...counts } = check([...gameOf(0, WORDS), ...gameOf(1, WORDS.slice(0, 2))]);
  assert.deepEqual([first, counts], [undefined, { records: 6, games: 2, linked: 4, problems: 0 }]);
});

test("each thing that can be wrong with a record is found", () => {
  const wrong = (index: number, change: Partial<DataRecord>) => {
    const records = gameOf(0, WORDS);
    records[index] = { ...records[index], ...change };
    const { problems, first } = check(records);
    assert.ok(problems >= 1);
    return first;
  };
  assert.match(wrong(1, { policy: { 0: 1 } }), /record 2: the policy has move 0, which is not legal in rnbqkbnr/);
  const [share] = Object.keys(gameOf(0, WORDS)[2].policy as object);
  assert.match(wrong(2, { policy: { [share]: 0.9 } }), /adds up to 0.9; expected 1/);
  assert.match(wrong(2, { policy: { [share]: -1 } }), /share of move \d+ is -1/);
  assert.match(wrong(1, { root_value: 1.5 }), /root_value is 1.5; expected -1 to 1/);
  assert.match(wrong(1, { value: 1 }), /ended -1 for White here, and 1 in the record before/); // the opponent's view
  assert.match(wrong(2, { fen: START_FEN }), /no legal move leads from/);
  assert.match(wrong(2, { ply: 1 }), /ply 1 of game 0 comes after ply 1/);
  assert.match(wrong(2, { ply: 3 }), /it is white's turn at ply 3/);
  assert.match(wrong(3, { fen: "8/8/8/8/8/8/8/8 w - - 0 1" }), /record 4: /);
  assert.match(wrong(3, { move: "e2e5" }), /e2e5 is not legal/);
});
