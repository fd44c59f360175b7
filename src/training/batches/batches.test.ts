import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci, parseFen, parseUci, START_FEN } from "#chess";
import { encodeLc0Planes, encodePlanes13, MOVE_TABLES } from "#encodings";
import { createRecords, type DataRecord } from "#formats";
import type { PolicyValueBatch } from "../policy-value/plane-encoder.js";
import { planeRows } from "../policy-value/plane-rows.js";
import type { BatchSource } from "./batch-source.js";
import { Batches } from "./batches.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-batches-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => join(folder, name);

/** Positions of random games; the score is the number of the record, by which it is known again. */
function positions(count: number, seed: number, firstScore = 0): DataRecord[] {
  const random = new Random(seed);
  const records: DataRecord[] = [];
  while (records.length < count) {
    const position = parseFen(START_FEN);
    for (let ply = 0; ply < 60 && records.length < count && !position.outcome(); ply++) {
      const move = random.pick(position.moves());
      const score = firstScore + records.length;
      records.push({ fen: formatFen(position), move: formatUci(position, move), score, ply, result: (ply % 3) - 1 });
      position.play(move);
    }
  }
  return records;
}

async function save(name: string, records: DataRecord[]): Promise<string> {
  const writer = await createRecords(file(name));
  await writer.write(records);
  await writer.commit();
  return file(name);
}

const RECORDS = positions(1500, 1);
const PLANES = {
  planes: "planes13",
  moves: "moves4288",
  scoreScale: 400,
  resultShare: 0.25,
} as const;
const SCALE = 10_000; // centipawns: large, so that the score can be read from the value
const SCORES = planeRows({ ...PLANES, scoreScale: SCALE, resultShare: 0 });

async function scores(
  options: {
    sources: (string | { path: string; weight: number })[];
    seed?: number;
    workers?: number;
    shuffledRows?: number;
  },
  ...runs: { size: number; epoch?: number; from?: number }[]
): Promise<number[][]> {
  const batches = await Batches.open({ seed: 1, ...options, format: SCORES });
  const found: number[][] = [];
  try {
    for (const run of runs)
      for await (const { value } of batches.batches(run))
        found.push(Array.from(value, (x) => Math.round(Math.atanh(x) * SCALE)));
  } finally {
    await batches.close();
  }
  return found;
}

test("a batch of planes, moves and values is what the encoders make of each position", async () => {
  const path = await save("planes.bin", RECORDS);
  const batches = await Batches.open({ sources: [path], format: planeRows(PLANES), seed: 1 });
  const table = MOVE_TABLES.moves4288;
  const expected = new Float32Array(13 * 64);
  let row = 0;
  for await (const { planes, legal, policy, value } of batches.batches({ size: 100 })) {
    for (let i = 0; i < value.length; i++, row++) {
      const { fen, move: uci, score = 0, result = 0 } = RECORDS[row];
      const position = parseFen(fen);
      encodePlanes13(position, expected);
      assert.deepEqual(planes.subarray(i * 832, (i + 1) * 832), expected);
      const k = legal.shape[1];
      const moves = position.moves();
      const rest = new Array(k - moves.length).fill(-1);
      const indices = moves.map((each) => table.encode(position, each));
      assert.deepEqual([...legal.data.subarray(i * k, (i + 1) * k)], [...indices, ...rest]);
      const learnt = [...policy.data.subarray(i * k, (i + 1) * k)];
      assert.equal(learnt.indexOf(1), moves.indexOf(parseUci(position, uci ?? "") ?? 0));
      assert.equal(
        learnt.reduce((a, b) => a + b),
        1,
      );
      assert.equal(value[i], Math.fround(0.75 * Math.tanh(score / 400) + 0.25 * result));
    }
    assert.ok(!(planes.buffer instanceof SharedArrayBuffer));
  }
  assert.equal(row, RECORDS.length);
  await batches.close();
});

