import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { kendallTau, Random } from "#base";
import { formatFen, formatUci, parseFen, preferenceOf, START_FEN, winProbability } from "#chess";
import { bucketCentre, bucketOf, MOVE_TABLES } from "#encodings";
import { createRecords } from "#formats";
import { encodeActionInput, MOE, MOE_SIZES, Moe, type MoeConfig } from "#models";
import { exportOnnx, input, parametersOf, Session, Trainer } from "#tensor";
import type { BatchSource } from "../batches/batch-source.js";
import { Batches } from "../batches/batches.js";
import { train } from "../loop.js";
import { resolveRecipe } from "../recipe.js";
import { type ActionBatch, type ActionRows, actionRows } from "./action-rows.js";
import { judgeActionValue } from "./judge.js";
import { type ActionValueConfig, actionValueObjective } from "./objective.js";
import { ACTION_VALUE } from "./task.js";

const SETTINGS: ActionValueConfig = { ...ACTION_VALUE.defaults, queries: 8 };
const { tiny } = MOE_SIZES;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "tabiya-actions-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Line {
  fen: string;
  moves: Record<string, number | string>;
}

/** Positions of random games, each of whose first few moves is valued by chance. */
function randomLines(count: number, moves: number, seed: number): Line[] {
  const random = new Random(seed);
  const lines: Line[] = [];
  let position = parseFen(START_FEN);
  while (lines.length < count) {
    const legal = random.shuffle(position.moves());
    if (legal.length === 0 || position.outcome()) {
      position = parseFen(START_FEN);
      continue;
    }
    const valued = legal.slice(0, moves).map((move) => [formatUci(position, move), random.below(1200) - 600]);
    lines.push({ fen: formatFen(position), moves: Object.fromEntries(valued) });
    position.play(legal[0]);
  }
  return lines;
}

type SourceOptions = { queries?: number; turned?: boolean; limit?: number; shuffled?: number };

async function sourceOf(lines: readonly object[], options: SourceOptions = {}) {
  const path = join(folder(), "moves.jsonl");
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const { queries = SETTINGS.queries, turned = tiny.turned, limit, shuffled } = options;
  const format = actionRows({ queries, buckets: tiny.buckets, turned });
  const source = await Batches.open({ sources: [path], format, seed: 1, limit, shuffledRows: shuffled });
  onTestFinished(() => source.close());
  return source;
}

async function firstBatch(source: BatchSource<ActionRows>, size = 64): Promise<ActionBatch> {
  for await (const { batch } of source.batches({ size })) return batch;
  throw new Error("no batch");
}

const open = (model: Moe, settings = SETTINGS, learningRate = 0.01) => {
  const { loss, metrics } = actionValueObjective(model, settings);
  return Trainer.open({ model, loss, metrics, optimiser: { name: "adamw", weightDecay: 0 }, learningRate, threads: 1 });
};

for (const target of ["one-hot", "two-hot", "hl-gauss"] as const) {
  test(`64 positions are learnt by heart with ${target} targets, move by move to the right bucket`, async () => {
    const batch = await firstBatch(await sourceOf(randomLines(64, 2, 5), { queries: 2 }));
    const trainer = await open(new Moe(tiny, new Random(1)), { ...SETTINGS, queries: 2, target, sigma: 0.5 });
    let found = 0;
    for (let step = 0; step < 300 && found < 1; step++) found = (await trainer.step(batch)).bucketTop1;
    await trainer.close();
    assert.ok(found > 0.99, `right bucket: ${found}`);
  });
}

