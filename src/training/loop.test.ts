import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished, test } from "vitest";
import { Random, UserError } from "#base";
import { formatFen, formatUci, parseFen, START_FEN } from "#chess";
import { encodePacked } from "#formats";
import { Batches } from "./batches.js";
import { type Recipe, resolveRecipe } from "./config.js";
import { type TrainOptions, train } from "./loop.js";

/** Records of random games, in which the mover always takes the best capture, and its material is the score. */
function randomRecords(count: number, seed: number): Uint8Array {
  const random = new Random(seed);
  const out = new Uint8Array(count * 40);
  let position = parseFen(START_FEN);
  for (let i = 0; i < count; i++) {
    if (position.outcome() || position.halfmoves > 60) position = parseFen(START_FEN);
    const moves = position.moves();
    const best = moves.reduce((a, b) => (position.see(b) > position.see(a) ? b : a));
    const record = { fen: formatFen(position), move: formatUci(position, best), score: position.see(best), ply: 1 };
    encodePacked({ ...record, result: 0 }, out.subarray(i * 40, i * 40 + 40));
    position.play(random.pick(moves));
  }
  return out;
}

const home = mkdtempSync(join(tmpdir(), "tabiya-loop-"));
async function open(name: string, records: Uint8Array) {
  writeFileSync(join(home, name), records);
  const encoding = { kind: "policy-value", planes: "planes18", moves: "moves4672", scoreScale: 400, resultShare: 0 } as const; // biome-ignore format: one line of settings
  return Batches.open({ sources: [join(home, name)], encoding, seed: 1 });
}
const data = await open("data.bin", randomRecords(700, 1));
const others = await open("others.bin", randomRecords(100, 2));
afterAll(async () => {
  await data.close();
  await others.close();
  rmSync(home, { recursive: true });
});

const recipe = (changes: Record<string, unknown> = {}): Recipe =>
  resolveRecipe(
    { size: "tiny", width: 8, blocks: 1, batchSize: 32, epochs: 3, warmupSteps: 5, saveSteps: 7, logSteps: 4, learningRate: 0.01, ema: 0.9, threads: 1, ...changes }, // biome-ignore format: one line of settings
    "test",
  );

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "tabiya-train-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return join(path, "run");
}

const options = (run: string, changes: Partial<TrainOptions> = {}): TrainOptions => ({
  run,
  data,
  validation: others,
  now: () => 1_700_000_000_000,
  ...changes,
});

const FILES = ["model.safetensors", "ema.safetensors", "optimizer.safetensors"];
const bytesOf = (run: string, checkpoint: string) =>
  FILES.map((file) => readFileSync(join(run, checkpoint, file)).toString("base64"));

/** The metrics without what depends on the clock. */
const metricsOf = (run: string) =>
  readFileSync(join(run, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const { values, ...rest } = JSON.parse(line);
      return { ...rest, values: { ...values, positionsPerSecond: 0 } };
    });

test("a run interrupted again and again ends with the weights, metrics and best of one never stopped", async () => {
  const [whole, broken] = [folder(), folder()];
  const undisturbed = await train(recipe(), options(whole));
  assert.equal(undisturbed.stopped, "finished");
  assert.equal(undisturbed.steps, 3 * 21);
  const losses = undisturbed.history.map(({ train_loss }) => train_loss);
  assert.ok(losses[2] < 0.9 * losses[0], `it learns: ${losses}`);
  assert.deepEqual(
    readdirSync(whole).sort(),
    ["best", "config.json", "epoch_001", "epoch_002", "epoch_003", "events.out.tfevents.0.tabiya", "metrics.jsonl"], // biome-ignore format: a listing
  );

  const random = new Random(5);
  let times = 0;
  for (let done = false; !done; times++) {
    const controller = new AbortController();
    let left = 1 + random.below(25);
    const { stopped, steps } = await train(recipe({ saveSteps: 7 + times }), {
      ...options(broken),
      resume: true,
      signal: controller.signal,
      onProgress: () => {
        if (--left === 0) controller.abort();
      },
    });
    done = stopped === "finished";
    if (!done)
      assert.ok(
        readdirSync(broken).some((name) => name.endsWith(String(steps))),
        "the step is saved",
      );
  }
  assert.ok(times > 3, `${times} parts`);
  for (const checkpoint of ["epoch_001", "epoch_003", "best"])
    assert.deepEqual(bytesOf(broken, checkpoint), bytesOf(whole, checkpoint), checkpoint);
  assert.deepEqual(metricsOf(broken), metricsOf(whole));
}, 60_000);

