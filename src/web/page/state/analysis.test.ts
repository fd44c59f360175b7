import assert from "node:assert/strict";
import { test } from "vitest";
import { START_FEN } from "#chess";
import type { Report } from "#engine";
import type { MindAsking } from "../minds/mind.js";
import type { Thought } from "../minds/protocol.js";
import { Analysis, dissent, MOST_WATCHERS } from "./analysis.js";

const START = { fen: START_FEN, chess960: false, moves: [] };
const says = (move: string, depth: number, nodes: number): Report => ({
  lines: [{ pv: [move], scoreCp: 10, depth }],
  depth,
  nodes,
  timeMs: 1,
});

/** An analysis whose networks answer when they are told to. */
function prepared() {
  const asked: { asking: MindAsking; answer: (thought: Thought) => void }[] = [];
  const analysis = new Analysis((_, __, ___, ____, asking) => new Promise((answer) => asked.push({ asking, answer })));
  analysis.add("a", "mcts");
  analysis.follow(START);
  analysis.switch(true);
  return { analysis, asked };
}

test("a network is asked at once for the position on the board, and again for the next one", () => {
  const { analysis, asked } = prepared();
  assert.equal(asked.length, 1);
  analysis.follow({ ...START }); // the same
  assert.equal(asked.length, 1);
  analysis.follow({ ...START, moves: ["e2e4"] });
  assert.equal(asked.length, 2);
  assert.equal(asked[0].asking.signal?.aborted, true);
  asked[0].asking.onReport?.(says("e2e4", 3, 100)); // too late
  assert.equal(analysis.watchers[0].report, undefined);
});

test("a tree that was not looked into has no opinion, is asked once more, and says so when its time is over again", async () => {
  const { analysis, asked } = prepared();
  const [a3, b3] = [says("a2a3", 1, 0), says("b2b3", 1, 0)];
  const empty: Report = { ...a3, lines: [...a3.lines, ...b3.lines] };
  asked[0].asking.onReport?.(empty);
  assert.deepEqual(analysis.opinions("white"), []);
  asked[0].answer({ ...empty, move: "a2a3" } as Thought);
  await new Promise(setImmediate);
  assert.equal(analysis.watchers[0].trouble, undefined);
  asked[1].answer({ ...empty, move: "a2a3" } as Thought);
  await new Promise(setImmediate);
  assert.deepEqual(analysis.opinions("white"), []);
  assert.equal(asked.length, 2);
  assert.match(analysis.watchers[0].trouble ?? "", /no time/);
});

test("an only move needs no look", async () => {
  const { analysis, asked } = prepared();
  asked[0].answer({ ...says("a2a3", 1, 0), move: "a2a3" } as Thought);
  await new Promise(setImmediate);
  assert.equal(analysis.opinions("white")[0].verdict.best, "a2a3");
});

test("a network that changes its mind is remembered with the depth", () => {
  const { analysis, asked } = prepared();
  for (const report of [says("e2e4", 1, 10), says("e2e4", 2, 20), says("d2d4", 3, 30)])
    asked[0].asking.onReport?.(report);
  assert.deepEqual(analysis.watchers[0].changes, [{ depth: 3, from: "e2e4", to: "d2d4" }]);
});

test("no more than four networks look at once, and one that is off is not asked", () => {
  const { analysis, asked } = prepared();
  for (let i = 0; i < 6; i++) analysis.add(`n${i}`, "none");
  assert.equal(analysis.watchers.length, MOST_WATCHERS);
  const before = asked.length;
  analysis.toggle(1);
  assert.equal(asked.length - before, MOST_WATCHERS - 1);
});

test("dissent is nothing among those who agree, and half of it is for other moves", () => {
  const same = { best: "e2e4", share: 0.5 };
  assert.equal(dissent([same]), undefined);
  assert.equal(dissent([same, same]), 0);
  assert.equal(dissent([same, { best: "d2d4", share: 0.5 }]), 0.5);
  assert.equal(dissent([same, { best: "d2d4", share: 1 }]), 0.75);
});
