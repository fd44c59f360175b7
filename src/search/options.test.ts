import assert from "node:assert/strict";
import { test } from "vitest";
import { declareUciOption, defaultValues, type OptionTable, parseOptionValues } from "./options.js";

const TABLE = {
  hash: { type: "integer", default: 16, min: 1, max: 2048, uci: "Hash", help: "transposition table, MB" },
  cpuct: { type: "number", default: 1.745, min: 0, max: 100, help: "weight of exploration" },
  root: { type: "choice", default: "puct", choices: ["puct", "gumbel"], help: "how the move is chosen" },
  noise: { type: "check", default: false, help: "Dirichlet noise" },
} as const satisfies OptionTable;

test("values not given have their defaults, and types follow the table", () => {
  const values = parseOptionValues("player", TABLE, [
    ["HASH", "64"],
    ["noise", "TRUE"],
  ]);
  assert.deepEqual(values, { ...defaultValues(TABLE), hash: 64, noise: true });
});

test("a wrong name or value says what was expected", () => {
  const read = (name: string, value: string) => () => parseOptionValues('player "x@mcts"', TABLE, [[name, value]]);
  assert.throws(read("cpuckt", "1"), /player "x@mcts": there is no option "cpuckt". Did you mean "?cpuct"?/);
  assert.throws(read("hash", "1.5"), /hash is "1.5", expected a whole number from 1 to 2048/);
  assert.throws(read("cpuct", ""), /expected a number from 0 to 100/);
  assert.throws(read("root", "best"), /expected one of: puct, gumbel/);
  assert.throws(read("noise", "1"), /expected true or false/);
});

test("chess programs are told type, default and range", () => {
  assert.equal(declareUciOption("hash", TABLE.hash), "option name Hash type spin default 16 min 1 max 2048");
  assert.equal(declareUciOption("root", TABLE.root), "option name root type combo default puct var puct var gumbel");
  assert.equal(declareUciOption("cpuct", TABLE.cpuct), "option name cpuct type string default 1.745");
});
