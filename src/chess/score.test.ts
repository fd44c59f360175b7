import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { parseFen, START_FEN } from "./fen.js";
import * as layout from "./layout.js";
import * as score from "./score.js";
import {
  clampEvaluation,
  expectedPoints,
  HIGHEST_CP,
  isMateScore,
  MATE_CP,
  mateScore,
  movesToMate,
  parseScore,
  preferenceOf,
  scoreOfProbability,
  scoreOfValue,
  valueOfScore,
  wdlOfScore,
  winProbability,
} from "./score.js";

/** The whole numbers a file of the core exports, by name. */
const constantsOf = (file: string): Record<string, number> =>
  Object.fromEntries(
    [...readFileSync(file, "utf8").matchAll(/^export const (\w+): \w+ = (\d+);/gm)].map(([, name, value]) => [
      name,
      Number(value),
    ]),
  );

for (const [name, here] of Object.entries({ score, layout })) {
  test(`the core has the numbers of ${name}.ts`, () => {
    const there = constantsOf(`assembly/chess/rules/${name}.ts`);
    assert.ok(Object.keys(there).length >= 2);
    for (const [constant, value] of Object.entries(there))
      assert.equal((here as Record<string, unknown>)[constant], value, constant);
  });
}

test("a mate in n moves ends with the winner's n-th move, being mated in n with the other's", () => {
  assert.deepEqual([1, 2, -1, -2, 0].map(mateScore), [31_999, 31_997, -31_998, -31_996, -32_000]);
  for (const moves of [1, 2, 3, 200, 999, -1, -2, -999]) assert.equal(movesToMate(mateScore(moves)), moves);
});

test("mates begin beyond the highest evaluation", () => {
  assert.ok(!isMateScore(HIGHEST_CP) && !isMateScore(-HIGHEST_CP));
  assert.ok(isMateScore(HIGHEST_CP + 1) && isMateScore(-MATE_CP));
  assert.ok(isMateScore(mateScore(999)) && isMateScore(mateScore(-999))); // the longest that PGN is read for
  assert.equal(movesToMate(HIGHEST_CP), undefined);
  assert.equal(clampEvaluation(MATE_CP), HIGHEST_CP);
});

test("scores, values and probabilities turn into each other", () => {
  for (const cp of [-1500, -35, 0, 1, 400]) {
    assert.ok(Math.abs(scoreOfProbability(winProbability(cp)) - cp) < 1e-6);
    assert.equal(scoreOfValue(valueOfScore(cp)), cp);
    assert.equal(scoreOfValue(valueOfScore(cp, 600), 600), cp);
  }
  assert.equal(valueOfScore(400), Math.tanh(1));
  assert.deepEqual(
    [MATE_CP - 3, 3 - MATE_CP].map((cp) => valueOfScore(cp, 1e9)),
    [1, -1],
  ); // whatever the scale
  assert.ok(!isMateScore(scoreOfValue(1)));
});

test("win, draw and loss add up to a thousand, and mirror each other", () => {
  for (const cp of [-32_000, -333, 0, 7, 120, 30_000])
    for (const material of [0, 10, 78, 103]) {
      const [win, draw, loss] = wdlOfScore(cp, material);
      assert.equal(win + draw + loss, 1000);
      assert.ok(draw >= 0);
      assert.deepEqual(wdlOfScore(-cp, material), [loss, draw, win]);
    }
  assert.equal(expectedPoints([500, 300, 200]), 0.65);
});

test("two pawns win the game at the start, and often not with few pieces left", () => {
  assert.ok(wdlOfScore(200, parseFen(START_FEN).material())[0] > 750);
  assert.ok(wdlOfScore(200, 10)[0] < 400);
});

test("a move's value is centipawns or a mate, and nothing else", () => {
  assert.deepEqual([12, "#3", "#-2"].map(parseScore), [12, 31_995, -31_996]);
  for (const wrong of ["3", "#", "#1.5", "#x", null, undefined]) assert.equal(parseScore(wrong), undefined);
});

test("preferences tell won moves apart, and lost ones, as win probabilities hardly do", () => {
  const [mate, ten, five] = [1, winProbability(1000), winProbability(500)].map((p) => preferenceOf(p, 0.1));
  assert.ok(mate - ten > 0.3 && ten - five > 0.2, `${mate} ${ten} ${five}`);
  assert.ok(Math.abs(preferenceOf(0, 0.1) + preferenceOf(1, 0.1) - 1) < 1e-9); // two sides of one scale
  assert.equal(preferenceOf(0.3, 0), 0.3);
});
