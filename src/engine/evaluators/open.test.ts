import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { Random } from "#base";
import { parseFen, parseUci, START_FEN, winProbability } from "#chess";
import { MOE_SIZES, Moe, networkBytes, RESIDUAL_SIZES, Residual, randomPositions } from "#models";
import { Mcts } from "#search";
import { openEvaluator } from "./open.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-"));
const residual = join(folder, "residual.safetensors");
const moe = join(folder, "moe.safetensors");
writeFileSync(residual, networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, new Random(1))));
writeFileSync(moe, networkBytes("moe", new Moe(MOE_SIZES.tiny, new Random(2))));

for (const [name, network] of [
  ["residual", residual],
  ["moe", moe],
  ["nnue", "nnue"],
  ["uniform", "uniform"],
  ["rollouts", "rollouts"],
]) {
  test(`the evaluator of ${name} gives every legal move its share, and the same answer alone as in a batch`, async () => {
    const evaluator = await openEvaluator(network, { threads: 1 });
    const other = await openEvaluator(network, { threads: 2 }); // another session, with a memory of its own
    const positions = randomPositions(40, 3);
    const together = await evaluator.evaluate(positions);
    for (const [i, { value, wdl, moves, policy, moveValues }] of together.entries()) {
      assert.ok(value >= -1 && value <= 1);
      assert.deepEqual(moves, positions[i].moves());
      assert.equal(policy.length, moves.length);
      assert.ok(Math.abs(policy.reduce((sum, share) => sum + share, 0) - 1) < 1e-5);
      if (wdl) assert.ok(Math.abs(wdl[0] - wdl[2] - value) < 1e-6);
      if (moveValues) assert.equal(Math.max(...moveValues), value);
    }
    for (const i of [0, 17, 39]) {
      const [alone] = await other.evaluate([positions[i]]);
      assert.ok(Math.abs(alone.value - together[i].value) < 1e-5); // other kernels for other batch sizes
      for (const [k, share] of alone.policy.entries()) assert.ok(Math.abs(share - together[i].policy[k]) < 1e-5);
    }
    await evaluator.close();
    await other.close();
  });
}

test("all who open one network share its answers; the last one closes it", async () => {
  const position = parseFen(START_FEN);
  const [one, two] = await Promise.all([openEvaluator(residual), openEvaluator(residual)]);
  const [answer] = await one.evaluate([position]);
  assert.equal(two.recall(position), answer);
  await one.close();
  await one.close(); // once more is not once too often
  const after = position.clone().play(parseUci(position, "e2e4")!);
  assert.equal((await two.evaluate([after])).length, 1);
  await two.close();
  const three = await openEvaluator(residual);
  assert.equal(three.recall(position), undefined);
  await three.close();
});

test("a position that occurred before is another question to a network that sees it", async () => {
  const path = join(folder, "repetitions.safetensors");
  const config = { ...RESIDUAL_SIZES.tiny, repetitions: true };
  writeFileSync(path, networkBytes("residual", new Residual(config, new Random(1))));
  const evaluator = await openEvaluator(path);
  const position = parseFen(START_FEN);
  await evaluator.evaluate([position]);
  for (const move of ["g1f3", "g8f6", "f3g1", "f6g8"]) position.play(parseUci(position, move)!);
  assert.equal(evaluator.recall(position), undefined);
  await evaluator.close();
});

test("a network that cannot be read is asked for again", async () => {
  const path = join(folder, "later.safetensors");
  await assert.rejects(openEvaluator(path), { code: "FILE_MISSING" });
  writeFileSync(path, networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, new Random(1))));
  await (await openEvaluator(path)).close();
});

test("scores follow the scale of the network's values", async () => {
  const evaluator = await openEvaluator(moe);
  const { lines, moves = [] } = await new Mcts(evaluator).search(parseFen(START_FEN), { nodes: 20 });
  const { value = 0 } = moves[0];
  assert.ok(Math.abs(winProbability(lines[0].scoreCp) - (1 + value) / 2) < 0.002); // whole centipawns
  await evaluator.close();
});

test("the scale of scores is saved with the weights, and used in play", async () => {
  const network = new Residual(RESIDUAL_SIZES.tiny, new Random(1));
  const plain = networkBytes("residual", network);
  network.scoreScale = 400; // as if nothing was said
  assert.deepEqual(networkBytes("residual", network), plain);
  network.scoreScale = 250;
  const path = join(folder, "scaled.safetensors");
  writeFileSync(path, networkBytes("residual", network));
  const [usual, scaled] = await Promise.all([openEvaluator(residual), openEvaluator(path)]);
  assert.deepEqual([usual.scoreScale, scaled.scoreScale], [undefined, 250]);
  await Promise.all([usual.close(), scaled.close()]);
});

test("a static network sees a queen that hangs", async () => {
  const evaluator = await openEvaluator("nnue");
  const position = parseFen("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1");
  const [{ value, moves, policy }] = await evaluator.evaluate([position]);
  assert.ok(value > -0.5);
  assert.equal(moves[policy.indexOf(Math.max(...policy))], parseUci(position, "e4d5"));
  await evaluator.close();
});
