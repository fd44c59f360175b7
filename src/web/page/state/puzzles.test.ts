import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { parseUci } from "#chess";
import { Puzzles, PuzzleTry, parsePuzzles } from "./puzzles.js";

const box = parsePuzzles(readFileSync(new URL("../assets/puzzles.csv", import.meta.url), "utf8"), "puzzles.csv");

test("the puzzles of the box are all solved by their solutions", () => {
  assert.ok(box.length > 300);
  for (const puzzle of box) {
    const attempt = new PuzzleTry(puzzle);
    while (attempt.state === "solving")
      assert.ok(attempt.try(parseUci(attempt.tree.position, attempt.expected!)!), puzzle.id);
    assert.equal(attempt.state, "solved");
  }
});

test("a wrong move fails the puzzle once, a right one afterwards still solves it", () => {
  const puzzles = new Puzzles(undefined);
  puzzles.load(box.slice(0, 1), "test");
  const { tree, expected } = puzzles.current!;
  const wrong = tree.position.moves().find((move) => move !== parseUci(tree.position, expected!))!;
  assert.equal(puzzles.try(wrong), false);
  assert.deepEqual(puzzles.progress.failed, [box[0].id]);
  const { rating } = puzzles.progress;
  while (puzzles.current!.state !== "solved") {
    const { current } = puzzles;
    puzzles.try(parseUci(current!.tree.position, current!.expected!)!);
  }
  assert.equal(puzzles.progress.rating, rating);
});

test("rating, theme and failures choose among the puzzles", () => {
  const puzzles = new Puzzles(undefined);
  puzzles.load(box, "test");
  puzzles.choose({ from: 1000, to: 1500, theme: "endgame" });
  assert.ok(puzzles.matching.length > 0);
  assert.ok(
    puzzles.matching.every(({ rating, themes }) => rating >= 1000 && rating <= 1500 && themes.includes("endgame")),
  );
  puzzles.choose({ failed: true });
  assert.equal(puzzles.current, undefined);
});

test("a file that is no list of puzzles is refused in words", () => {
  assert.throws(() => parsePuzzles("a,b\n1,2", "x.csv"), /x\.csv: the first line is "a,b"/);
});
