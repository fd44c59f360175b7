import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, test } from "vitest";
import {
  commitAll,
  createOutput,
  decompress,
  Output,
  openBytes,
  openRandom,
  openZip,
  readBytes,
  readText,
  writeFile,
} from "./files.js";
import { appendToFile } from "./folders.js";
import { readLineBatches, readLines } from "./lines.js";
import { ZSTD_DECODERS } from "./node-files.js";
import { Random } from "./random.js";
import { createScratch } from "./scratch.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const has = (program: string) => spawnSync(program, ["--help"], { stdio: "ignore" }).error === undefined;

const random = new Random(1);
/** Text with runs and repeats, so that every compressor has something to do. */
const text = Array.from(
  { length: 25_000 },
  () => `${random.below(50)} ${"e".repeat(random.below(9))}4 Nf3 ${random.bits()}`,
)
  .join("\n")
  .concat("\n");
const plain = Buffer.from(text);
writeFileSync(at("plain.txt"), plain);
const code = (expected: string, message?: RegExp) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, expected, String(error));
  if (message) assert.match((error as Error).message, message);
  return true;
};
async function* inPieces(bytes: Uint8Array, size: number) {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}
const sha = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
async function all(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const list: Uint8Array[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return Buffer.concat(list);
}

test("a plain file and a gzip file of several members are read whole, whatever their names", async () => {
  assert.equal(sha(await readBytes(at("plain.txt"))), sha(plain));
  writeFileSync(at("members.txt"), Buffer.concat([gzipSync(plain.subarray(0, 1000)), gzipSync(plain.subarray(1000))]));
  assert.equal(sha(await readBytes(at("members.txt"))), sha(plain));
});

test("the raw bytes read so far are counted, for progress", async () => {
  writeFileSync(at("a.gz"), gzipSync(plain));
  const source = await openBytes(at("a.gz"));
  assert.equal(source.bytesRead, 0);
  await all(source);
  assert.equal(source.bytesRead, source.size);
  assert.equal(source.size, readFileSync(at("a.gz")).length);
});

test("a cut-off gzip is reported with its name", async () => {
  const whole = gzipSync(plain);
  writeFileSync(at("cut.gz"), whole.subarray(0, whole.length - 20));
  await assert.rejects(readBytes(at("cut.gz")), code("FILE_TRUNCATED", /cut\.gz: .*ends too early/));
});

test("a damaged gzip is reported with its name", async () => {
  const whole = gzipSync(plain);
  whole.fill(0xff, whole.length >> 1, (whole.length >> 1) + 50);
  writeFileSync(at("bad.gz"), whole);
  await assert.rejects(readBytes(at("bad.gz")), code("FILE_CORRUPT", /bad\.gz/));
});

test("a missing file and a folder are refused before anything is read", async () => {
  await assert.rejects(openBytes(at("none.pgn")), code("FILE_MISSING", /none\.pgn: no such file/));
  await assert.rejects(openBytes(folder), code("FILE_IS_FOLDER"));
  await assert.rejects(openRandom(at("none.bag")), code("FILE_MISSING"));
  await assert.rejects(openRandom(folder), code("FILE_IS_FOLDER"));
});

for (const { name, available, decode } of ZSTD_DECODERS) {
  test.skipIf(!available() || !has("zstd"))(
    `zstd by ${name}: frames in a row, frames to skip, long windows, cuts`,
    async () => {
      const zstd = (...args: string[]) => execFileSync("zstd", ["-qc", ...args], { input: plain, maxBuffer: 1 << 28 });
      const skip = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);
      const file = Buffer.concat([skip, zstd(), skip, zstd("--long=28", "-19"), zstd("--no-check", "-1"), skip]);
      const want = sha(Buffer.concat([plain, plain, plain]));
      assert.equal(sha(await all(decode(inPieces(file, 65536), "x.zst"))), want);
      assert.equal(sha(await all(decode(inPieces(file, 999), "x.zst"))), want);
      const cut = zstd();
      for (const missing of [1, 5, 1000, cut.length - 6]) {
        const cutOff = inPieces(cut.subarray(0, cut.length - missing), 65536);
        await assert.rejects(all(decode(cutOff, "x.zst")), code("FILE_TRUNCATED", /^x\.zst: .*ends too early/));
      }
      const damaged = Buffer.from(cut);
      damaged.fill(0xff, 20, 60);
      await assert.rejects(
        all(decode(inPieces(damaged, 65536), "x.zst")),
        code("FILE_CORRUPT", /^x\.zst: damaged zstd/),
      );
      for await (const _ of decode(inPieces(file, 999), "x.zst")) break; // a reader may leave early
    },
  );
}