test("changing the true values changes no prediction, from the file to the network's answer", async () => {
  const lines = randomLines(20, 8, 3);
  const others = lines.map(({ fen, moves }, i) => ({
    fen,
    moves: Object.fromEntries(Object.keys(moves).map((uci, k) => [uci, (i + k) % 3 === 0 ? "#-2" : 37 * k - 11 * i])),
  }));
  const answers = [];
  const batches = [];
  for (const each of [lines, others]) {
    const batch = await firstBatch(await sourceOf(each));
    batches.push(batch);
    for (const config of [tiny, { ...tiny, experts: 0 }] satisfies MoeConfig[]) {
      const { predicted } = actionValueObjective(new Moe(config, new Random(1)), SETTINGS).judged;
      const session = await Session.open(exportOnnx({ predicted }), { threads: 1 });
      assert.deepEqual(session.inputs.toSorted(), ["actions", "tokens"], "the network is given nothing else");
      answers.push((await session.run({ tokens: batch.tokens, actions: batch.actions })).predicted.data);
      await session.close();
    }
  }
  assert.notDeepEqual(batches[0].bucket, batches[1].bucket);
  assert.deepEqual(batches[0].tokens, batches[1].tokens);
  assert.deepEqual(batches[0].actions, batches[1].actions); // nor does their order tell anything
  assert.deepEqual(answers.slice(2), answers.slice(0, 2));
});

test("room for moves that are not there costs and teaches nothing", async () => {
  const lines = randomLines(16, 5, 4);
  const losses: number[] = [];
  const weights: Float32Array[] = [];
  for (const queries of [5, 9]) {
    const net = new Moe({ ...tiny, experts: 0 }, new Random(2));
    const trainer = await open(net, { ...SETTINGS, queries });
    const batch = await firstBatch(await sourceOf(lines, { queries }));
    losses.push((await trainer.step(batch)).loss, (await trainer.step(batch)).loss);
    await trainer.pull();
    weights.push(
      parametersOf(net)
        .find(({ name }) => name === "head.weight")!
        .data.slice(),
    );
    await trainer.close();
  }
  assert.ok(Math.abs(losses[0] - losses[2]) < 1e-5 && Math.abs(losses[1] - losses[3]) < 1e-5, `${losses}`);
  // Adam divides by the size of a gradient, so rounding in gradients near 0 shows; a step is 0.01.
  assert.ok(weights[0].every((value, i) => Math.abs(value - weights[1][i]) < 1e-3));
});

/** The share of a normal distribution between two bounds, by adding up its density. */
function normalShare(mean: number, deviation: number, low: number, high: number): number {
  const POINTS = 400;
  let sum = 0;
  for (let i = 0; i < POINTS; i++) {
    const x = low + ((high - low) * (i + 0.5)) / POINTS;
    sum += Math.exp(-(((x - mean) / deviation) ** 2) / 2);
  }
  return (sum * (high - low)) / POINTS; // times a constant
}

test("the loss is the cross-entropy against the true bucket, the two nearest centres, or a bell cut at 0 and 1", async () => {
  const net = new Moe({ ...tiny, experts: 0 }, new Random(1));
  const { buckets } = tiny;
  net.head.weight.data.fill(0); // so that every answer is the bias
  const bias = Array.from({ length: buckets }, (_, i) => Math.sin(i * i) + i / 50);
  net.head.bias!.data.set(bias);
  const total = bias.reduce((sum, x) => sum + Math.exp(x), 0);
  const truths = [0, 0.2501, 0.5, 0.77, 0.9999, 1];
  const sigma = 1.5;
  const shares = {
    "one-hot": (p: number) => bias.map((_, i) => (i === bucketOf(p, buckets) ? 1 : 0)),
    "two-hot": (p: number) =>
      bias.map((_, i) => {
        const inside = Math.max(bucketCentre(0, buckets), Math.min(bucketCentre(buckets - 1, buckets), p));
        return Math.max(0, 1 - Math.abs(inside - bucketCentre(i, buckets)) * buckets);
      }),
    "hl-gauss": (p: number) => {
      const parts = bias.map((_, i) => normalShare(p, sigma / buckets, i / buckets, (i + 1) / buckets));
      const whole = parts.reduce((a, b) => a + b);
      return parts.map((part) => part / whole);
    },
  };
  for (const target of ["one-hot", "two-hot", "hl-gauss"] as const) {
    const { judged } = actionValueObjective(net, { ...SETTINGS, queries: 1, target, sigma });
    const session = await Session.open(exportOnnx({ loss: judged.loss }), { threads: 1 });
    for (const p of truths) {
      const feeds = { tokens: new Int32Array(77), actions: Int32Array.of(0) };
      const known = { bucket: Int32Array.of(bucketOf(p, buckets)), winProbability: Float32Array.of(p) };
      const names = new Set(session.inputs);
      const all = Object.fromEntries(Object.entries({ ...feeds, ...known }).filter(([name]) => names.has(name)));
      const found = Number((await session.run(all)).loss.data[0]);
      const expected = -shares[target](p).reduce((sum, share, i) => sum + share * (bias[i] - Math.log(total)), 0);
      assert.ok(Math.abs(found - expected) < 1e-3, `${target}, ${p}: ${found}, not ${expected}`); // erf of 32 bits
    }
    await session.close();
  }
});