test("a batch for lc0's planes has them and its moves, never with the colours swapped", async () => {
  const path = await save("lc0.bin", RECORDS.slice(0, 300));
  const encoding = { ...PLANES, planes: "lc0-112", moves: "moves1858", augment: true } as const;
  const batches = await Batches.open({ sources: [path], format: planeRows(encoding), seed: 1 });
  const expected = new Float32Array(112 * 64);
  let row = 0;
  for await (const { planes, legal, policy } of batches.batches({ size: 100 })) {
    for (let i = 0; i < 100; i++, row++) {
      const position = parseFen(RECORDS[row].fen);
      encodeLc0Planes(position, expected);
      assert.deepEqual(planes.subarray(i * 7168, (i + 1) * 7168), expected);
      const [at, k] = [i * legal.shape[1], position.moves().length];
      const indices = position.moves().map((move) => MOVE_TABLES.moves1858.encode(position, move));
      assert.deepEqual([...legal.data.subarray(at, at + k)], indices);
      const learnt = legal.data[at + policy.data.subarray(at, at + k).indexOf(1)];
      assert.equal(MOVE_TABLES.moves1858.decode(position, learnt), parseUci(position, RECORDS[row].move ?? ""));
    }
  }
  const plain = await Batches.open({ sources: [path], format: planeRows({ ...encoding, augment: false }), seed: 1 });
  const planesOf = async (source: typeof plain | typeof batches) => {
    for await (const { planes } of source.batches({ size: 300, epoch: 0 })) return planes;
    throw new Error("no batch");
  };
  const [before, after] = [await planesOf(plain), await planesOf(batches)];
  const seen = { castling: 0, same: 0, mirrored: 0 };
  for (let i = 0; i < 300; i++) {
    const [a, b] = [before, after].map((planes) => planes.subarray(i * 7168, (i + 1) * 7168));
    const isSame = a.every((x, at) => x === b[at]);
    const mayCastle = a.subarray(104 * 64, 108 * 64).some((x) => x !== 0);
    assert.ok(isSame || (!mayCastle && a.every((x, at) => x === b[at ^ 7])), `row ${i}`);
    seen[mayCastle ? "castling" : isSame ? "same" : "mirrored"]++;
  }
  assert.ok(seen.castling > 20 && seen.same > 20 && seen.mirrored > 20, JSON.stringify(seen));
  await plain.close();
  await batches.close();
});

test("an epoch has every record once, in an order that the seed decides and workers do not", async () => {
  const path = await save("epoch.bin", RECORDS);
  const sources = [path];
  const [one, two, other] = await Promise.all([
    scores({ sources }, { size: 150, epoch: 0 }),
    scores({ sources, workers: 3 }, { size: 150, epoch: 0 }),
    scores({ sources, seed: 2 }, { size: 150, epoch: 0 }),
  ]);
  assert.deepEqual(one, two);
  assert.notDeepEqual(one, other);
  assert.deepEqual(
    one.flat().sort((a, b) => a - b),
    RECORDS.map(({ score }) => score),
  );
  // Neighbours in the file are not neighbours in a batch.
  assert.ok(Math.max(...one[0]) > 1000 && Math.min(...one[0]) < 500);
});

test("small windows over blocks from all over the file still visit every record once a pass", async () => {
  const sources = [await save("windows.bin", RECORDS)];
  const found = await scores({ sources, shuffledRows: 512 }, { size: 100, epoch: 0 }, { size: 100, epoch: 1 });
  assert.equal(found.length, 30);
  const sorted = (list: number[]) => list.sort((a, b) => a - b);
  assert.deepEqual(sorted(found.slice(0, 15).flat()), sorted(found.slice(15).flat()));
  assert.notDeepEqual(found[0], found[15]);
});

