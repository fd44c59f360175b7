import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random, type UserError } from "#base";
import { formatFen, formatUci, parseFen, START_FEN } from "#chess";
import { createRecords, type DataRecord, openRecords } from "#formats";
import { dedupeRecords } from "./dedupe.js";
import { KeyTable } from "./key-table.js";
import { shuffleRecords } from "./shuffle.js";
import { splitRecords, validationPath } from "./split.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-records-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => join(folder, name);
const { signal } = new AbortController();
const quiet = { signal, onProgress() {} };

/** The records of random games, in order. */
function gameRecords(games: number, seed: number): DataRecord[] {
  const random = new Random(seed);
  const records: DataRecord[] = [];
  for (let game = 0; game < games; game++) {
    const position = parseFen(START_FEN);
    const white = random.below(3) - 1;
    for (let ply = 0; ply < 20 && !position.outcome(); ply++) {
      const move = random.pick(position.moves());
      const result = position.turn === "white" ? white : -white || 0;
      records.push({ fen: formatFen(position), move: formatUci(position, move), score: game, ply, result });
      position.play(move);
    }
  }
  return records;
}

// As in the tests of the batches: doors have no helpers of tests.
async function save(name: string, records: DataRecord[]): Promise<string> {
  const writer = await createRecords(file(name));
  await writer.write(records);
  await writer.commit();
  return file(name);
}

async function recordsOf(path: string): Promise<DataRecord[]> {
  const records: DataRecord[] = [];
  for await (const batch of await openRecords(path)) records.push(...batch);
  return records;
}

const sorted = (records: DataRecord[]) => records.map((record) => JSON.stringify(record)).sort();

const RECORDS = gameRecords(100, 3);

test("shuffling keeps every record, in an order that the seed decides", async () => {
  for (const name of ["a.bin", "a.jsonl", "a.binpack", "a.plain", "a.jsonl.gz", "a.parquet"]) {
    const path = await save(name, RECORDS);
    const out = (i: number) => file(`${i}-${name}`);
    const options = { ...quiet, memoryBytes: 20_000 }; // some buckets even for so few
    await shuffleRecords(path, out(1), { ...options, seed: 1 });
    await shuffleRecords(path, out(2), { ...options, seed: 1 });
    await shuffleRecords(path, out(3), { ...options, seed: 2 });
    const [first, second, third] = await Promise.all([1, 2, 3].map((i) => recordsOf(out(i))));
    assert.deepEqual(sorted(first), sorted(RECORDS), name);
    assert.deepEqual(first, second, name);
    assert.notDeepEqual(first, third, name);
    assert.notDeepEqual(first, RECORDS, name);
  }
});

test("every order is equally likely", async () => {
  // Three records have six orders; 600 shuffles over several buckets see each some 100 times.
  const path = file("three.jsonl");
  writeFileSync(path, '{"fen":"a"}\n{"fen":"b"}\n{"fen":"c"}\n');
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 600; seed++) {
    await shuffleRecords(path, file("three-out.jsonl"), { ...quiet, seed, memoryBytes: 20 });
    const order = readFileSync(file("three-out.jsonl"), "utf8")
      .replace(/[^abc]/g, "")
      .replaceAll("fen", "");
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  assert.equal(counts.size, 6);
  let chiSquare = 0;
  for (const count of counts.values()) chiSquare += (count - 100) ** 2 / 100;
  assert.ok(chiSquare < 20.5, `chi square ${chiSquare}`); // p = 0.001 with 5 degrees of freedom
});

test("move numbers keep the name of their table when they are shuffled", async () => {
  const path = file("indices.jsonl");
  writeFileSync(path, '{"fen":"x","move_index":1,"value":0}\n');
  writeFileSync(`${path}.meta.json`, '{"moves":"moves4672"}\n');
  await shuffleRecords(path, file("indices-out.jsonl"), { ...quiet, seed: 1, memoryBytes: 1e6 });
  assert.equal(readFileSync(file("indices-out.jsonl.meta.json"), "utf8"), '{"moves":"moves4672"}\n');
});

