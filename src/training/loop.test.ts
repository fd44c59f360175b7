import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished, test } from "vitest";
import { Random, UserError } from "#base";
import { formatFen, formatUci, parseFen, START_FEN } from "#chess";
import { encodePacked } from "#formats";
import { FAMILIES, loadNetwork, type Residual } from "#models";
import { parametersOf } from "#tensor";
import { Batches } from "./batches/batches.js";
import type { Recipe } from "./config.js";
import { type TrainOptions, train } from "./loop.js";
import { judgePolicyValue } from "./policy-value/judge.js";
import { planeRows } from "./policy-value/plane-rows.js";
import { resolveRecipe } from "./recipe.js";
import type { MetricsLine } from "./run/metrics-log.js";
import { RunFolder } from "./run/run-folder.js";

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
  const format = planeRows({ planes: "planes18", moves: "moves4672", scoreScale: 400, resultShare: 0 });
  return Batches.open({ sources: [join(home, name)], format, seed: 1 });
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
const metricsOf = async (run: string): Promise<MetricsLine[]> =>
  (await (await RunFolder.open(run)).metrics()).map(({ values, ...rest }) => ({
    ...rest,
    values: { ...values, positionsPerSecond: 0 },
  }));

test("a run interrupted again and again ends with the weights, metrics and best of one never stopped", async () => {
  const [whole, broken] = [folder(), folder()];
  const undisturbed = await train(recipe(), options(whole));
  assert.equal(undisturbed.stopped, "finished");
  assert.equal(undisturbed.steps, 3 * 21);
  const losses = undisturbed.history.map(({ train }) => train.loss);
  assert.ok(losses[2] < 0.9 * losses[0], `it learns: ${losses}`);
  assert.deepEqual(
    readdirSync(whole).sort(),
    ["best", "config.json", "epoch_001", "epoch_002", "epoch_003", "events.out.tfevents.000000.tabiya", "metrics.jsonl", "status.json"], // biome-ignore format: a listing
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
  assert.deepEqual(await metricsOf(broken), await metricsOf(whole));
});

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
  const { state, message } = await (await RunFolder.open(run)).status();
  assert.equal(state, "failed");
  assert.match(message, /lower learningRate/);
});

/** Records of positions by themselves, with their first legal move. */
function recordsOf(fens: readonly string[]): Uint8Array {
  const out = new Uint8Array(fens.length * 40);
  fens.forEach((fen, i) => {
    const position = parseFen(fen);
    const move = formatUci(position, position.moves()[0]);
    encodePacked({ fen, move, score: 0, ply: 1, result: 0 }, out.subarray(i * 40, i * 40 + 40));
  });
  return out;
}

test("training stops after as many epochs without improvement as its patience, and keeps the best", async () => {
  // A network that learns nothing hardly prefers a move: its loss grows with the number of legal moves.
  const judged = await open("judged.bin", recordsOf([
    "7k/6pp/8/8/3QQ3/8/8/K7 w - - 0 1", // 45 moves and more
    "8/8/8/4K3/8/8/8/k7 w - - 0 1", // 8
    "7k/6pp/8/8/3QQ3/8/8/K7 w - - 0 1",
    "7k/8/8/8/8/8/p7/K7 w - - 0 1", // 2: the best
    "8/8/8/4K3/8/8/8/k7 w - - 0 1",
    "7k/6pp/8/8/3QQ3/8/8/K7 w - - 0 1",
    "7k/6pp/8/8/3QQ3/8/8/K7 w - - 0 1",
  ])); // biome-ignore format: a list
  onTestFinished(() => judged.close());
  const losses: unknown[] = [];
  for await (const batch of judged.batches({ size: 1 })) losses.push(batch);
  const validation = {
    positions: 1,
    fingerprint: "one by one",
    async *batches() {
      yield losses.shift();
    },
    close: async () => {},
  };
  const run = folder();
  const still = { learningRate: 1e-12, ema: 0, epochs: 7, epochPositions: 32, valueWeight: 0 };
  const { stopped, history } = await train(recipe({ ...still, patience: 2 }), options(run, { validation }));
  assert.equal(stopped, "early");
  assert.equal(history.length, 6, JSON.stringify(history.map(({ validation }) => validation?.loss)));
  assert.equal(JSON.parse(readFileSync(join(run, "best", "metadata.json"), "utf8")).epoch, 4);
});

test.each([{ threads: 1 }, { threads: 2 }])(
  "gradients of several batches make one step on $threads threads, and a run goes on at the right batch",
  async ({ threads }) => {
    const [whole, broken] = [folder(), folder()];
    const asked: object[] = [];
    let given = 0;
    const counted = {
      positions: data.positions,
      fingerprint: data.fingerprint,
      async *batches(request: { size: number; epoch?: number; perEpoch?: number; from?: number }) {
        asked.push(request);
        for await (const batch of data.batches(request)) {
          given++;
          yield batch;
        }
      },
      close: async () => {},
    };
    const twice = recipe({ accumulate: 4, epochs: 2, threads });
    const { steps } = await train(twice, options(whole, { data: counted }));
    assert.equal(steps, 10);
    assert.equal(given, 40);
    const request = { size: 32, perEpoch: 20, from: 0 };
    assert.deepEqual(asked, [{ ...request, epoch: 0 }, { ...request, epoch: 1 }]); // biome-ignore format: a pair
    const controller = new AbortController();
    const onProgress = ({ step }: { step: number }) => step === 7 && controller.abort();
    await train(twice, options(broken, { signal: controller.signal, onProgress }));
    await train(twice, options(broken, { resume: true }));
    assert.deepEqual(bytesOf(broken, "epoch_002"), bytesOf(whole, "epoch_002"));
  },
);

