import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, test } from "vitest";
import type { UserError } from "#base";
import { BagReader, BagWriter } from "./bagz.js";
import { createRecords, formatOf, openRecords } from "./open.js";
import { openParquet } from "./parquet.js";
import { DECODER_COLUMNS } from "./parquet-columns.js";
import { type DataRecord, kindOf } from "./record.js";
import { decodeFrame, encodeFrame } from "./zstd-frame.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-records-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/** What is hard to pack: castling, en passant (possible or not), promotion, extremes, Chess960. */
const SCORED = readFileSync("test/fixtures/formats/golden.jsonl", "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as DataRecord);
/** As read back: rights are spelled KQkq where that is enough. */
const SHOWN = SCORED.map((record) => ({ ...record, fen: record.fen.replace("GEge", "KQkq") }));

async function readAll(path: string, options: Parameters<typeof openRecords>[1] = {}): Promise<DataRecord[]> {
  const all: DataRecord[] = [];
  for await (const records of await openRecords(path, options)) all.push(...records);
  return all;
}
async function writeAll(
  path: string,
  records: readonly DataRecord[],
  options: Parameters<typeof createRecords>[1] = {},
) {
  const writer = await createRecords(path, options);
  await writer.write(records);
  await writer.commit();
}
const fails = (code: string, message: RegExp) => (error: unknown) => {
  assert.equal((error as UserError).code, code, String(error));
  assert.match((error as Error).message, message);
  return true;
};

for (const extension of ["bin", "bin.gz", "plain", "binpack", "jsonl"]) {
  test(`.${extension} holds what is hard to pack and gives it back`, async () => {
    await writeAll(at(`a.${extension}`), SCORED);
    // A .binpack counts moves by the ply, and knows nothing of a clash between the two; here they agree.
    const expected = extension === "plain" || extension === "jsonl" ? SCORED : SHOWN;
    assert.deepEqual(await readAll(at(`a.${extension}`)), expected);
  });
}

test("an en-passant square nobody can use stays as it was", async () => {
  await writeAll(at("ep.bin"), SCORED);
  const records = await readAll(at("ep.bin"));
  assert.match(records[1].fen, / e3 0 1$/);
  await writeAll(at("ep.binpack"), records);
  assert.match((await readAll(at("ep.binpack")))[1].fen, / e3 0 1$/);
});

test("the golden .bin and .binpack are written byte for byte", async () => {
  for (const extension of ["bin", "binpack", "plain"]) {
    await writeAll(at(`golden.${extension}`), SCORED);
    assert.ok(
      readFileSync(at(`golden.${extension}`)).equals(readFileSync(`test/fixtures/formats/golden.${extension}`)),
    );
  }
});

test("a .bin of a length that is no multiple of 40 is refused, with the record that is cut", async () => {
  writeFileSync(at("cut.bin"), readFileSync(at("golden.bin")).subarray(0, 100));
  await assert.rejects(readAll(at("cut.bin")), fails("BIN_LENGTH", /cut\.bin: record 2, byte 80: .*100 bytes/));
});

test("impossible positions in a .bin are reported one by one, with record and byte, and the rest is read", async () => {
  const bytes = readFileSync(at("golden.bin"));
  bytes[40] = bytes[41] = 0; // both kings of record 1 on a1
  bytes[80 + 34] = 0; // record 2: another move
  bytes[80 + 35] = 0x3f;
  bytes[120 + 38] = 5; // result of record 3
  writeFileSync(at("bad.bin"), bytes);
  const bad: string[] = [];
  const good = await readAll(at("bad.bin"), { onBad: (error) => bad.push(error.message) });
  assert.equal(good.length, SCORED.length - 3);
  assert.match(bad[0], /bad\.bin: record 1, byte 40: both kings/);
  assert.match(bad[1], /bad\.bin: record 2, byte 80: the move .* is not legal/);
  assert.match(bad[2], /bad\.bin: record 3, byte 120: its result/);
  await assert.rejects(readAll(at("bad.bin")), fails("BIN_RECORD", /record 1/));
});

test("random bytes never crash the readers of .bin and .binpack, and are reported", async () => {
  let state = 1;
  const random = Uint8Array.from(
    { length: 40 * 5000 },
    () => (state = (state * 1103515245 + 12345) & 0x7fffffff) >> 16,
  );
  writeFileSync(at("random.bin"), random);
  let bad = 0;
  const good = await readAll(at("random.bin"), { onBad: () => bad++ });
  assert.equal(good.length + bad, 5000);
  const header = Buffer.from("BINP____");
  header.writeUInt32LE(random.length, 4);
  writeFileSync(at("random.binpack"), Buffer.concat([header, random]));
  await assert.rejects(readAll(at("random.binpack")), fails("BINPACK_CHAIN", /random\.binpack: record 0, byte 8/));
});

test("records a format cannot hold are left out and reported", async () => {
  const bad: string[] = [];
  const writer = await createRecords(at("partly.bin"), { onBad: (error) => bad.push(error.message) });
  await writer.write([
    SCORED[0],
    { fen: START, move: "e2e5", score: 1, ply: 0, result: 0 },
    { fen: START, move: "e2e4", score: 40000, ply: 0, result: 0 },
    { fen: "8/8/8/8 w - - 0 1", move: "e2e4", score: 0, ply: 0, result: 0 },
    { fen: START, move: null, score: 1, ply: 0, result: 0 },
  ]);
  await writer.commit();
  assert.equal(writer.records, 2);
  assert.match(bad.join("\n"), /e2e5 is not legal[\s\S]*"score" is 40000[\s\S]*8 ranks/);
  assert.equal((await readAll(at("partly.bin")))[1].move, null);
});

test("a .binpack that is cut off, or no .binpack, is refused", async () => {
  const bytes = readFileSync(at("golden.binpack"));
  writeFileSync(at("cut.binpack"), bytes.subarray(0, -5));
  await assert.rejects(readAll(at("cut.binpack")), fails("BINPACK_CUT", /ends in the middle of a chunk/));
  writeFileSync(at("none.binpack"), "\0this is no binpack");
  await assert.rejects(readAll(at("none.binpack")), fails("BINPACK_CHUNK", /none\.binpack: byte 0/));
});

test("a .plain with a broken record is read around it", async () => {
  const text = readFileSync(at("golden.plain"), "utf8").split("e\n").slice(0, 3).join("e\n");
  writeFileSync(at("bad.plain"), `${text.replace("score -29", "score x")}e\nfen cut`);
  const bad: string[] = [];
  const records = await readAll(at("bad.plain"), { onBad: (error) => bad.push(error.message) });
  assert.equal(records.length, 2);
  assert.match(bad[0], /bad\.plain: record 1, line 7: "score"/);
  assert.match(bad[1], /in the middle of a record/);
});

const VALUES: DataRecord[] = [
  { fen: START, move: "e2e4", win_prob: 0.53 },
  { fen: START, move: "g1f3", win_prob: 1 },
  { fen: "1n5k/P7/8/8/8/8/7p/K5N1 w - - 3 77", move: "a7b8q", win_prob: 0 },
];

for (const name of ["v.bag", "v.bagz", "v@2.bag", "v@3.bagz"]) {
  test(`${name} holds the three kinds of records`, async () => {
    for (const [kind, fields] of [
      ["action_value", 3],
      ["state_value", 2],
      ["behavioral_cloning", 2],
    ] as const) {
      // biome-ignore format: a table
      await writeAll(at(name), VALUES, { kind });
      const found = await readAll(at(name));
      assert.equal(found.length, 3);
      assert.equal(kindOf(found[0]), kind);
      assert.equal(Object.keys(found[0]).length, fields);
      found.forEach((record, i) => {
        for (const [field, value] of Object.entries(record)) assert.equal(value, VALUES[i][field]);
      });
    }
    assert.deepEqual(readdirSync(folder).filter((file) => /\.part$|unsharded/.test(file)), []); // biome-ignore format: short
  });
}

test("Bagz records are found in any order, empty ones too", async () => {
  const contents = Array.from({ length: 300 }, (_, i) => new Uint8Array(i % 7 === 3 ? 0 : (i * 37) % 400).fill(i));
  for (const name of ["r.bag", "r.bagz", "r@4.bagz"]) {
    const writer = await BagWriter.create(at(name));
    for (const content of contents) await writer.add(content);
    await writer.commit();
    const bag = await BagReader.open(at(name));
    assert.equal(bag.length, 300);
    for (const i of [299, 0, 3, 150, 149, 75, 1]) assert.deepEqual(bag.get(i), contents[i]);
    assert.deepEqual([...bag.contents()], contents);
    bag.close();
  }
});

test("a zstd frame of any size opens again; a damaged one does not", () => {
  for (const size of [1, 71, 255, 256, 300, 65_791, 65_792, 131_072, 131_073, 400_000]) {
    const content = Uint8Array.from({ length: size }, (_, i) => i * 7);
    assert.ok(Buffer.from(decodeFrame(encodeFrame(content))).equals(content), String(size));
  }
  assert.throws(() => decodeFrame(new Uint8Array(20)), fails("BAGZ_FRAME", /damaged zstd/));
});

test("a truncated Bagz, an index that points outside, a missing shard: each is named", async () => {
  await writeAll(at("whole.bag"), VALUES);
  const bytes = readFileSync(at("whole.bag"));
  writeFileSync(at("cut.bag"), bytes.subarray(0, -30));
  await assert.rejects(readAll(at("cut.bag")), fails("BAGZ_FILE", /cut\.bag: /));
  writeFileSync(at("tiny.bag"), bytes.subarray(0, 5));
  await assert.rejects(readAll(at("tiny.bag")), fails("BAGZ_FILE", /tiny\.bag: has 5 bytes/));
  const outside = Buffer.from(bytes);
  outside.writeUInt32LE(90_000, bytes.length - 16);
  writeFileSync(at("outside.bag"), outside);
  await assert.rejects(readAll(at("outside.bag")), fails("BAGZ_FILE", /outside\.bag: record 1 should lie between/));
  const bag = await BagReader.open(at("outside.bag"));
  assert.throws(() => bag.get(1), fails("BAGZ_FILE", /record 1/));
  bag.close();
  await assert.rejects(readAll(at("v@4.bagz")), fails("SHARDS", /shard 0 of 4 is missing .*v-00000-of-00004\.bagz/));
});

test("a Bagz record that is no record is reported and the rest read", async () => {
  const writer = await BagWriter.create(at("odd.bag"));
  await writer.add(new TextEncoder().encode("hello"));
  await writer.add(new Uint8Array(0));
  await writer.commit();
  const bad: string[] = [];
  assert.deepEqual(await readAll(at("odd.bag"), { onBad: (error) => bad.push(error.message) }), []);
  assert.match(bad[0], /odd\.bag: record 0: /);
  assert.match(bad[1], /odd\.bag: record 1: /);
});

test("JSONL with a broken line is read around it, with line and byte", async () => {
  writeFileSync(
    at("bad.jsonl"),
    `{"fen":"é"}\n{"fen": 1}\n{"fen"\n\n[1]\n{"fen":"x","policy":[1]}\n{"fen":"x","win_prob":1}\n`,
  );
  const bad: string[] = [];
  assert.equal((await readAll(at("bad.jsonl"), { onBad: (error) => bad.push(error.message) })).length, 2);
  assert.match(bad[0], /bad\.jsonl: line 2, byte 13: "fen" is 1/);
  assert.match(bad[1], /line 3, byte 24: no JSON/);
  assert.match(bad[2], /line 5, .*expected an object/);
  assert.match(bad[3], /line 6, .*list of 1 shares/);
  await assert.rejects(readAll(at("bad.jsonl")), fails("JSONL_LINE", /line 2/));
});

test("move numbers need the name of their table, given or in the sidecar", async () => {
  const records = [{ fen: START, move_index: 877, value: 0.1 }, { fen: START, policy: { 877: 1 }, value: 0 }]; // biome-ignore format: short
  await writeAll(at("index.jsonl"), records, { moves: "moves4672" });
  assert.deepEqual(await readAll(at("index.jsonl")), records);
  assert.equal((await openRecords(at("index.jsonl"))).moves, "moves4672");
  assert.equal((await openRecords(at("index.jsonl"), { moves: "actions1968" })).moves, "actions1968");
  rmSync(at("index.jsonl.meta.json"));
  await assert.rejects(readAll(at("index.jsonl")), fails("JSONL_TABLE", /Name the table/));
  assert.equal((await readAll(at("index.jsonl"), { moves: "omegazero4672" })).length, 2);
  writeFileSync(at("index.jsonl.meta.json"), "{}");
  await assert.rejects(readAll(at("index.jsonl")), fails("JSONL_META", /names a table/));
});

test("Parquet keeps ChessDecoder's columns, nothing where nothing was, and variations", async () => {
  const rows = [0, 1, 2].map((ply) => ({
    ...Object.fromEntries(DECODER_COLUMNS.map((name) => [name, /_[qdm]$/.test(name) ? 0.25 * ply : "e2e4"])),
    game_id: "g1",
    ply,
    fen: START,
    plies_left: 9,
    visits: 800,
    ...(ply === 1 ? {} : { variations: { e2e4: [1, 2] }, mcts_value: 0.5 }),
  })) as DataRecord[];
  await writeAll(at("rows.parquet"), rows);
  assert.deepEqual(await readAll(at("rows.parquet")), rows);
  await writeAll(at("rows@2.parquet"), rows);
  assert.deepEqual(await readAll(at("rows@2.parquet")), rows);
});

test("a Parquet file without a needed column, or that is none, is refused by name", async () => {
  await writeAll(at("few.parquet"), [{ fen: START, ply: 3 }]);
  const columns = ["ply", "best_q", "visits"];
  const message = /few\.parquet: the columns best_q, visits are missing\. It has: fen, ply/;
  await assert.rejects(openParquet(at("few.parquet"), { columns }), fails("PARQUET_COLUMN", message));
  writeFileSync(at("none.parquet"), "PAR1 and nothing more");
  await assert.rejects(readAll(at("none.parquet")), fails("PARQUET_FILE", /none\.parquet/));
});

test("whole numbers of 64 bits, lists of them and NaN become what JSON can hold", async () => {
  const list = { converted_type: "LIST", repetition_type: "OPTIONAL", num_children: 1 } as const;
  const bytes = parquetWriteBuffer({
    schema: [
      { name: "root", num_children: 4 },
      { name: "fen", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "REQUIRED" },
      { name: "score", type: "INT64", repetition_type: "OPTIONAL" },
      { name: "q", type: "DOUBLE", repetition_type: "OPTIONAL" },
      { name: "visits", ...list },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", type: "INT64", repetition_type: "OPTIONAL" },
    ],
    columnData: [
      { name: "fen", data: [START, START] },
      { name: "score", data: [null, 7n] },
      { name: "q", data: [Number.NaN, 0.5] },
      { name: "visits", data: [[1n, 2n], [2n ** 53n + 1n]] },
    ],
  });
  writeFileSync(at("wide.parquet"), new Uint8Array(bytes));
  const rows = [
    { fen: START, visits: [1, 2] },
    { fen: START, score: 7, q: 0.5, visits: ["9007199254740993"] },
  ];
  assert.deepEqual(await readAll(at("wide.parquet")), rows);
  await writeAll(at("wide.jsonl"), rows);
  assert.deepEqual(await readAll(at("wide.jsonl")), rows);
});

test("a table whose first rows have no score takes scores later", async () => {
  const rows = Array.from({ length: 65_537 }, (_, i) => ({
    fen: START,
    ...(i < 65_536 ? { score: null } : { score: 9 }),
  }));
  await writeAll(at("late.parquet"), rows as DataRecord[]);
  assert.deepEqual((await readAll(at("late.parquet"))).at(-1), { fen: START, score: 9 });
});

test("a damaged page or footer of Parquet is a message that names the file", async () => {
  await writeAll(
    at("whole.parquet"),
    Array.from({ length: 300 }, (_, ply) => ({ fen: `${START}${ply}`, ply })),
  );
  const whole = readFileSync(at("whole.parquet"));
  for (const byte of [5, 12, 30, 31, 40, whole.length - 60, whole.length - 120]) {
    const damaged = Buffer.from(whole).fill(0xff, byte, byte + 12);
    writeFileSync(at("damaged.parquet"), damaged);
    await assert.rejects(readAll(at("damaged.parquet")), fails("PARQUET_FILE", /damaged\.parquet: /));
  }
});

test("no byte of a Parquet file can be damaged so that it is read for ever or takes memory without end", async () => {
  const numbers = Array.from({ length: 20 }, (_, i) => i * i - 90);
  const fen = { name: "fen", data: numbers.map((n) => `${START}${n % 3}`), type: "STRING" as const };
  const tables: Parameters<typeof parquetWriteBuffer>[0][] = [
    { columnData: [fen, { name: "score", data: numbers.map((n) => (n % 2 ? n : null)), type: "INT32" }] },
    { columnData: [{ ...fen, encoding: "DELTA_BYTE_ARRAY" }, { name: "n", data: numbers, type: "INT32", encoding: "DELTA_BINARY_PACKED" }] }, // biome-ignore format: a row
    { columnData: [fen, { name: "lines", data: numbers.map((n) => [{ n, moves: ["e2e4"] }]) }] },
  ];
  let refused = 0;
  /** Reads a copy with one other byte; the files are many so that they can be read side by side. */
  const damage = async (whole: Uint8Array, byte: number, value: number) => {
    const path = at(`damaged-${byte}-${value}.parquet`);
    writeFileSync(path, whole.with(byte, value));
    await readAll(path, { onBad() {} }).catch((error: UserError) => {
      assert.match(error.code ?? error.stack, /^PARQUET_/);
      refused++;
    });
    rmSync(path);
  };
  for (const table of tables) {
    const whole = new Uint8Array(parquetWriteBuffer({ codec: "UNCOMPRESSED", ...table }));
    for (let first = 4; first < whole.length - 4; first += 32) {
      const bytes = Array.from(whole.subarray(first, Math.min(first + 32, whole.length - 4)), (value, i) => [
        first + i,
        value,
      ]);
      await Promise.all(bytes.map(([byte, value]) => damage(whole, byte, value ^ (byte % 2 ? 0x80 : 3))));
    }
  }
  assert.ok(refused > 300, `${refused} refused`);
});

test("a zstd frame that says it becomes more than its blocks can is refused before memory is taken", () => {
  const frame = encodeFrame(new Uint8Array(300_000));
  frame[4] = 0xe0; // the size of the content in 8 bytes: 2^40 and more
  assert.throws(
    () => decodeFrame(frame),
    fails("BAGZ_FRAME", /it says that it becomes \d{8,} bytes, but its blocks become|too early/),
  );
  const long = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0]); // a window of 2 GB, one empty block
  assert.throws(() => decodeFrame(long), fails("BAGZ_FRAME", /a window of 2147483648 bytes for 0 at most/));
});