test("the loss is what is learnt plus the weighed balance, averaged over the layers", async () => {
  const trainer = await open(new Moe(tiny, new Random(2)), { ...SETTINGS, balanceWeight: 0.5 });
  const { loss, valueLoss, balance } = await trainer.step(await firstBatch(await sourceOf(randomLines(16, 8, 4))));
  await trainer.close();
  assert.ok(balance >= 1 && balance < 2, `${balance}`);
  assert.ok(Math.abs(loss - (valueLoss + 0.5 * balance)) < 1e-5, `${loss}`); // single precision
});

test("the ranking term compares the policies that true and found values make, over the moves that are there", async () => {
  const [weight, scale, odds] = [0.5, 0.1, 0.2];
  const settings = { ...SETTINGS, balanceWeight: 0, rankingWeight: weight, rankingScale: scale, rankingOdds: odds };
  const net = new Moe(tiny, new Random(2));
  const batch = await firstBatch(await sourceOf(randomLines(6, 5, 4))); // 5 moves in room for 8
  const judge = await Session.open(exportOnnx({ value: actionValueObjective(net, settings).judged.predicted }));
  const found = (await judge.run({ tokens: batch.tokens, actions: batch.actions })).value.data as Float32Array;
  await judge.close();
  const policy = (values: readonly number[]) => {
    const powers = values.map((value) => Math.exp(preferenceOf(value, odds) / scale));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  };
  const rows = Array.from({ length: 6 }, (_, row) => {
    const at = Array.from({ length: 8 }, (_, i) => row * 8 + i).filter((i) => batch.weight[i] > 0);
    const [wanted, guessed] = [batch.winProbability, found].map((values) => policy(at.map((i) => values[i])));
    return -wanted.reduce((sum, share, i) => sum + share * Math.log(guessed[i]), 0);
  });
  const expected = rows.reduce((a, b) => a + b) / rows.length;
  const trainer = await open(net, settings);
  const { loss, valueLoss, ranking } = await trainer.step(batch);
  await trainer.close();
  assert.ok(Math.abs(ranking - expected) < 1e-5, `${ranking}, not ${expected}`); // single precision
  assert.ok(Math.abs(loss - (valueLoss + weight * ranking)) < 1e-5, `${loss}`);
});