test("the runs of a step teach the same one after another and at the same time", async () => {
  const losses = async (threads: number) => {
    const { history } = await train(recipe({ accumulate: 4, threads, epochs: 2 }), options(folder()));
    return history.map(({ train }) => train.loss);
  };
  const [alone, shared] = [await losses(1), await losses(2)];
  alone.forEach((loss, i) => {
    assert.ok(Math.abs(loss - shared[i]) < 1e-3, `${alone} ${shared}`); // sums in another order, over ten steps
  });
});

test("the rate follows the schedule over the whole run, and an epoch's loss is the mean of its own steps", async () => {
  const run = folder();
  const settings = recipe({ epochs: 2, epochPositions: 160, logSteps: 1, warmupSteps: 3, finalRate: 0.1 });
  const { history } = await train(settings, options(run));
  const steps = (await metricsOf(run)).filter(({ kind }) => kind === "train");
  assert.equal(steps.length, 10);
  for (const { step, values } of steps) {
    const done = step - 1;
    const cosine = 0.1 + (0.9 * (1 + Math.cos((Math.PI * (done - 3)) / 7))) / 2;
    const expected = 0.01 * (done < 3 ? (done + 1) / 3 : cosine);
    assert.ok(Math.abs(values.learningRate - expected) < 1e-12, `step ${step}: ${values.learningRate}`);
  }
  for (const { epoch, train: trained } of history) {
    const own = steps.filter((each) => each.epoch === epoch).map(({ values }) => values.loss);
    assert.ok(Math.abs(trained.loss - own.reduce((a, b) => a + b) / 5) < 1e-9, `epoch ${epoch}`);
  }
});

test("an epoch is judged by the averaged weights, which differ from the others", async () => {
  const run = folder();
  const settings = recipe({ epochs: 1, epochPositions: 320, ema: 0.99 });
  const { history } = await train(settings, options(run));
  const judge = async (file: string) => {
    const { network } = await loadNetwork(join(run, "epoch_001", file));
    const weights = { policyWeight: 1, valueWeight: 1 };
    return (await judgePolicyValue(network as Residual, others, weights, { batchSize: 32, threads: 1 })).loss;
  };
  const [averaged, plain] = [await judge("ema.safetensors"), await judge("model.safetensors")];
  assert.ok(
    Math.abs((history[0].validation?.loss ?? 0) - averaged) < 1e-6,
    `${history[0].validation?.loss}, not ${averaged}`,
  );
  assert.ok(Math.abs(plain - averaged) > 1e-3, `${plain} and ${averaged}`);
});

test("no step is longer than the rate times the clip", async () => {
  const run = folder();
  const sgd = { optimiser: "sgd", momentum: 0, weightDecay: 0, schedule: "constant", warmupSteps: 0, learningRate: 1 };
  const settings = recipe({ ...sgd, clip: 1e-4, epochs: 1, epochPositions: 96 });
  await train(settings, options(run));
  const { network } = await loadNetwork(join(run, "epoch_001", "model.safetensors"));
  const first = parametersOf(FAMILIES.residual.build(settings.model, new Random(settings.train.seed)));
  let square = 0;
  parametersOf(network).forEach(({ data: weights, trainable }, i) => {
    if (trainable) for (const [k, weight] of weights.entries()) square += (weight - first[i].data[k]) ** 2;
  });
  assert.ok(Math.sqrt(square) < 3.01e-4 && Math.sqrt(square) > 1e-5, `${Math.sqrt(square)}`); // three steps
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
  assert.ok(again.history[0].train.loss < history[1].train.loss, "it knows what the first one learnt");
  const best = history.reduce((a, b) => ((b.validation?.loss ?? 9) < (a.validation?.loss ?? 9) ? b : a));
  assert.deepEqual(again.before, best.validation, "what it began with was judged before the first step");
  assert.equal((await (await RunFolder.open(second)).metrics())[0].step, 0);
  const wider = recipe({ ...short, start: first, width: 16 });
  await assert.rejects(
    train(wider, options(folder())),
    /stem\.weight has shape \[3, 3, 18, 8\], but .* \[3, 3, 18, 16\]/,
  );
});

test("data that fails while a step is computed ends the run by its own message, with what was saved kept", async () => {
  const run = folder();
  const failing = Object.create(data) as typeof data;
  failing.batches = async function* (order) {
    let given = 0;
    for await (const batch of data.batches(order)) {
      if (given++ === 10) throw new UserError("DATA_RECORD", "data.bin: record 320: it is damaged.");
      yield batch;
    }
  };
  await assert.rejects(train(recipe(), options(run, { data: failing })), /record 320: it is damaged/);
  const resumed = await train(recipe(), options(run, { resume: true }));
  assert.equal(resumed.stopped, "finished");
});