test.skipIf(!has("bzip2"))("bzip2: runs, several files in a row, every block size, cuts, damage", async () => {
  const runs = Buffer.concat([Buffer.alloc(1_000_003, 120), Buffer.from("aaaabbbbbcccccccdddd"), Buffer.alloc(300, 0)]);
  const bzip2 = (input: Buffer, level: string) => execFileSync("bzip2", ["-c", level], { input, maxBuffer: 1 << 28 });
  const file = Buffer.concat([bzip2(plain, "-1"), bzip2(runs, "-9"), bzip2(Buffer.alloc(0), "-5"), bzip2(plain, "-9")]);
  writeFileSync(at("a.bz2"), file);
  assert.equal(sha(await readBytes(at("a.bz2"))), sha(Buffer.concat([plain, runs, plain])));
  assert.equal(sha(await all(decompress(inPieces(file, 777), "x.bz2"))), sha(Buffer.concat([plain, runs, plain])));
  const cut = inPieces(file.subarray(0, file.length - 1000), 65536);
  await assert.rejects(all(decompress(cut, "x.bz2")), code("FILE_TRUNCATED", /x\.bz2/));
  const damaged = Buffer.from(file);
  damaged[50_000] ^= 4;
  await assert.rejects(all(decompress(inPieces(damaged, 65536), "x.bz2")), code("FILE_CORRUPT", /x\.bz2/));
});

/** A .zip of one stored and one deflated file, made by hand from the format's description. */
function makeZip(members: { name: string; method: number; data: Buffer; size: number }[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, method, data, size } of members) {
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(data.length, 14);
    fields.writeUInt32LE(size, 18);
    fields.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    fields.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    directory.push(entry, Buffer.from(name));
    const local = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), fields, Buffer.from(name), data]);
    parts.push(local);
    offset += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}

test("the members of a .zip are listed and read; a .zip of one file reads as that file", async () => {
  const deflated = gzipSync(plain).subarray(10, -8); // the gzip header and trailer go
  const one = { name: "book.pgn", method: 8, data: deflated, size: plain.length };
  const stored = { name: "a/notes.txt", method: 0, data: Buffer.from("stored"), size: 6 };
  writeFileSync(at("two.zip"), makeZip([one, { name: "a/", method: 0, data: Buffer.alloc(0), size: 0 }, stored]));
  const members = await openZip(at("two.zip"));
  assert.deepEqual(
    members.map(({ name, size }) => [name, size]),
    [["book.pgn", plain.length], ["a/notes.txt", 6]], // biome-ignore format: a table
  );
  assert.equal(sha(await all(members[0].open())), sha(plain));
  assert.equal(String(await all(members[1].open())), "stored");
  await assert.rejects(readBytes(at("two.zip")), code("FILE_ZIP", /2 files/));
  writeFileSync(at("one.zip"), makeZip([one]));
  assert.equal(sha(await readBytes(at("one.zip"))), sha(plain));
  writeFileSync(at("cut.zip"), makeZip([one]).subarray(0, -30));
  await assert.rejects(readBytes(at("cut.zip")), code("FILE_CORRUPT", /cut\.zip/));
});

test("lines come out the same however the bytes are cut", async () => {
  const unusual = Buffer.from("\ufeffé1\r\nzwei\n\n€uro\nlast without end");
  for (const size of [1, 2, 3, 7, 100]) {
    const lines: string[] = [];
    for await (const line of readLines(inPieces(unusual, size), "x")) lines.push(line);
    assert.deepEqual(lines, ["é1", "zwei", "", "€uro", "last without end"]);
  }
});

test("line batches know where they begin", async () => {
  const seen: number[][] = [];
  for await (const { lines, firstLine, firstByte } of readLineBatches(inPieces(Buffer.from("ab\nc\nde\nf"), 4), "x"))
    seen.push([lines.length, firstLine, firstByte]);
  assert.deepEqual(seen, [[1, 1, 0], [2, 2, 3], [1, 4, 8]]); // biome-ignore format: a table
});

test("a binary file is not read as lines", async () => {
  const binary = inPieces(Buffer.from([65, 10, 66, 0, 67, 10]), 2);
  await assert.rejects(
    async () => {
      for await (const _ of readLines(binary, "x.bin"));
    },
    code("FILE_NOT_TEXT", /x\.bin: byte 3 is 0/),
  );
});

test("random access reads what is asked for, and says where a file ends", async () => {
  const file = await openRandom(at("plain.txt"));
  assert.equal(file.size, plain.length);
  assert.deepEqual(Buffer.from(file.read(1234, 50)), plain.subarray(1234, 1284));
  assert.throws(() => file.read(plain.length - 3, 5), code("FILE_TRUNCATED", /ends at byte/));
  file.close();
});

