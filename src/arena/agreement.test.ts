import assert from "node:assert/strict";
import { test } from "vitest";
import { parseFen, parseUci, START_FEN, valueOfScore } from "#chess";
import type { Choice, Line } from "#engine";
import { Agreement, expectedScore, parseMoveLabels } from "./agreement.js";

const position = parseFen(START_FEN);
const move = (text: string) => parseUci(position, text)!;
const choice = (...lines: [string, number?][]): Choice => {
  const all: Line[] = lines.map(([first, scoreCp]) => ({ pv: [first], scoreCp }));
  return { move: move(lines[0][0]), timeMs: 0, lines: all };
};

test("the move of a game is looked for among the player's best", () => {
  const agreement = new Agreement(2);
  agreement.add({ position, played: move("e2e4") }, choice(["e2e4"], ["d2d4"]));
  agreement.add({ position, played: move("d2d4") }, choice(["e2e4"], ["d2d4"]));
  agreement.add({ position, played: move("a2a3") }, choice(["e2e4"], ["d2d4"], ["a2a3"]));
  agreement.add({ position, played: move("h2h4") }, choice(["e2e4"]));
  const { positions, moveMatch, topMatch, valueMae, calibrationError, kendallTau } = agreement.report();
  assert.deepEqual([positions, moveMatch, topMatch], [4, 0.25, 0.5]);
  assert.deepEqual([valueMae, calibrationError, kendallTau], [null, null, null]);
});

test("values are compared on the scale of tanh(cp / 400), expectations with what came of them", () => {
  const agreement = new Agreement(1);
  agreement.add({ position, scoreCp: 0, result: 1 }, choice(["e2e4", 400]));
  agreement.add({ position, scoreCp: 400, result: 0.5 }, choice(["e2e4", 400]));
  const { valueMae, valueRmse, calibration, calibrationError } = agreement.report();
  const value = Math.tanh(1);
  assert.ok(Math.abs(valueMae! - value / 2) < 1e-12);
  assert.ok(Math.abs(valueRmse! - value / Math.sqrt(2)) < 1e-12);
  const expected = (1 + value) / 2;
  assert.deepEqual(calibration, [{ from: 0.8, to: 0.9, count: 2, expected, actual: 0.75 }]);
  assert.ok(Math.abs(calibrationError! - (expected - 0.75)) < 1e-12);
});

test("win, draw and loss are taken before the score", () => {
  assert.equal(expectedScore({ wdl: [100, 800, 100], scoreCp: 900 }), 0.5);
  assert.equal(expectedScore({}), undefined);
  assert.equal(expectedScore({ scoreCp: 0 }), 0.5);
});

test("valued moves: any best one is right, the others give something away", () => {
  const { position, moves } = parseMoveLabels(
    '{"fen": "7k/8/8/8/8/8/8/K1R5 w - - 0 1", "moves": {"c1c8": 300, "c1h1": 300, "a1b1": 100, "c1c7": "#3", "a1a2": "#-2"}}',
    "x.jsonl, line 1",
  );
  assert.equal(moves.get(parseUci(position, "c1c7")!), 32000 - 5);
  assert.equal(moves.get(parseUci(position, "a1a2")!), -32000 + 4);
  const agreement = new Agreement(1);
  const pick = (...all: [string, number?][]): Choice => {
    const lines = all.map(([first, scoreCp]) => ({ pv: [first], scoreCp }));
    return { move: parseUci(position, all[0][0])!, timeMs: 0, lines };
  };
  agreement.add({ position, moves }, pick(["c1c7", 900], ["c1c8", 20], ["a1b1", 10], ["a1a2", -10]));
  agreement.add({ position, moves }, pick(["a1b1", 900], ["c1c7", 20], ["a1a2", 10]));
  const { moveMatch, regret, kendallTau } = agreement.report();
  assert.equal(moveMatch, 0.5);
  assert.ok(Math.abs(regret! - (1 - valueOfScore(100)) / 4) < 1e-9);
  assert.ok(Math.abs(kendallTau! - (1 + 1 / 3) / 2) < 1e-12);
  const unscored = new Agreement(1); // a policy ranks moves, and scores the position alone
  unscored.add({ position, moves }, pick(["c1c7", 20], ["a1b1"], ["c1c8"], ["a1a2"]));
  assert.ok(Math.abs(unscored.report().kendallTau! - 4 / 6) < 1e-12); // one pair of six the wrong way
});

test("a line that is no label is named", () => {
  for (const line of ["{", "{}", '{"fen": "x"}', '{"fen": "7k/8/8/8/8/8/8/K7 w - - 0 1", "moves": {"a1a4": 3}}']) {
    assert.throws(() => parseMoveLabels(line, "x.jsonl, line 9"), {
      code: "LABEL_LINE",
      message: /^x\.jsonl, line 9: /,
    });
  }
});
