import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { parseUci } from "#chess";
import { MOST_PUZZLES, Puzzles, PuzzleTry, takePuzzles } from "./puzzles.js";

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split("\n");
}
const file = readFileSync(new URL("../assets/puzzles.csv", import.meta.url), "utf8");
const box = await takePuzzles(linesOf(file), "puzzles.csv");

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

test("the moves of a puzzle that is over can be walked through, and only then", () => {
  const puzzles = new Puzzles(undefined);
  puzzles.load(box.slice(0, 1), "test");
  const { current } = puzzles;
  assert.ok(current);
  const asked = current.tree.current;
  puzzles.go(asked.parent);
  assert.equal(current.tree.current, asked);
  puzzles.solution();
  const last = current.tree.current;
  assert.equal(last.ply, box[0].moves.length);
  puzzles.go(last.parent);
  assert.equal(current.tree.current.ply, last.ply - 1);
  puzzles.go(current.tree.root); // before the opponent's move there is nothing to see
  assert.equal(current.tree.current.ply, last.ply - 1);
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

test("a file that is no list of puzzles is refused in words", async () => {
  await assert.rejects(takePuzzles(linesOf("a,b\n1,2"), "x.csv"), /x\.csv, line 1: "a,b" is no puzzle/);
  await assert.rejects(takePuzzles(linesOf(""), "x.csv"), /x\.csv: there is no puzzle/);
});

test("of a file with millions, so many are taken as a browser can hold, and the rest is not read", async () => {
  const [head, first] = file.split("\n");
  let read = 0;
  async function* endless() {
    yield head;
    for (;;) {
      read++;
      yield first;
    }
  }
  assert.equal((await takePuzzles(endless(), "x.csv")).length, MOST_PUZZLES);
  assert.equal(read, MOST_PUZZLES);
});