test("Bagz offsets may stand in a file of their own", async () => {
  const contents = ["one", "", "three"].map((text) => new TextEncoder().encode(text));
  writeFileSync(at("apart.bag"), Buffer.concat(contents));
  const limits = new BigUint64Array([3n, 3n, 8n]);
  writeFileSync(at("limits.apart.bag"), new Uint8Array(limits.buffer));
  const reader = await BagReader.open(at("apart.bag"));
  assert.equal(reader.length, 3);
  assert.deepEqual([...reader.contents()].map(String), contents.map(String));
  assert.deepEqual(String(reader.get(2)), String(contents[2]));
  reader.close();
});

test("bullet records hold the board as the side to move sees it, and the bytes of a known one are right", async () => {
  const known = { fen: "r1bq1rk1/pp2bppp/2n2n2/2pp2B1/Q7/6P1/PPPNPPBP/R3K1NR w - - 0 1", score: -343, result: -1 };
  await writeAll(at("known.bf"), [known]);
  // docs/formats/bullet.md
  const hex = "d1ff40014c24f36d5331001000024088 9289a888b8cadb00a9fe000406000000".replace(" ", "");
  assert.equal(readFileSync(at("known.bf")).toString("hex"), hex);
  assert.deepEqual(await readAll(at("known.bf")), [known]);
  const black = { fen: "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", score: 12, result: 1 };
  await writeAll(at("black.bullet"), [black]);
  assert.deepEqual(await readAll(at("black.bullet")), [{ ...black, fen: "4k3/4p3/8/8/8/8/8/4K3 w - - 0 1" }]);
});