test("a file has its name only after commit, and replaces the old one whole", async () => {
  mkdirSync(at("out"));
  writeFileSync(at("out/a.txt"), "old");
  const output = await createOutput(at("out/a.txt"));
  for (let i = 0; i < plain.length; i += 1000) await output.write(plain.subarray(i, i + 1000));
  assert.equal(readFileSync(at("out/a.txt"), "utf8"), "old");
  await output.commit();
  assert.equal(sha(readFileSync(at("out/a.txt"))), sha(plain));
  const given = await createOutput(at("out/b.txt"));
  await given.write("something");
  await given.abort();
  await writeFile(at("out/c.txt"), "c");
  assert.deepEqual(readdirSync(at("out")), ["a.txt", "c.txt"]);
});

test("files that belong together get their names only when all of them are whole", async () => {
  mkdirSync(at("both"));
  writeFileSync(at("both/a.txt"), "old");
  const a = await createOutput(at("both/a.txt"));
  await a.write("new");
  const late = { finish: () => Promise.reject(new Error("no room")), async commit() {}, async abort() {} };
  await assert.rejects(commitAll([a, late]), /no room/);
  assert.equal(readFileSync(at("both/a.txt"), "utf8"), "old");
  await a.abort();
  assert.deepEqual(readdirSync(at("both")), ["a.txt"]);
  const again = await createOutput(at("both/a.txt"));
  await again.write("new");
  await commitAll([again, await createOutput(at("both/b.txt"))]);
  assert.equal(readFileSync(at("both/a.txt"), "utf8"), "new");
  assert.deepEqual(readdirSync(at("both")), ["a.txt", "b.txt"]);
});

test("what a killed process left half written is removed by the next that writes there; what others write stays", async () => {
  mkdirSync(at("left"));
  const program = `const { createOutput } = await import(${JSON.stringify(new URL("../../dist/base/index.js", import.meta.url).href)});
    const output = await createOutput(process.argv[1]);
    await output.write("half");
    process.kill(process.pid, "SIGKILL");`;
  const kill = () => spawnSync(process.execPath, ["--input-type=module", "-e", program, at("left/a.txt")]);
  kill();
  const [left, ...more] = readdirSync(at("left"));
  assert.match(left, /^\.a\.txt\.\w{8}-\d+-0\.part$/);
  assert.deepEqual(more, []);
  // Of a process that lives, of another machine, and of another program.
  const others = [left.replace(/-\d+-/, "-1-"), left.replace(/\.\w{8}-/, ".00000000-"), ".x.part"].sort();
  for (const name of others) writeFileSync(at(`left/${name}`), "");
  const output = await createOutput(at("left/b.txt"));
  await output.abort();
  assert.deepEqual(readdirSync(at("left")), others);
});

test("the name decides the compression", async () => {
  await writeFile(at("out.gz"), plain);
  assert.ok(readFileSync(at("out.gz")).length < plain.length / 2);
  assert.equal(await readText(at("out.gz")), text);
  if (!has("zstd")) return;
  await writeFile(at("out.zst"), plain);
  assert.equal(sha(execFileSync("zstd", ["-dc", at("out.zst")], { maxBuffer: 1 << 28 })), sha(plain));
});

test("a full disk leaves nothing under the name", async () => {
  let room = 600_000;
  const raw = {
    async write(bytes: Uint8Array) {
      room -= bytes.length;
      if (room < 0) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    },
    async finish() {},
    async discard() {},
  };
  writeFileSync(at("full.part"), "");
  const output = new Output(at("full.bin"), at("full.part"), raw);
  await assert.rejects(
    async () => {
      for (let i = 0; i < 100; i++) await output.write(new Uint8Array(10_000));
    },
    code("DISK_FULL", /full\.bin: the disk is full/),
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith("full")),
    [],
  );
});

test.skipIf(process.platform !== "linux")("a disk that fills while a file grows is told in words", async () => {
  await assert.rejects(appendToFile("/dev/full", "x"), code("DISK_FULL", /\/dev\/full: the disk is full/));
});

test.skipIf(process.platform !== "linux")(
  "a folder that is missing is named when a file is to be made in it",
  async () => {
    await assert.rejects(createOutput(at("nowhere/a.txt")), code("FILE_MISSING", /nowhere\/a\.txt/));
  },
);

test.skipIf(process.platform !== "linux")(
  "where nothing may be written, room on the disk is found elsewhere",
  async () => {
    const scratch = await createScratch("/sys/moves.jsonl"); // nobody may make files there
    await scratch.write(Uint8Array.of(1, 2, 3));
    assert.deepEqual([...scratch.read(1, 2)], [2, 3]);
    await scratch.close();
    await assert.rejects(createScratch("/nowhere/moves.jsonl"), { code: "FILE_MISSING" });
  },
);