test("deduping keeps the first record of each position in the order of the file", async () => {
  const expected = (() => {
    const seen = new Set<bigint>();
    return RECORDS.filter(({ fen }) => {
      const { key } = parseFen(fen);
      return !seen.has(key) && seen.add(key);
    });
  })();
  assert.ok(expected.length < RECORDS.length - 100);
  for (const name of ["d.bin", "d.jsonl"]) {
    for (const memoryBytes of [10_000, 1e8]) {
      const result = await dedupeRecords(await save(name, RECORDS), file(`out-${name}`), { ...quiet, memoryBytes });
      assert.deepEqual(result, { records: RECORDS.length, kept: expected.length });
      assert.deepEqual(await recordsOf(file(`out-${name}`)), expected);
    }
  }
});

test("records that value one move each are the same only if the move is", async () => {
  const records = ["e2e4", "d2d4", "e2e4"].map((move, i) => ({ fen: START_FEN, move, win_prob: i / 4 }));
  const result = await dedupeRecords(await save("moves.bag", records), file("moves-out.bag"), {
    ...quiet,
    memoryBytes: 1e6,
  });
  assert.deepEqual(result, { records: 3, kept: 2 });
});

test("splitting sends whole games to either side", async () => {
  for (const name of ["s.bin", "s.jsonl", "s.binpack"]) {
    const out = file(`train-${name}`);
    const other = validationPath(out);
    const result = await splitRecords(await save(name, RECORDS), out, other, { ...quiet, share: 0.2, seed: 1 });
    const games = async (path: string) => new Set((await recordsOf(path)).map(({ score }) => score));
    const [training, validation] = [await games(out), await games(other)];
    assert.deepEqual(
      [...training].filter((game) => validation.has(game)),
      [],
      name,
    );
    assert.equal(training.size + validation.size, 100, name);
    assert.equal(result.training + result.validation, RECORDS.length);
    assert.ok(validation.size > 5 && validation.size < 40, `${validation.size} games`);
  }
  assert.equal(validationPath("a/b.c/train.jsonl.zst"), "a/b.c/train.validation.jsonl.zst");
});

test("records that carry the number of their game can be split in any order", async () => {
  const path = file("numbered.jsonl");
  const lines = Array.from({ length: 300 }, (_, i) => JSON.stringify({ fen: START_FEN, game_id: i % 30 }));
  writeFileSync(path, `${lines.join("\n")}\n`);
  const result = await splitRecords(path, file("n.jsonl"), file("n.validation.jsonl"), {
    ...quiet,
    share: 0.3,
    seed: 1,
  });
  assert.equal(result.games, 30);
  assert.equal(result.validation % 10, 0);
  assert.ok(result.validation > 0 && result.training > 0);
});

test("without games, positions with the same pawns stay together", async () => {
  const records = RECORDS.map(({ fen }) => ({ fen, move: "e2e4", win_prob: 0.5 }));
  const pawns = ({ fen }: DataRecord) => fen.split(" ")[0].replace(/[NBRQK]/gi, "1").replace(/\d+/g, (run) => String([...run].reduce((sum, digit) => sum + Number(digit), 0))); // biome-ignore format: one thought
  for (const name of ["pawns.jsonl", "pawns.bag", "pawns.bin"]) {
    const path = await save(name, name.endsWith("bin") ? RECORDS : records);
    const [out, other] = [file(`t-${name}`), file(`v-${name}`)];
    const result = await splitRecords(path, out, other, { ...quiet, by: "pawns", share: 0.3, seed: 2 });
    const [training, validation] = [await recordsOf(out), await recordsOf(other)];
    assert.equal(training.length + validation.length, RECORDS.length);
    assert.ok(Math.abs(validation.length / RECORDS.length - 0.3) < 0.1, `${validation.length} of ${RECORDS.length}`);
    const structures = new Set(training.map(pawns));
    assert.ok(!validation.some((record) => structures.has(pawns(record))), name);
    assert.equal(result.games, new Set([...training, ...validation].map(pawns)).size);
  }
});

