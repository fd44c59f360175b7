import assert from "node:assert/strict";
import { test } from "vitest";
import { dissent } from "./analysis.js";
import { PlayedGame } from "./game.js";
import { parseTree } from "./pgn.js";
import { accuracyOf, Review } from "./review.js";

test("a review finds the blunder, who made it, and the move that was better", async () => {
  const game = new PlayedGame({ think: () => Promise.reject(new Error("nobody plays")) });
  game.load(parseTree("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0"));
  const scores: Record<number, number> = { 0: 20, 1: -20, 2: 20, 3: 30, 4: 3000 }; // of the mover, by ply
  const review = new Review();
  await review.run(game, "test", 100, async ({ moves }) => ({
    move: "b8c6",
    lines: [{ pv: [moves.length === 3 ? "b8c6" : "a2a3"], scoreCp: scores[moves.length] }],
    timeMs: 1,
  }));
  assert.equal(review.trouble, undefined);
  assert.deepEqual(
    review.faults.map(({ node, name, best }) => [node.san, name, best]),
    [["Ke7", "blunder", "b8c6"]],
  );
  assert.equal(review.sides!.black.faults.blunder, 1);
  assert.ok(review.sides!.white.accuracy > 90 && review.sides!.black.accuracy < 60);
});

test("a move that gives nothing away is fully accurate", () => {
  assert.ok(accuracyOf(0.5, 0.5) > 99.9);
  assert.ok(accuracyOf(0.9, 0.1) < 5);
});

test("networks that agree have no dissent; two moves and two values are half and half of it", () => {
  assert.equal(dissent([{ best: "e2e4", share: 0.5 }]), undefined);
  assert.equal(dissent([{ best: "e2e4", share: 0.5 }, { best: "e2e4", share: 0.5 }]), 0); // biome-ignore format: one line
  assert.equal(dissent([{ best: "e2e4", share: 1 }, { best: "d2d4", share: 0 }]), 1); // biome-ignore format: one line
});
