import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { Random } from "#base";
import { Dataset } from "#data";
import { FAMILIES, loadNetwork } from "#models";
import { type Exchange, flatWeights, type Recipe, RoundTrainer, resolveRecipe, taskOf, train } from "#training";
import { sha256 } from "../stores/hash.js";
import { MemoryStore } from "../stores/memory.js";
import { MemoryBoard } from "./board.js";
import { Leader } from "./leader.js";
import { readRound, roundKey, workersKey } from "./messages.js";
import { encodeNumbers } from "./precision.js";
import { leadHere } from "./trainings.js";

const home = mkdtempSync(join(tmpdir(), "tabiya-exchange-"));
const games = join(home, "games.bin");
beforeAll(async () => {
  await Dataset.fromPgn("games/lichess.pgn.gz", games, { value: "result" });
  writeFileSync(games, readFileSync(games).subarray(0, 2000 * 40)); // records
}, 180_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const recipeOf = (changes: Record<string, unknown> = {}): Recipe =>
  resolveRecipe(
    { size: "tiny", width: 8, blocks: 1, batchSize: 16, epochs: 2, epochPositions: 160, warmupSteps: 3, resultShare: 1, threads: 1, roundSteps: 4, ema: 0.9, ...changes }, // biome-ignore format: one line of settings
    "test",
  );

const FAST = { pollMs: 5 };
let runs = 0;

/** Trains in a new folder, with so many workers of this program or (0) without an exchange; the folder. */
async function trainWith(recipe: Recipe, workers: number, options: Partial<Parameters<typeof leadHere>[0]> = {}) {
  const run = join(home, `run-${runs++}`);
  const data = await taskOf(recipe.train.family).open([games], recipe, recipe.train.limit);
  const work = (exchange?: Exchange) => train(recipe, { run, data, exchange, now: () => 0 });
  try {
    if (workers === 0) await work();
    else await leadHere({ ...FAST, id: run, recipe, paths: [games], data, workers, ...options }, work);
  } finally {
    await data.close();
  }
  return run;
}

const FILES = ["model.safetensors", "ema.safetensors", "optimizer.safetensors", "metadata.json", "outer.safetensors"];
const bytesIn = (run: string) =>
  FILES.map((file) => join(run, "epoch_002", file)).map((path) => existsSync(path) && readFileSync(path, "base64"));

test("one worker is the training alone, to the last byte of a checkpoint", async () => {
  const [alone, one, two] = [
    await trainWith(recipeOf(), 0),
    await trainWith(recipeOf(), 1),
    await trainWith(recipeOf(), 2),
  ];
  assert.deepEqual(bytesIn(one), bytesIn(alone));
  assert.notDeepEqual(bytesIn(two), bytesIn(alone)); // so the comparison can fail
  for (const file of ["config.json", "metrics.jsonl"])
    assert.equal(
      readFileSync(join(one, file), "utf8").replace(/"positionsPerSecond":[\d.]+/g, ""),
      readFileSync(join(alone, file), "utf8").replace(/"positionsPerSecond":[\d.]+/g, ""),
    );
}, 180_000);

test("two workers take one round each on their own positions; the weights follow the mean by Nesterov's momentum", async () => {
  const recipe = recipeOf({ epochs: 1, epochPositions: 64 }); // one round of four steps
  const run = await trainWith(recipe, 2);
  const built = FAMILIES.residual.build(recipe.model as never, new Random(recipe.train.seed));
  const before = flatWeights(built);
  const data = await taskOf("residual").open([games], recipe, 0);
  const round = { epoch: 1, epochStep: 0, step: 0, steps: 4 };
  const changes: Float32Array[] = [];
  for (const shard of [0, 1]) {
    const trainer = await RoundTrainer.open(recipe, data);
    changes.push((await trainer.run(round, shard, before, () => false))!.difference);
    await trainer.close();
  }
  await data.close();
  assert.notDeepEqual(changes[0], changes[1]);
  const { network } = await loadNetwork(join(run, "epoch_001", "model.safetensors"));
  const after = flatWeights(network);
  // The first step of a momentum m from rest moves by rate * (1 + m) of the mean: 0.7 * 1.9. Running statistics move by the mean.
  const moved = new Set<string>();
  after.forEach((weight, i) => {
    const mean = (changes[0][i] + changes[1][i]) / 2;
    if (Math.abs(mean) < 1e-4) return;
    moved.add(((weight - before[i]) / mean).toFixed(1));
  });
  assert.deepEqual([...moved].sort(), ["1.0", "1.3"]);
}, 180_000);

const FAMILIES_SMALL = {
  moe: { family: "moe", size: "tiny", batchSize: 4 },
  nnue: { family: "nnue", size: "tiny", batchSize: 16, quiet: false },
  decoder: { family: "decoder", size: "tiny", batchSize: 4, context: 2 },
};

for (const [family, settings] of Object.entries(FAMILIES_SMALL)) {
  test(`${family}: two workers take rounds together, and send differences as bytes`, async () => {
    const changes = {
      epochs: 1,
      epochPositions: 4 * settings.batchSize,
      roundSteps: 2,
      threads: 1,
      differences: "int8",
    };
    const recipe = resolveRecipe({ ...settings, ...changes }, "test");
    const [rounds, notes] = [[] as number[], [] as string[]];
    await trainWith(recipe, 2, { onRound: ({ workers }) => rounds.push(workers), note: (text) => notes.push(text) });
    assert.deepEqual(rounds, [2, 2], `${notes}`);
  }, 180_000);
}

/** A leader on a board that the test writes to, as helpers would. */
async function scripted(options: { waitMs?: number; goneMs?: number } = {}) {
  const [board, store, notes] = [new MemoryBoard(), new MemoryStore(), [] as string[]];
  const leader = new Leader({ id: "t", board, store, offer: "", precision: "float32", pollMs: 2, waitMs: 40, note: (text) => notes.push(text), ...options }); // biome-ignore format: a list
  const round = async () => readRound((await board.read(roundKey("t"))).now)!;
  let beat = 0;
  const say = (name: string, given?: object) =>
    board.set(workersKey("t"), name, JSON.stringify({ beat: beat++, have: "", given }));
  const give = async (name: string, id: string, numbers: Float32Array, steps = 10) =>
    say(name, { round: id, steps, loss: 1, reason: "", file: await store.put(encodeNumbers(numbers, "float32")) });
  const begin = (step: number) =>
    leader.begin({ epoch: 1, epochStep: step, step, steps: 10 }, Float32Array.of(step, 0));
  return { board, store, notes, leader, round, say, give, begin };
}

test("a mean is weighed by the steps that each has taken", async () => {
  const { leader, begin, say, give, round } = await scripted();
  await say("a");
  await say("b");
  await begin(0);
  const { id, shards, weights } = await round();
  assert.deepEqual(shards, { a: 1, b: 2 });
  assert.equal(weights, await sha256(new Uint8Array(Float32Array.of(0, 0).buffer)));
  await give("a", id, Float32Array.of(2, 2), 10);
  await give("b", id, Float32Array.of(8, 0), 5); // a slow one
  assert.deepEqual(await leader.end(Float32Array.of(1, 1)), Float32Array.of((10 + 20 + 40) / 25, 30 / 25));
});

test("who is late is named and not waited for; what it sends for a round that is over is dropped", async () => {
  const { leader, begin, say, give, round, notes, store } = await scripted();
  await say("slow");
  await begin(0);
  const late = (await round()).id;
  assert.equal(await leader.end(Float32Array.of(1, 1)), undefined); // as alone
  await give("slow", late, Float32Array.of(9, 9));
  await begin(10);
  assert.equal(await leader.end(Float32Array.of(1, 1)), undefined);
  assert.equal(notes.filter((note) => note === "slow: too late for the round at step 0; dropped").length, 1);
  assert.equal(await store.get(await sha256(encodeNumbers(Float32Array.of(9, 9), "float32"))), undefined); // not kept either
});

test("what cannot be right is refused by name, and the others count", async () => {
  const { leader, begin, say, give, round, notes } = await scripted();
  for (const name of ["short", "wild", "long", "none", "good"]) await say(name);
  await say("../../etc"); // no name of a helper
  await begin(0);
  const { id, shards } = await round();
  assert.deepEqual(Object.keys(shards), ["short", "wild", "long", "none", "good"]);
  await give("short", id, Float32Array.of(1));
  await give("wild", id, Float32Array.of(1, Number.POSITIVE_INFINITY));
  await give("long", id, Float32Array.of(1, 1), 11);
  await say("none", { round: id, steps: 3, loss: 1, reason: "", file: "0".repeat(64) });
  await give("good", id, Float32Array.of(3, 3));
  assert.deepEqual(await leader.end(Float32Array.of(1, 1)), Float32Array.of(2, 2));
  for (const reason of ["short: .* 4 bytes, expected 8", "wild: .* not finite", "long: .* 11 steps in a round of 10", "none: .* missing"]) // biome-ignore format: a list
    assert.ok(
      notes.some((note) => new RegExp(reason).test(note)),
      `${reason} in ${notes}`,
    );
});

test("a helper without a sign of life is gone, and its shard goes to the next that comes", async () => {
  const { leader, begin, say, round, notes } = await scripted({ goneMs: 30 });
  await say("dead");
  await begin(0);
  const start = performance.now();
  assert.equal(await leader.end(Float32Array.of(1, 1)), undefined);
  assert.ok(performance.now() - start < 1000);
  await say("next");
  await begin(10);
  assert.deepEqual((await round()).shards, { next: 1 });
  assert.ok(notes.includes("dead is gone (no sign of life); 1 workers"), `${notes}`);
});

test("what a helper gives before it leaves counts, and then it is gone", async () => {
  const { leader, begin, say, board, round, store, notes } = await scripted();
  await say("leaver");
  await begin(0);
  const { id } = await round();
  const file = await store.put(encodeNumbers(Float32Array.of(4, 4), "float32"));
  const given = { round: id, steps: 5, loss: 1, reason: "", file };
  await board.set(workersKey("t"), "leaver", JSON.stringify({ beat: 9, have: "", leaving: true, given }));
  assert.deepEqual(await leader.end(Float32Array.of(1, 1)), Float32Array.of(2, 2)); // 10 steps of 1 and 5 of 4
  await begin(10);
  assert.deepEqual((await round()).shards, {});
  assert.ok(notes.includes("leaver is gone (it left); 1 workers"), `${notes}`);
  assert.deepEqual(await board.read(workersKey("t")), {});
});