test("a text that is called .bin is neither shuffled nor split, and what was there stays", async () => {
  writeFileSync(file("readme.bin"), "# A program\n\nWords about it. ".repeat(40));
  writeFileSync(file("old.bin"), "old");
  const isText = (error: UserError) => error.code === "FILE_WRONG" && /this is a text file/.test(error.message);
  const [from, to] = [file("readme.bin"), file("old.bin")];
  await assert.rejects(shuffleRecords(from, to, { ...quiet, memoryBytes: 20_000, seed: 1 }), isText);
  await assert.rejects(splitRecords(from, to, file("old.v.bin"), { ...quiet, share: 0.2, seed: 1 }), isText);
  await assert.rejects(openRecords(from), isText);
  assert.equal(readFileSync(to, "utf8"), "old");
});

test("a file that was shuffled, or knows no games, is not split", async () => {
  const path = await save("order.bin", RECORDS);
  await shuffleRecords(path, file("shuffled.bin"), { ...quiet, seed: 1, memoryBytes: 1e6 });
  const before = readdirSync(folder).length;
  const split = (from: string, to: string) =>
    splitRecords(from, file(to), file(`v-${to}`), { ...quiet, share: 0.2, seed: 1 });
  await assert.rejects(split(file("shuffled.bin"), "x.bin"), (error: UserError) => error.code === "SPLIT_SHUFFLED");
  await assert.rejects(split(file("moves.bag"), "x.bag"), (error: UserError) => error.code === "SPLIT_GAMES");
  assert.equal(readdirSync(folder).length, before);
});

test("bad input is named by file and record, and leaves nothing under the final name", async () => {
  const good = readFileSync(await save("good.bin", RECORDS));
  writeFileSync(file("odd.bin"), good.subarray(0, 1234));
  const broken = Buffer.from(good);
  broken.fill(0xff, 40 * 7, 40 * 7 + 32);
  writeFileSync(file("broken.bin"), broken);
  writeFileSync(file("broken.jsonl"), '{"fen":"a"}\n{"fen":\n');
  writeFileSync(file("broken2.jsonl"), `{"fen":"${START_FEN}"}\n{"fen":}\n`);
  const before = readdirSync(folder).length;
  const shuffle = (from: string, to: string) =>
    shuffleRecords(file(from), file(to), { ...quiet, seed: 1, memoryBytes: 1e6 });
  const dedupe = (from: string, to: string) => dedupeRecords(file(from), file(to), { ...quiet, memoryBytes: 1e6 });
  await assert.rejects(shuffle("odd.bin", "never.bin"), /odd\.bin: record 30, byte 1200: .*40-byte/);
  await assert.rejects(shuffle("broken.jsonl", "never.jsonl"), /broken\.jsonl: line 2/);
  await assert.rejects(shuffle("odd.bin", "never.jsonl"), /data convert/);
  await assert.rejects(dedupe("broken.bin", "never.bin"), /broken\.bin: record 7, byte 280/);
  await assert.rejects(dedupe("broken2.jsonl", "never.jsonl"), /broken2\.jsonl: record 1/);
  await assert.rejects(
    shuffleRecords(file("good.bin"), file("never.bin"), {
      ...quiet,
      signal: AbortSignal.abort(),
      seed: 1,
      memoryBytes: 1e6,
    }),
  );
  assert.equal(readdirSync(folder).length, before);
});

test("a key table finds what was added, however much it grows", () => {
  const table = new KeyTable(4);
  const random = new Random(1);
  const map = new Map<string, number>();
  for (let i = 0; i < 20_000; i++) {
    const [low, high] = [random.below(120), random.bits()];
    const name = `${low} ${high}`;
    assert.equal(table.add(low, high, i), !map.has(name));
    if (!map.has(name)) map.set(name, i);
  }
  for (const [name, value] of map) {
    const [low, high] = name.split(" ").map(Number);
    assert.equal(table.get(low, high), value);
  }
  assert.equal(table.get(500, 1), undefined);
  assert.equal(table.size, map.size);
});