test("every expert learns, and the balance loss evens out how often each is asked", async () => {
  const net = new Moe({ ...tiny, layers: 2, experts: 4, topK: 1 }, new Random(6));
  for (const layer of net.layers) {
    const { weight } = layer.experts!.router;
    for (let i = 0; i < weight.data.length; i++) weight.data[i] *= 4; // opinionated routers
  }
  const before = parametersOf(net).map(({ name, data }) => ({ name, data: data.slice() }));
  const trainer = await open(net, { ...SETTINGS, balanceWeight: 1 }, 0.005);
  const batch = await firstBatch(await sourceOf(randomLines(64, 8, 9)));
  const balances: number[] = [];
  for (let step = 0; step < 40; step++) balances.push((await trainer.step(batch)).balance);
  await trainer.pull();
  await trainer.close();
  assert.ok(balances[0] > 1.15, `uneven at first: ${balances[0]}`);
  assert.ok(balances[39] - 1 < 0.3 * (balances[0] - 1), `${balances[0]} -> ${balances[39]}`);
  for (const { name, data } of parametersOf(net).filter((each) => /experts\.(gate|up|down)/.test(each.name))) {
    const old = before.find((each) => each.name === name)!.data;
    const size = data.length / 4;
    for (let expert = 0; expert < 4; expert++) {
      const changed = data
        .subarray(expert * size, (expert + 1) * size)
        .some((value, i) => value !== old[expert * size + i]);
      assert.ok(changed, `${name}, expert ${expert}`);
    }
  }
});

test("all moves of a position are judged, however many rows they take", async () => {
  const lines = randomLines(6, 100, 2);
  const source = await sourceOf(lines);
  const truth = lines.map(({ moves }) => Object.values(moves) as number[]);
  const judged = await judgeActionValue(new Moe(tiny, new Random(1)), source, SETTINGS, { batchSize: 4, threads: 1 });
  assert.equal(judged.positions, 6);
  assert.equal(judged.moves, truth.flat().length);
  assert.ok(judged.loss > 4 && judged.loss < 6); // log 128 is 4.85
  assert.ok(Math.abs(judged.kendallTau) < 0.5);
  const first = await judgeActionValue(new Moe(tiny, new Random(1)), source, SETTINGS, { limit: 2, threads: 1 });
  assert.equal(first.moves, truth.slice(0, 2).flat().length);
});

test("the judge's numbers are those of its definitions", async () => {
  const net = new Moe(tiny, new Random(7));
  const fens = randomLines(5, 1, 6).map(({ fen }) => fen);
  const answer = net.forward(input("tokens", [1, 77], "int32"), input("actions", [1, "q"], "int32"));
  const asking = await Session.open(exportOnnx({ logits: answer.logits, value: net.values(answer) }), { threads: 1 });
  const positions: { fen: string; truths: number[]; values: number[]; ucis: string[] }[] = [];
  for (const fen of fens) {
    const position = parseFen(fen);
    const { tokens, numberOf } = encodeActionInput(position, true);
    const moves = position.moves();
    const actions = Int32Array.from(moves, (move) => numberOf(MOVE_TABLES.actions1968.encode(position, move)));
    const { logits, value } = await asking.run({ tokens: Int32Array.from(tokens), actions });
    // The k-th move is truly worth the bucket that the network finds likeliest but k % 8.
    const truths = moves.map((_, k) => {
      const row = Array.from(logits.data.slice(k * 128, (k + 1) * 128) as Float32Array, (x, i) => [x, i]);
      return bucketCentre(row.sort((a, b) => b[0] - a[0])[k % 8][1], 128);
    });
    positions.push({ fen, truths, values: Array.from(value.data as Float32Array), ucis: moves.map((move) => formatUci(position, move)) }); // biome-ignore format: a record
  }
  await asking.close();
  const records = positions.flatMap(({ fen, ucis, truths }) =>
    ucis.map((move, k) => ({ fen, move, win_prob: truths[k] })),
  );
  const judged = await judgeActionValue(net, await sourceOf(records), SETTINGS, { batchSize: 3, threads: 1 });
  const count = records.length;
  const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const near = (a: number, b: number) => assert.ok(Math.abs(a - b) < 1e-5, `${a}, not ${b}`); // single precision
  const within = (k: number) => mean(positions.flatMap(({ ucis }) => ucis.map((_, i) => (i % 8 < k ? 1 : 0))));
  const errors = positions.flatMap(({ values, truths }) => values.map((value, i) => value - truths[i]));
  assert.equal(judged.moves, count);
  near(judged.bucketTop1, within(1));
  near(judged.bucketTop5, within(5));
  near(judged.valueMae, mean(errors.map(Math.abs)));
  near(judged.valueRmse, Math.sqrt(mean(errors.map((error) => error * error))));
  near(judged.kendallTau, mean(positions.map(({ values, truths }) => kendallTau(values, truths)!)));
  const lost = positions.map(({ values, truths }) => Math.max(...truths) - truths[values.indexOf(Math.max(...values))]);
  near(judged.regret, mean(lost));
  near(judged.bestMove, mean(lost.map((loss) => (loss === 0 ? 1 : 0))));
  assert.ok(judged.regret > 0);
});