test("epochs and resumed runs go on exactly: a number of an epoch and a batch are all the state there is", async () => {
  const sources = [
    await save("resume.bin", RECORDS),
    { path: await save("resume.jsonl", positions(300, 9, 5000)), weight: 0.3 },
  ];
  const mixed = [{ path: sources[0] as string, weight: 0.7 }, sources[1] as { path: string; weight: number }];
  const whole = await scores({ sources: mixed }, { size: 64, epoch: 0 }, { size: 64, epoch: 1 });
  const [perEpoch] = [Math.floor(1800 / 64)];
  assert.equal(whole.length, 2 * perEpoch);
  for (const [epoch, from] of [
    [0, 0],
    [0, 17],
    [1, 0],
    [1, perEpoch - 1],
  ]) {
    const resumed = await scores({ sources: mixed }, { size: 64, epoch, from });
    assert.deepEqual(resumed, whole.slice(epoch * perEpoch + from, (epoch + 1) * perEpoch));
  }
});

test("files are mixed by their weights, and each file's records come equally often", async () => {
  const sources = [
    { path: await save("mix-a.bin", RECORDS), weight: 1 },
    { path: await save("mix-b.binpack", positions(300, 4, 5000)), weight: 3 },
  ];
  const rows = (await scores({ sources }, { size: 60, epoch: 0 })).flat();
  const small = rows.filter((score) => score >= 5000);
  assert.ok(Math.abs(small.length / rows.length - 0.75) < 0.01);
  const times = new Map<number, number>();
  for (const score of small) times.set(score, (times.get(score) ?? 0) + 1);
  assert.equal(times.size, 300);
  assert.ok(Math.max(...times.values()) - Math.min(...times.values()) <= 1);
});

test("every format that can be read gives the same batches in order", async () => {
  const bin = await scores({ sources: [await save("same.bin", RECORDS)] }, { size: 128 });
  for (const name of ["same.jsonl", "same.binpack", "same.plain", "same.bin.gz", "same.parquet"]) {
    assert.deepEqual(await scores({ sources: [await save(name, RECORDS)] }, { size: 128 }), bin, name);
  }
  assert.deepEqual(
    bin.flat(),
    RECORDS.map(({ score }) => score),
  );
});

test("a bad record is named by its file and number, however it was shuffled", async () => {
  const bytes = readFileSync(await save("bad.bin", RECORDS));
  bytes.fill(0xff, 40 * 777, 40 * 777 + 32);
  writeFileSync(file("bad.bin"), bytes);
  await assert.rejects(scores({ sources: [file("bad.bin")] }, { size: 100, epoch: 0 }), /bad\.bin: record 777: /);
  writeFileSync(file("odd.bin"), bytes.subarray(0, 1001));
  await assert.rejects(scores({ sources: [file("odd.bin")] }, { size: 10 }), /odd\.bin: record 25, byte 1000/);
  writeFileSync(file("line.jsonl"), `${JSON.stringify(RECORDS[0])}\n{"fen":"nothing","move":"e2e4","score":1}\n`);
  await assert.rejects(scores({ sources: [file("line.jsonl")] }, { size: 10 }), /line\.jsonl: record 1: /);
  writeFileSync(file("empty.bin"), "");
  await assert.rejects(scores({ sources: [file("empty.bin")] }, { size: 10 }), /empty\.bin: the file is empty/);
  const illegal = [{ ...RECORDS[0], move: null }];
  const sources = [await save("nomove.bin", illegal)];
  const batches = await Batches.open({ sources, format: planeRows(PLANES), seed: 1 });
  await assert.rejects(batches.batches({ size: 1 }).next(), /nomove\.bin: record 0: it has no legal move to learn/);
  await batches.close();
});

