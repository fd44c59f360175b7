// Real files: written by DeepMind's Bagz writer, checked by the Stockfish trainer's reader, or taken from the wild.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { concatBytes, openBytes, writeFile } from "#base";
import { formatFen, parseFen, parseUci } from "#chess";
import { BagReader } from "./bagz.js";
import { encodeChunk, readBinpackBytes } from "./binpack.js";
import { createRecords, openRecords } from "./open.js";
import { decodePacked } from "./packed-sfen.js";
import type { DataRecord } from "./record.js";

const samples = "../shared/data/samples";
const here = existsSync(samples);
const folder = mkdtempSync(join(tmpdir(), "tabiya-formats-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function readAll(path: string): Promise<DataRecord[]> {
  const all: DataRecord[] = [];
  for await (const records of await openRecords(path)) all.push(...records);
  return all;
}
async function convert(from: string, to: string): Promise<number> {
  const writer = await createRecords(to);
  for await (const records of await openRecords(from)) await writer.write(records);
  await writer.commit();
  return writer.records;
}
const json = (name: string) => JSON.parse(readFileSync(`${samples}/formats/${name}`, "utf8"));

test.skipIf(!here)("action values in three compressed shards are what DeepMind wrote", async () => {
  const expected = (json("action_value.expected.json") as [string, string, number][][]).flat();
  const found = await readAll(`${samples}/formats/action_value@3.bagz`);
  assert.deepEqual(
    found.map(({ fen, move, win_prob }) => [fen, move, win_prob]),
    expected,
  );
  const bag = await BagReader.open(`${samples}/formats/action_value@3.bagz`);
  assert.equal(bag.length, 1242);
  await convert(`${samples}/formats/action_value@3.bagz`, join(folder, "again@3.bagz"));
  assert.deepEqual(await readAll(join(folder, "again@3.bagz")), found);
});

test.skipIf(!here)("state values and behavioral cloning are what DeepMind wrote, and are written alike", async () => {
  for (const [name, fields] of [
    ["state_value", ["fen", "win_prob"]],
    ["behavioral_cloning", ["fen", "move"]],
  ] as const) {
    // biome-ignore format: a table
    const found = await readAll(`${samples}/formats/${name}.bag`);
    assert.deepEqual(
      found.map((record) => fields.map((field) => record[field])),
      json(`${name}.expected.json`),
    );
    await convert(`${samples}/formats/${name}.bag`, join(folder, `${name}.bag`));
    assert.ok(readFileSync(`${samples}/formats/${name}.bag`).equals(readFileSync(join(folder, `${name}.bag`))));
  }
});

test.skipIf(!here)(
  "a .bin is what the Stockfish trainer reads, and .bin, .plain, .bin gives the same bytes",
  async () => {
    const path = `${samples}/formats/packed_sfen.bin`;
    const expected = readFileSync(`${samples}/formats/packed_sfen.expected.jsonl`, "utf8").trim().split("\n");
    assert.deepEqual(
      await readAll(path),
      expected.map((line) => JSON.parse(line)),
    );
    for (const extension of ["plain", "jsonl", "jsonl.gz", "parquet"]) {
      await convert(path, join(folder, `a.${extension}`));
      await convert(join(folder, `a.${extension}`), join(folder, `from-${extension}.bin`));
      assert.ok(readFileSync(path).equals(readFileSync(join(folder, `from-${extension}.bin`))), extension);
    }
  },
);

test.skipIf(!here)("small.binpack is read whole, written again and read back equal", async () => {
  const raw = async (path: string) => {
    const parts: Uint8Array[] = [];
    for await (const bytes of readBinpackBytes(await openBytes(path))) parts.push(bytes);
    return concatBytes(parts);
  };
  const records = await raw(`${samples}/small.binpack`); // the reader refuses a move that is not legal
  assert.equal(records.length / 40, 434_921);
  const half = Math.floor(records.length / 80) * 40;
  const chunks = [records.subarray(0, half), records.subarray(half)].map((part) =>
    encodeChunk(part, (index) => assert.fail(`record ${index}`)),
  );
  await writeFile(join(folder, "again.binpack"), concatBytes(chunks));
  assert.ok(Buffer.from(await raw(join(folder, "again.binpack"))).equals(records));
  for (let at = 0; at < records.length; at += 40 * 97) {
    const { fen, move, score, ply, result } = decodePacked(records.subarray(at, at + 40));
    const position = parseFen(fen);
    assert.ok(parseUci(position, move!) !== undefined, `${move} in ${fen}`);
    assert.equal(formatFen(position), fen);
    assert.ok(Math.abs(score!) <= 32002 && [-1, 0, 1].includes(result!) && ply! < 1000);
  }
});

test.skipIf(!here)("bullet_batch.bf is read whole", async () => {
  const records = await readAll(`${samples}/bullet_batch.bf`);
  assert.equal(records.length, 16_273);
  for (const { fen, score, result } of records) {
    assert.ok(fen.includes(" w - - 0 1") && Math.abs(score!) < 32768 && [-1, 0, 1].includes(result!));
  }
  for (let i = 0; i < records.length; i += 20) parseFen(records[i].fen);
});
