import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { defaultValues } from "../options.js";
import { GumbelRoot, improvedPolicy, movesToHalve, planHalving, selectByImprovedPolicy } from "./gumbel.js";
import { MCTS_OPTIONS } from "./options.js";
import { ROOT, Tree } from "./tree.js";

const settings = { ...defaultValues(MCTS_OPTIONS), root: "gumbel" as const };
const near = (found: number, expected: number) => assert.ok(Math.abs(found - expected) < 1e-5, `${found}, ${expected}`);

/** A root of value 0.2 with moves of these priors, visits and mean values. */
function treeOf(children: readonly { prior: number; visits: number; value: number }[], own = 0.2): Tree {
  const tree = new Tree();
  const policy = Float32Array.from(children, ({ prior }) => prior);
  tree.expand(ROOT, { value: own, moves: children.map((_, i) => i + 1), policy }, 1, false);
  const first = tree.first[ROOT];
  for (const [i, { visits, value }] of children.entries()) {
    tree.visits[first + i] = visits;
    tree.valueSum[first + i] = visits * value;
  }
  tree.visits[ROOT] = 1 + children.reduce((sum, { visits }) => sum + visits, 0);
  return tree;
}

const THREE = [
  { prior: 0.5, visits: 2, value: 0.4 },
  { prior: 0.3, visits: 1, value: -0.2 },
  { prior: 0.2, visits: 0, value: 0 },
];

test("the improved policy of three moves, by hand", () => {
  // The unvisited move: (0.2 + 3 * (0.5 * 0.4 - 0.3 * 0.2) / 0.8) / 4 = 0.18125. Spread over [0, 1]: 1, 0, 0.635417;
  // times (50 + 2) * 0.1: 5.2, 0, 3.304167; so the weights are 0.5 e^5.2, 0.3 and 0.2 e^3.304167, together 96.3810.
  const policy = improvedPolicy(treeOf(THREE), settings);
  near(policy[0], 90.6361 / 96.381);
  near(policy[1], 0.3 / 96.381);
  near(policy[2], 5.4449 / 96.381);
  near(
    policy.reduce((a, b) => a + b),
    1,
  );
});

test("below the root, the move furthest behind its share of the improved policy is visited next", () => {
  const next = (children: typeof THREE) => selectByImprovedPolicy(treeOf(children), ROOT, settings) - 1;
  assert.equal(next(THREE), 0); // 0.940 - 2/4, 0.003 - 1/4, 0.056 - 0/4
  const even = THREE.map((each, i) => ({ ...each, value: 0.2, visits: [2, 1, 0][i] })); // values say nothing: 0.5, 0.3, 0.2
  assert.equal(next(even), 2); // 0.5 - 2/4, 0.3 - 1/4, 0.2 - 0/4
  assert.equal(next(even.map((each) => ({ ...each, visits: Math.min(each.visits, 1) }))), 2); // 0.5 - 1/3, 0.3 - 1/3, 0.2
});

test("sequential halving shares the simulations as published", () => {
  // google-deepmind/mctx, seq_halving: visits that the chosen move must have had.
  const visits = (moves: number, simulations: number) => {
    const before: number[] = [];
    let done = 0; // visits of each move that remains
    for (const { moves: remaining, until } of planHalving(moves, simulations)) {
      const start = before.length;
      while (before.length < until) before.push(done + Math.floor((before.length - start) / remaining));
      done = before[until - 1] + 1;
    }
    return before;
  };
  assert.deepEqual(visits(4, 8), [0, 0, 0, 0, 1, 1, 2, 2]);
  assert.deepEqual(visits(4, 16), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
  assert.deepEqual(visits(1, 3), [0, 1, 2]);
  assert.deepEqual(visits(3, 5), [0, 0, 0, 1, 1]);
  assert.deepEqual(
    planHalving(16, 64).map(({ moves, until }) => [moves, until]),
    [
      [16, 16],
      [8, 32],
      [4, 48],
      [2, 64],
    ],
  );
});

test("halving begins with few moves where there are few simulations", () => {
  assert.deepEqual(
    [2, 8, 16, 32, 64, 256].map((simulations) => movesToHalve(16, 30, simulations)),
    [2, 2, 4, 8, 16, 16],
  );
  assert.deepEqual([movesToHalve(16, 3, 256), movesToHalve(2, 30, 256), movesToHalve(16, 1, 256)], [3, 2, 1]);
});

test("at the root all moves of a round get a visit, the better half the next, and the best of the most visited is chosen", () => {
  // Values of the moves are known from the first visit on; the policy prefers the first.
  const values = [0, 0.9, -0.5, 0.3, 0.8];
  const tree = treeOf(values.map((_, i) => ({ prior: [0.3, 0.2, 0.2, 0.2, 0.1][i], visits: 0, value: 0 })));
  const first = tree.first[ROOT];
  const children = values.map((_, i) => first + i);
  const root = new GumbelRoot(tree, children, settings, new Random(1));
  root.begin(16);
  const visited: number[] = [];
  while (!root.isOver()) {
    const child = root.select() as number;
    visited.push(child - first);
    tree.visits[child]++;
    tree.valueSum[child] += values[child - first];
  }
  assert.deepEqual(visited.slice(0, 4), [0, 1, 2, 3]); // a quarter of 16, by the policy
  assert.deepEqual([...visited.slice(4, 8)].sort(), [0, 1, 2, 3]);
  assert.deepEqual([...new Set(visited.slice(8))].sort(), [1, 3]);
  assert.equal(root.ranked()[0] - first, 1);
});

test("descents that come to nothing are made up for: the moves of a round get equal visits, and the best one is chosen", () => {
  const values = [0.2, 0.9, -0.5, 0.3, 0.8, 0, 0.1, -0.1];
  const tree = treeOf(values.map(() => ({ prior: 1 / 8, visits: 0, value: 0 })));
  const first = tree.first[ROOT];
  const root = new GumbelRoot(tree, [...values.keys()].map((i) => first + i), settings, new Random(1)); // biome-ignore format: a list
  root.begin(64);
  for (let descents = 0; !root.isOver(); descents++) {
    const child = root.select() as number;
    // Every third descent collides and is taken back, after the next one has begun.
    if (descents % 3 === 0) {
      tree.inflight[child]++;
      const next = root.select();
      if (next !== undefined) {
        tree.visits[next]++;
        tree.valueSum[next] += values[next - first];
      }
      tree.inflight[child]--;
      continue;
    }
    tree.visits[child]++;
    tree.valueSum[child] += values[child - first];
  }
  const [best, second] = root.ranked();
  assert.deepEqual([best - first, second - first], [1, 4]);
  assert.ok(Math.abs(tree.visits[best] - tree.visits[second]) <= 1, `${tree.visits[best]}, ${tree.visits[second]}`);
});

test("without noise two searches choose alike, with it the first round is drawn", () => {
  const chosen = (gumbelNoise: number, seed: number) => {
    const tree = treeOf(THREE.map((each) => ({ ...each, visits: 0 })));
    const first = tree.first[ROOT];
    const root = new GumbelRoot(tree, [first, first + 1, first + 2], { ...settings, gumbelNoise }, new Random(seed));
    root.begin(2);
    return (root.select() as number) - first;
  };
  const seeds = Array.from({ length: 40 }, (_, i) => i + 1);
  assert.deepEqual([...new Set(seeds.map((seed) => chosen(0, seed)))], [0]);
  const drawn = seeds.map((seed) => chosen(1, seed));
  assert.deepEqual([...new Set(drawn)].sort(), [0, 1, 2]);
});