test("names tell formats", async () => {
  assert.equal(formatOf("a/b.jsonl.zst"), "jsonl");
  assert.equal(formatOf("x@3.bagz"), "bagz");
  assert.equal(formatOf("x.BIN"), "bin");
  assert.equal(formatOf("x.pgn"), undefined);
  writeFileSync(at("x.table"), "?");
  await assert.rejects(openRecords(at("x.table")), fails("FORMAT_UNKNOWN", /x\.table: its name/));
});

test("a finished file is whole, but has no name before commit", async () => {
  const names = ["bin", "binpack", "plain", "bag", "bagz", "jsonl", "jsonl.gz", "parquet"].map(
    (end) => `unnamed.${end}`,
  );
  const named = () => readdirSync(folder).filter((file) => /^unnamed/.test(file));
  const begin = async (name: string) => {
    const writer = await createRecords(at(name), { moves: "moves4672" });
    await writer.write(/bag/.test(name) ? VALUES : name.includes("jsonl") ? [{ fen: START, move_index: 1 }] : SCORED);
    return writer;
  };
  for (const name of [...names, "unnamed@2.bagz", "unnamed@2.parquet"]) {
    const given = await begin(name);
    await given.finish();
    assert.deepEqual(named(), []);
    await given.abort();
    const writer = await begin(name);
    await writer.finish();
    await writer.commit();
    const [before] = named();
    const bytes = readFileSync(at(before));
    await (await begin(name)).abort();
    const again = await begin(name);
    await again.commit();
    assert.ok(readFileSync(at(before)).equals(bytes), name);
    assert.equal((await readAll(at(name), { moves: "moves4672" })).length > 0, true);
    for (const file of named()) rmSync(at(file));
  }
  assert.deepEqual(readdirSync(folder).filter((file) => file.endsWith(".part")), []); // biome-ignore format: short
});

