import assert from "node:assert/strict";
import { test } from "vitest";
import { formatFen, parseFen, START_FEN } from "#chess";
import type { ThoughtMove } from "#engine";
import { thoughtTree, variationOf } from "./thoughts.js";

const thought = (...moves: string[]): ThoughtMove[] =>
  moves.map((move, i) => ({ move, value: i / 10, wdl: [400, 300, 300], agreed: true }));

test("variations that begin alike share their first moves", () => {
  const position = parseFen(START_FEN);
  const roots = thoughtTree(position, [thought("e2e4", "e7e5", "g1f3"), thought("d2d4"), thought("e2e4", "c7c5")]);
  assert.deepEqual(
    roots.map(({ text, turns }) => [text, turns]),
    [
      ["1. e4", [0, 2]],
      ["1. d4", [1]],
    ],
  );
  assert.deepEqual(
    variationOf(roots, 2).map(({ text }) => text),
    ["1. e4", "1… c5"],
  );
  assert.match(formatFen(variationOf(roots, 0)[2].after), /5N2/);
});

test("a move that cannot be made ends its variation", () => {
  const roots = thoughtTree(parseFen(START_FEN), [thought("e2e4", "e4e5")]);
  assert.deepEqual(roots[0].children, []);
});
