import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import type { UserError } from "#base";
import { createRecords, type DataRecord, openRawRecords, openRecords } from "#formats";
import { FactReader, type Facts } from "./facts.js";
import { BULLET_FILTER, filterRecords, type RecordFilter } from "./filter-records.js";
import { formatHistogram, Histograms } from "./histogram.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-facts-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => join(folder, name);

const QUIET = { move: "e2e4", score: 20, ply: 30, result: 0 };
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/** One record for each thing a filter may ask for; the numbers are their places. */
const RECORDS: DataRecord[] = [
  { fen: START, ...QUIET },
  { fen: START, ...QUIET, ply: 15 }, // 1: early
  { fen: START, ...QUIET, score: -10_001 }, // 2: decided
  { fen: "4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", ...QUIET, move: "e1e2" }, // 3: in check, and a capture
  { fen: "4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", ...QUIET, move: "e4d5" }, // 4: a capture
  { fen: "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", ...QUIET, move: "e5d6" }, // 5: a capture in passing
  { fen: "8/P3k3/8/8/8/8/8/4K3 w - - 0 1", ...QUIET, move: "a7a8q" }, // 6: a promotion
  { fen: "4k3/8/8/8/8/8/8/4K2R w K - 0 1", ...QUIET, move: "e1g1" }, // 7: castling
  { fen: "4k3/4p3/8/8/8/8/8/4K3 b - - 0 1", ...QUIET, move: "e7e6", result: 1 }, // 8: three pieces, won
];

async function save(name: string, records: readonly DataRecord[]): Promise<string> {
  const writer = await createRecords(file(name));
  await writer.write(records);
  await writer.commit();
  return file(name);
}

const bad: UserError[] = [];
const quiet = {
  signal: new AbortController().signal,
  onBad: (error: UserError) => void bad.push(error),
  onProgress() {},
};

async function recordsOf(path: string): Promise<DataRecord[]> {
  const records: DataRecord[] = [];
  for await (const batch of await openRecords(path)) records.push(...batch);
  return records;
}

/** The places of the records that a filter keeps. */
async function kept(name: string, filter: RecordFilter): Promise<number[]> {
  const path = await save(name, RECORDS);
  const all = (await recordsOf(path)).map((record) => JSON.stringify(record));
  await filterRecords(path, file(`kept-${name}`), filter, quiet);
  return (await recordsOf(file(`kept-${name}`))).map((record) => all.indexOf(JSON.stringify(record)));
}

test("records of every format are chosen by each fact, and stay as they are", async () => {
  for (const name of ["a.bin", "a.binpack", "a.plain", "a.jsonl", "a.jsonl.gz", "a.parquet"]) {
    assert.deepEqual(await kept(name, BULLET_FILTER), [0, 8], name);
    assert.deepEqual(await kept(name, { ply: { from: undefined, to: 15 } }), [1], name);
    assert.deepEqual(await kept(name, { score: { from: -20_000, to: -1 } }), [2], name);
    assert.deepEqual(await kept(name, { inCheck: true }), [3], name);
    assert.deepEqual(await kept(name, { moves: ["capture"] }), [3, 4, 5], name);
    assert.deepEqual(await kept(name, { moves: ["promotion"] }), [6], name);
    assert.deepEqual(await kept(name, { moves: ["castling"] }), [7], name);
    assert.deepEqual(await kept(name, { pieces: { from: 3, to: 3 } }), [3, 6, 7, 8], name);
    assert.deepEqual(await kept(name, { results: [1] }), [8], name);
  }
});

test("bullet's and Bagz's records are filtered too, and say what they lack", async () => {
  const path = await save("b.bullet", RECORDS);
  await filterRecords(path, file("kept.bullet"), { inCheck: true }, quiet);
  assert.equal((await recordsOf(file("kept.bullet"))).length, 1);
  await assert.rejects(
    filterRecords(path, file("none.bullet"), BULLET_FILTER, quiet),
    /b\.bullet: these records have no ply/,
  );

  const writer = await createRecords(file("b.bagz"), { kind: "state_value" });
  await writer.write([0.1, 0.5, 0.9].map((probability) => ({ fen: START, win_prob: probability })));
  await writer.commit();
  await filterRecords(file("b.bagz"), file("kept.bagz"), { score: { from: -50, to: 50 } }, quiet);
  assert.deepEqual(await recordsOf(file("kept.bagz")), [{ fen: START, win_prob: 0.5 }]);
});

test("a filter that keeps nothing leaves an existing file as it was, and counts the reasons", async () => {
  const path = await save("c.bin", RECORDS);
  writeFileSync(file("old.bin"), "before");
  await assert.rejects(
    filterRecords(path, file("old.bin"), { pieces: { from: 40, to: undefined } }, quiet),
    /none of its 9 records is kept.*pieces 9/s,
  );
  assert.equal(readFileSync(file("old.bin"), "utf8"), "before");
});

test("a broken record is left out and told of", async () => {
  const lines = [JSON.stringify(RECORDS[0]), '{"fen":"nonsense"}', '{"fen":}'];
  writeFileSync(file("d.jsonl"), lines.join("\n"));
  bad.length = 0;
  const { left, kept: count } = await filterRecords(file("d.jsonl"), file("d2.jsonl"), { inCheck: false }, quiet);
  assert.deepEqual([left, count], [{ broken: 2 }, 1]);
  assert.match(bad[0].message, /d\.jsonl: record 1: /);
  assert.match(bad[1].message, /d\.jsonl: record 2: /);
});

test("facts are the same by the fast way and by the way of text", async () => {
  const facts: (Facts | undefined)[][] = [];
  for (const name of ["e.bin", "e.jsonl"]) {
    const reader = await openRawRecords(await save(name, RECORDS));
    const reading = new FactReader(name, reader.form, quiet.onBad);
    const all: (Facts | undefined)[] = [];
    for await (const batch of reader) all.push(...reading.read(batch));
    facts.push(all);
  }
  assert.deepEqual(facts[0], facts[1]);
  assert.equal(facts[0][8]?.king, 4, "Black's e8 is e1 on its own board");
});

test("histograms count every record once and show bars by their share", () => {
  const histograms = new Histograms();
  const fact: Facts = { score: 0, ply: 3, result: 1, pieces: 32, king: 4, inCheck: false, move: "quiet" };
  for (const score of [0, 0, 1, -32_768, 32_767, 151]) histograms.add({ ...fact, score });
  const { score, pieces, ply } = histograms;
  const full = (bars: typeof score) => bars.filter(({ count }) => count > 0).map(({ from, count }) => [from, count]);
  assert.deepEqual(full(score), [
    [-32_768, 1],
    [0, 2],
    [1, 1],
    [151, 1],
    [10_001, 1],
  ]);
  assert.deepEqual(full(pieces), [[32, 6]]);
  assert.deepEqual(full(ply), [[0, 6]]);
  const lines = formatHistogram("result", histograms.result, ["lost", "drawn", "won"]);
  assert.deepEqual(lines, ["result (6 records)", `  won 100.0 % ${"#".repeat(40)}`]);
});