test("an aborted file leaves nothing behind", async () => {
  for (const extension of ["bin", "binpack", "plain", "bag", "bagz", "jsonl", "parquet"]) {
    const writer = await createRecords(at(`gone.${extension}`));
    await writer.write(extension.startsWith("bag") ? VALUES : SCORED);
    await writer.abort();
  }
  assert.deepEqual(readdirSync(folder).filter((file) => file.includes("gone")), []); // biome-ignore format: short
});

test("puzzles are read as the solver's positions, with the solution and what the themes say it is worth", async () => {
  const path = at("puzzles.csv");
  writeFileSync(
    path,
    "PuzzleId,FEN,Moves,Rating,Themes\n" +
      "a,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1784,crushing long\n" +
      "b,6k1/5ppp/8/8/8/8/r7/1R2R1K1 b - - 0 1,a2a3 b1b8,900,mate mateIn1\n" +
      "c,6k1/5ppp/8/8/8/8/r7/1R2R1K1 b - - 0 1,a2a3 b1c7,900,mate\n" +
      "d,6k1/5ppp/8/8/8/8/r7/1R2R1K1 b - - 0 1,a2a3 b1b8,900,short\n",
  );
  const bad: string[] = [];
  const records = await readAll(path, { onBad: ({ message }) => bad.push(message) });
  assert.deepEqual(bad, [
    `${path}: line 4: the move b1c7 of puzzle c is not legal in 6k1/5ppp/8/8/8/r7/8/1R2R1K1 w - - 1 2.`,
  ]);
  assert.deepEqual(
    records.map(({ move }) => move),
    ["e6e7", "b3c1", "h6c1", "b1b8", "b1b8"],
  );
  assert.equal(records[0].fen, "r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2b1/PqP3PP/7K w - - 0 25");
  assert.ok(Math.abs(records[0].win_prob! - 0.901) < 0.001);
  assert.equal(records[3].win_prob, 1);
  assert.equal(records[4].win_prob, undefined);
  await assert.rejects(createRecords(at("new.csv")), { code: "FORMAT_READ_ONLY" });
});