test("a file's own share of the result counts in its values only, and a limit is shared by the files", async () => {
  const first = await save("own-a.bin", RECORDS.slice(0, 400));
  const second = await save("own-b.bin", RECORDS.slice(0, 200));
  const sources = [`${first}?resultShare=1`, second];
  const batches = await Batches.open({ sources, format: planeRows(PLANES), seed: 1, limit: 300 });
  assert.equal(batches.positions, 300);
  const values: number[] = [];
  for await (const { value } of batches.batches({ size: 64 })) values.push(...value);
  const other = await Batches.open({ sources: [first, second], format: planeRows(PLANES), seed: 1, limit: 300 });
  assert.notEqual(batches.fingerprint, other.fingerprint);
  await batches.close();
  await other.close();
  const blend = ({ score = 0, result = 0 }: DataRecord, share: number) =>
    Math.fround((1 - share) * Math.tanh(score / 400) + share * result);
  const expected = [
    ...RECORDS.slice(0, 200).map((record) => blend(record, 1)),
    ...RECORDS.slice(0, 100).map((record) => blend(record, 0.25)),
  ];
  assert.deepEqual(values, expected);
});

test("a policy over several moves is learnt as shares of the legal ones, with its value as it stands", async () => {
  const fen = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1";
  const position = parseFen(fen);
  const index = (uci: string) => MOVE_TABLES.moves4672.encode(position, parseUci(position, uci) ?? 0);
  const shares = { [index("a7a8q")]: 6, [index("a7a8n")]: 1, [index("e1d2")]: 1 };
  const dense = new Array(4096).fill(0);
  dense[MOVE_TABLES.moves4288.encode(position, parseUci(position, "a7a8q") ?? 0)] = 1;
  const write = (name: string, policy: unknown) => {
    writeFileSync(file(name), `${JSON.stringify({ fen, policy, value: 0.5 })}\n`);
    writeFileSync(file(`${name}.meta.json`), '{"moves": "moves4672"}');
    return file(name);
  };
  const read = async (path: string) => {
    const batches = await Batches.open({ sources: [path], format: planeRows({ ...PLANES, scoreScale: 300 }), seed: 1 });
    try {
      for await (const { policy, value } of batches.batches({ size: 8 })) {
        const moves = position.moves();
        const share = (uci: string) => policy.data[moves.indexOf(parseUci(position, uci) ?? 0)];
        return [share("a7a8q"), share("a7a8n"), share("e1d2"), value[0]];
      }
    } finally {
      await batches.close();
    }
    return [];
  };
  assert.deepEqual(await read(write("soft.jsonl", shares)), [0.75, 0.125, 0.125, 0.5]);
  assert.deepEqual(await read(write("dense.jsonl", dense)), [1, 0, 0, 0.5]);
  await assert.rejects(read(write("illegal.jsonl", { ...shares, [index("e1d2") + 1]: 8 })), /50 % belong to moves/);
});

test("augmented batches hold other views of the same positions, the same every time, and judges see none", async () => {
  const path = await save("augment.bin", RECORDS.slice(0, 512));
  const open = (augment: boolean) =>
    Batches.open({ sources: [path], format: planeRows({ ...PLANES, augment }), seed: 1 });
  const [plain, augmented] = [await open(false), await open(true)];
  const first = async (batches: BatchSource<PolicyValueBatch>, epoch?: number) => {
    for await (const batch of batches.batches({ size: 512, epoch })) return batch;
    throw new Error("no batch");
  };
  const sum = (planes: Float32Array) => planes.subarray(0, 12 * 64).reduce((a, b) => a + b, 0);
  const [a, b, again] = [await first(plain, 0), await first(augmented, 0), await first(augmented, 0)];
  assert.deepEqual(b, again);
  let changed = 0;
  for (let i = 0; i < 512; i++) {
    const [left, right] = [a, b].map(({ planes }) => planes.subarray(i * 832, (i + 1) * 832));
    assert.equal(sum(left), sum(right), "as many pieces");
    if (left.some((x, at) => x !== right[at])) changed++;
  }
  assert.ok(changed > 200 && changed < 400, `${changed} of 512`);
  assert.deepEqual(a.value, b.value);
  assert.deepEqual(await first(plain), await first(augmented));
  await plain.close();
  await augmented.close();
});