test("of many moves others are drawn each time, each with its own value", async () => {
  const [{ fen }] = randomLines(1, 1, 6);
  const position = parseFen(fen);
  const legal = position.moves();
  const values = new Map(legal.map((move, k) => [MOVE_TABLES.actions1968.encode(position, move), 20 * k - 300]));
  const moves = Object.fromEntries(legal.map((move, k) => [formatUci(position, move), 20 * k - 300]));
  const source = await sourceOf([{ fen, moves }], { turned: false, queries: 4 });
  const drawn: string[] = [];
  for (let epoch = 0; epoch < 12; epoch++) {
    for await (const { batch } of source.batches({ size: 1, epoch })) {
      const { actions, winProbability: p } = batch;
      drawn.push(String(actions));
      assert.equal(new Set(actions).size, 4);
      actions.forEach((action, i) => {
        assert.equal(p[i], Math.fround(winProbability(values.get(action) ?? Number.NaN)));
      });
    }
  }
  assert.ok(new Set(drawn).size > 8, `${drawn.length} times, ${new Set(drawn).size} sets`);
  assert.ok(new Set(drawn.join().split(",")).size > 0.7 * legal.length, "most moves were asked about");
  const reversed = Object.fromEntries(Object.entries(moves).reverse());
  const other = await sourceOf([{ fen, moves: reversed }], { turned: false, queries: 4 });
  assert.equal(other.fingerprint, source.fingerprint, "the order of the moves in the file does not matter");
});

test("values become win probabilities and buckets; neighbours of one position are joined; other records are refused", async () => {
  const fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
  const lines = [
    { fen, moves: { e1g1: 100, a1a8: "#3", e1h1: 100 } }, // castling twice, in both spellings
    { fen, move: "e1c1", win_prob: 0.25 },
    { fen: START_FEN, move: "e2e4", score: 30 },
  ];
  const source = await sourceOf(lines, { turned: false, queries: 4 });
  const { actions, bucket, winProbability: probabilities, weight } = await firstBatch(source);
  assert.equal(source.positions, 2);
  assert.deepEqual([...weight], [1, 1, 1, 0, 1, 0, 0, 0]);
  assert.equal(actions[4], 317); // e2e4 in actions1968
  const wanted = [0.25, winProbability(100), 1].map((value) => bucketOf(value, tiny.buckets));
  assert.deepEqual(
    [...bucket.subarray(0, 3)].toSorted((a, b) => a - b),
    wanted,
  );
  assert.ok([...probabilities].some((value) => Math.abs(value - winProbability(30)) < 1e-6));
  await assert.rejects(sourceOf([{ fen, moves: { e1e3: 1 } }]), /record 0.*e1e3 is not legal/s);
  await assert.rejects(sourceOf([{ fen, moves: { e1e2: "mate" } }]), /valued "mate"/);
  await assert.rejects(sourceOf([{ fen }]), /no move with a value/);
  await assert.rejects(sourceOf([{ fen, move: "e1e2", win_prob: 1.5 }]), /win probability of e1e2 is 1.5/);
  const missing = {
    sources: ["nowhere/moves.jsonl"],
    format: actionRows({ queries: 1, buckets: 8, turned: true }),
    seed: 1,
  };
  await assert.rejects(Batches.open(missing), /nowhere\/moves\.jsonl: no such file/);
});

