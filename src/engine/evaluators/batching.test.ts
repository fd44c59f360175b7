import assert from "node:assert/strict";
import { test } from "vitest";
import { type Position, parseFen, START_FEN } from "#chess";
import type { Evaluation } from "#search";
import { BatchingEvaluator, type Fit } from "./batching.js";

/** Answers with the number of the position's moves, when it is told to. */
class SlowFit implements Fit {
  readonly runs: { count: number; finish(): void; fail(): void }[] = [];
  closed = false;

  constructor(
    readonly batchSize = 8,
    readonly lanes = 1,
  ) {}

  keyOf = (position: Position) => String(position.key);

  run(positions: readonly Position[]): Promise<Evaluation[]> {
    const answers = positions.map((position) => {
      const moves = position.moves();
      return { value: moves.length / 100, moves, policy: new Float32Array(moves.length).fill(1 / moves.length) };
    });
    return new Promise((resolve, reject) => {
      const fail = () => reject(new Error("broken"));
      this.runs.push({ count: positions.length, finish: () => resolve(answers), fail });
    });
  }

  async close() {
    this.closed = true;
  }
}

const start = parseFen(START_FEN);
const positions = start.moves().map((move) => start.clone().play(move)); // 20
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

test("questions of many are answered in one run, each with its own answer", async () => {
  const fit = new SlowFit();
  const evaluator = new BatchingEvaluator(fit);
  const answers = positions.slice(0, 3).map((position) => evaluator.evaluate([position]));
  await turn();
  assert.deepEqual(
    fit.runs.map(({ count }) => count),
    [3],
  );
  fit.runs[0].finish();
  for (const [i, answer] of answers.entries()) assert.equal((await answer)[0].value, positions[i].moves().length / 100);
});

test("a full batch leaves at once, and no run is larger than a batch", async () => {
  const fit = new SlowFit(6);
  const evaluator = new BatchingEvaluator(fit);
  const all = evaluator.evaluate(positions);
  assert.deepEqual(
    fit.runs.map(({ count }) => count),
    [6, 6, 6],
  );
  fit.runs[0].finish();
  fit.runs[1].finish();
  fit.runs[2].finish();
  await turn();
  assert.deepEqual(
    fit.runs.map(({ count }) => count),
    [6, 6, 6, 2],
  );
  fit.runs[3].finish();
  assert.equal((await all).length, 20);
});

test("a few questions wait for a run under way instead of making a small one", async () => {
  const fit = new SlowFit();
  const evaluator = new BatchingEvaluator(fit);
  const many = evaluator.evaluate(positions.slice(0, 8));
  const one = evaluator.evaluate([positions[8]]);
  await turn();
  assert.equal(fit.runs.length, 1);
  fit.runs[0].finish();
  await many;
  await turn();
  assert.equal(fit.runs[1].count, 1);
  fit.runs[1].finish();
  await one;
});

test("lanes that are free get equal shares of what waits", async () => {
  const fit = new SlowFit(8, 2);
  const evaluator = new BatchingEvaluator(fit);
  // Two batches of one search: put together they would leave a lane idle, and come back together for ever.
  const batches = [evaluator.evaluate(positions.slice(0, 2)), evaluator.evaluate(positions.slice(2, 5))];
  await turn();
  assert.deepEqual(
    fit.runs.map(({ count }) => count),
    [3, 2],
  );
  for (const { finish } of fit.runs) finish();
  await Promise.all(batches);
});

test("a position asked twice is run once, and remembered", async () => {
  const fit = new SlowFit();
  const evaluator = new BatchingEvaluator(fit);
  const [first] = positions;
  assert.equal(evaluator.recall(first), undefined);
  const twice = [evaluator.evaluate([first, first]), evaluator.evaluate([first.clone()])];
  await turn();
  assert.equal(fit.runs[0].count, 1);
  fit.runs[0].finish();
  const [[a, b], [c]] = await Promise.all(twice);
  assert.ok(a === b && b === c);
  assert.equal(evaluator.recall(first), a);
  assert.deepEqual(await evaluator.evaluate([first]), [a]);
  assert.equal(fit.runs.length, 1);
});

test("positions may be changed while their answers are awaited", async () => {
  const fit = new SlowFit();
  const evaluator = new BatchingEvaluator(fit);
  const position = positions[0].clone();
  const count = position.moves().length;
  const answer = evaluator.evaluate([position]);
  position.undo();
  await turn();
  fit.runs[0].finish();
  assert.equal((await answer)[0].moves.length, count);
});

test("a run that fails is heard by all who asked, and does not hold up the others", async () => {
  const fit = new SlowFit();
  const evaluator = new BatchingEvaluator(fit);
  const answers = positions.slice(0, 2).map((position) => evaluator.evaluate([position]));
  await turn();
  fit.runs[0].fail();
  for (const answer of answers) await assert.rejects(answer, /broken/);
  const again = evaluator.evaluate([positions[0]]);
  await turn();
  fit.runs[1].finish();
  assert.equal((await again).length, 1);
});

test("closing waits for the runs under way, and refuses what still waits", async () => {
  const fit = new SlowFit();
  const evaluator = new BatchingEvaluator(fit);
  const many = evaluator.evaluate(positions.slice(0, 8));
  const one = evaluator.evaluate([positions[8]]);
  const closed = evaluator.close();
  await assert.rejects(one, /closed/);
  await turn();
  assert.ok(!fit.closed);
  fit.runs[0].finish();
  await closed;
  assert.ok(fit.closed);
  assert.equal((await many).length, 8);
});