test("a run is not overwritten, nor resumed with other settings or data", async () => {
  const run = folder();
  const short = { epochs: 1, epochPositions: 64 };
  await train(recipe(short), options(run));
  const code = (work: Promise<unknown>) =>
    work.then(
      () => "nothing",
      (error: UserError) => `${error.code} ${error.message}`,
    );
  assert.match(await code(train(recipe(short), options(run))), /^RUN_EXISTS/);
  assert.match(await code(train(recipe({ ...short, clip: 1 }), options(run, { resume: true }))), /clip: 5 then, 1 now/);
  const changed = options(run, { resume: true, data: others });
  assert.match(await code(train(recipe(short), changed)), /^RUN_DIFFERS .*\n.*dataFinger/);
  const again = await train(recipe(short), options(run, { resume: true }));
  assert.equal(again.stopped, "finished");
  assert.equal(again.steps, 2);
});

test("a run begun before there were the settings start and augment goes on as if it had their defaults", async () => {
  const [whole, old] = [folder(), folder()];
  const short = { epochs: 2, epochPositions: 64 };
  await train(recipe(short), options(whole));
  await train(recipe(short), options(old, { onEpoch: () => false }));
  const path = join(old, "config.json");
  const { start, augment, ...rest } = JSON.parse(readFileSync(path, "utf8"));
  assert.deepEqual([start, augment], ["", false]);
  writeFileSync(path, JSON.stringify(rest));
  const other = train(recipe({ ...short, augment: true }), options(old, { resume: true }));
  await assert.rejects(other, /augment: false then, true now/);
  assert.equal((await train(recipe(short), options(old, { resume: true }))).steps, 4);
  assert.deepEqual(bytesOf(old, "epoch_002"), bytesOf(whole, "epoch_002"));
});

test("a loss that is no number stops the run with advice, and the last good checkpoint stays", async () => {
  const run = folder();
  const wild = recipe({ learningRate: 1e30, clip: 0, saveSteps: 1, optimiser: "sgd", warmupSteps: 0 });
  await assert.rejects(train(wild, options(run)), (error) => {
    assert.ok(error instanceof UserError);
    assert.equal(error.code, "TRAIN_NAN");
    assert.match(error.message, /lower learningRate/);
    return true;
  });
});

test("training stops early when validation no longer improves", async () => {
  const { stopped, history } = await train(
    recipe({ learningRate: 1e-12, ema: 0, epochs: 50, epochPositions: 32, patience: 2, valueWeight: 0 }),
    options(folder()),
  );
  assert.equal(stopped, "early");
  assert.ok(history.length < 50);
}, 30_000);

test("gradients of several batches make one step", async () => {
  const { steps } = await train(recipe({ accumulate: 4, epochs: 1 }), options(folder()));
  assert.equal(steps, 5);
});

test("checkpoints are kept as often as asked, a callback ends a run, and another begins with its weights", async () => {
  const [first, second] = [folder(), folder()];
  const short = { epochPositions: 128, saveEpochs: 2, epochs: 5 };
  const { stopped, history } = await train(recipe(short), options(first, { onEpoch: async ({ epoch }) => epoch < 3 }));
  assert.equal(stopped, "early");
  assert.equal(history.length, 3);
  const kept = readdirSync(first).filter((name) => /^(epoch|step|best)/.test(name));
  assert.deepEqual(kept, ["best", "epoch_002", "step_000000012"]);
  const again = await train(recipe({ ...short, epochs: 1, start: first }), options(second));
  assert.ok(again.history[0].train_loss < history[1].train_loss, "it knows what the first one learnt");
  const wider = recipe({ ...short, start: first, width: 16 });
  await assert.rejects(
    train(wider, options(folder())),
    /stem\.weight has shape \[3, 3, 18, 8\], but .* \[3, 3, 18, 16\]/,
  );
}, 120_000);