test("lines in the usual form are read like any other JSON", async () => {
  const usual = randomLines(60, 100, 8);
  usual[3].moves[Object.keys(usual[3].moves)[0]] = "#-12";
  usual.push({ fen: "1r5k/P7/8/8/8/8/8/K7 w - - 12 80", moves: { a7a8q: 700, a7b8n: "#3", a7a8r: -5 } });
  const other = usual.map(({ fen, moves }) => ({ moves, fen })); // the other order of the two is unusual
  for (const turned of [true, false]) {
    const [a, b] = [await sourceOf(usual, { turned }), await sourceOf(other, { turned })];
    assert.equal(a.fingerprint, b.fingerprint);
    assert.equal(a.positions, 61);
    assert.deepEqual(await firstBatch(a), await firstBatch(b));
  }
});

test("files are mixed by their weights, whatever their format, and have no results to share", async () => {
  const home = folder();
  const [many, few] = [randomLines(60, 1, 31), randomLines(20, 1, 32)];
  const path = join(home, "many.jsonl");
  writeFileSync(path, many.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const bag = join(home, "few.bag");
  const writer = await createRecords(bag, { kind: "action_value" });
  await writer.write(few.map(({ fen, moves }, i) => ({ fen, move: Object.keys(moves)[0], win_prob: i / 20 })));
  await writer.commit();
  const format = actionRows({ queries: 1, buckets: tiny.buckets, turned: true });
  const open = (...sources: string[]) => Batches.open({ sources, format, seed: 1 });
  const source = await open(`${path}?weight=1`, `${bag}?weight=3`);
  onTestFinished(() => source.close());
  assert.equal(source.positions, 80);
  const seen = new Map<number, number>();
  for await (const { batch } of source.batches({ size: 20, epoch: 0 }))
    for (const p of batch.winProbability) seen.set(p, (seen.get(p) ?? 0) + 1);
  const times = few.map((_, i) => seen.get(Math.fround(i / 20)) ?? 0);
  assert.deepEqual(times, new Array(20).fill(3)); // three quarters of 80 rows
  await assert.rejects(open(`${path}?resultShare=1`), /many\.jsonl: networks of this family do not take a resultShare/);
});

test("every position comes once a pass, shuffled in windows of blocks; a batch follows from its number alone", async () => {
  // Each position has one move, valued by its number, by which it is known again.
  const lines = randomLines(1000, 1, 21).map(({ fen, moves }, i) => ({ fen, moves: { [Object.keys(moves)[0]]: i } }));
  const source = await sourceOf(lines, { queries: 1, shuffled: 512 });
  const seen = async (options: { epoch?: number; from?: number; perEpoch?: number }) => {
    const found: number[][] = [];
    for await (const { batch } of source.batches({ size: 100, ...options }))
      found.push(
        Array.from(batch.winProbability, (x) => lines.findIndex((_, i) => Math.fround(winProbability(i)) === x)),
      );
    return found;
  };
  const sorted = (numbers: number[][]) => numbers.flat().toSorted((a, b) => a - b);
  const all = lines.map((_, i) => i);
  const [first, second] = [await seen({ epoch: 0 }), await seen({ epoch: 1 })];
  assert.deepEqual(sorted(first), all);
  assert.deepEqual(sorted(second), all);
  assert.notDeepEqual(first, second);
  assert.ok(first.flat().filter((number, i) => Math.abs(number - i) < 50).length < 300, "shuffled");
  assert.deepEqual(await seen({ epoch: 1, from: 7 }), second.slice(7));
  assert.deepEqual(await seen({ epoch: 4, perEpoch: 2, from: 1 }), first.slice(9));
  assert.deepEqual((await seen({})).flat(), all);
});

test("a fingerprint tells other values, moves and positions; a limit takes the first positions, each whole", async () => {
  const lines = randomLines(20, 5, 13);
  const { fen, moves } = lines[7];
  const [uci, score] = Object.entries(moves)[0];
  const { [uci]: _, ...fewer } = moves;
  const kinds = [
    lines,
    lines.with(7, { fen, moves: { ...moves, [uci]: Number(score) + 1 } }),
    lines.with(7, { fen, moves: fewer }),
    lines.toSpliced(7, 1),
    lines.toSpliced(7, 2, lines[8], lines[7]),
  ];
  const fingerprints = new Set<string>();
  for (const kind of kinds) fingerprints.add((await sourceOf(kind)).fingerprint);
  assert.equal(fingerprints.size, kinds.length);
  // The moves of a position in records of their own: the last one's must not be cut off.
  const singles = lines.flatMap(({ fen, moves }) =>
    Object.entries(moves).map(([uci, score]) => ({ fen, move: uci, score })),
  );
  const [whole, part] = [await sourceOf(lines.slice(0, 7)), await sourceOf(singles, { limit: 7 })];
  assert.equal(part.positions, 7);
  assert.equal(part.fingerprint, whole.fingerprint);
  assert.deepEqual(await firstBatch(part), await firstBatch(whole));
});

test("a run stopped and resumed ends with the weights of one never stopped, and each epoch is judged", async () => {
  const source = await sourceOf(randomLines(96, 12, 11));
  const unseen = await sourceOf(randomLines(16, 12, 12));
  const recipe = resolveRecipe(
    { family: "moe", size: "tiny", queries: 8, batchSize: 16, epochs: 2, warmupSteps: 2, ema: 0.9, threads: 1 },
    "test",
  );
  const path = folder();
  const options = (run: string) => ({ run: join(path, run), data: source, validation: unseen, now: () => 1e12 });
  const whole = await train(recipe, options("whole"));
  assert.equal(whole.history.length, 2);
  assert.equal(typeof whole.history[1].validation?.kendallTau, "number");
  const controller = new AbortController();
  let left = 8;
  const onProgress = () => {
    if (--left === 0) controller.abort();
  };
  const part = await train(recipe, { ...options("parts"), signal: controller.signal, onProgress });
  assert.equal(part.stopped, "interrupted");
  assert.equal((await train(recipe, { ...options("parts"), resume: true })).stopped, "finished");
  for (const file of ["model.safetensors", "ema.safetensors", "optimizer.safetensors"]) {
    const [a, b] = ["whole", "parts"].map((run) => readFileSync(join(path, run, "epoch_002", file)));
    assert.ok(a.equals(b), file);
  }
});

test("a recipe knows the settings of its family alone", () => {
  const moe = { family: "moe", size: "published" };
  const { task, model } = resolveRecipe({ ...moe, target: "two-hot", experts: 4 }, "a.yaml");
  assert.equal(ACTION_VALUE.parse(task).target, "two-hot");
  assert.equal(MOE.parse(model).experts, 4);
  assert.throws(() => resolveRecipe({ ...moe, policyWeight: 1 }, "a.yaml"), /no setting "policyWeight"/);
  assert.throws(() => resolveRecipe({ quries: 1, ...moe }, "a.yaml"), /Did you mean "queries"\?/);
  assert.throws(() => resolveRecipe({ queries: 8 }, "a.yaml"), /no setting "queries"/); // of residual
  assert.throws(() => resolveRecipe({ ...moe, target: "soft" }, "a.yaml"), /target is "soft"/);
  assert.throws(() => resolveRecipe({ ...moe, topK: 9 }, "a.yaml"), /a\.yaml: topK is 9, but there are only 8 experts/);
});
