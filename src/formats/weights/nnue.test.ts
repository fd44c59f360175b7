import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { HALFKP_DESCRIPTION, HALFKP_SHAPE, type HalfKpWeights } from "./halfkp.js";
import { JNN_DIALECTS, readJnn, writeJnn } from "./jnn.js";
import { readNnueNetwork } from "./network.js";
import { readNnue, writeNnue } from "./nnue.js";
import { writeRawWide } from "./raw-wide.js";
import { readWide, type WideWeights, writeWide } from "./wide.js";

const NET = "../shared/data/nets/nn-82215d0fd0df.nnue";

/** Every part different, and every number different from its neighbours. */
function network(): HalfKpWeights {
  const { inputs, hidden, first, second } = HALFKP_SHAPE;
  return {
    kind: "halfkp",
    description: HALFKP_DESCRIPTION,
    featureBias: new Int16Array(hidden).map((_, i) => i - 300),
    featureWeights: new Int16Array(inputs * hidden).map((_, i) => (i * 7919) % 601),
    firstBias: new Int32Array(first).map((_, i) => i * -70_001),
    firstWeights: new Int8Array(first * hidden * 2).map((_, i) => i * 31),
    secondBias: new Int32Array(second).map((_, i) => i * 100_003),
    secondWeights: new Int8Array(second * first).map((_, i) => i * 17 + 1),
    outputBias: Int32Array.of(-123_456),
    outputWeights: new Int8Array(second).map((_, i) => i * 5 - 80),
  };
}

const wide = (): WideWeights => ({
  kind: "wide",
  description: "for a test",
  hidden: 32,
  kingBuckets: Array.from({ length: 64 }, (_, square) => square >> 5),
  mirrored: true,
  outputs: 2,
  featureScale: 181,
  outputScale: 2185,
  centipawns: 400,
  featureBias: new Int16Array(32).map((_, i) => i),
  featureWeights: new Int16Array(2 * 768 * 32).map((_, i) => i % 999),
  outputWeights: new Int16Array(2 * 64).map((_, i) => i - 30),
  outputBias: Int32Array.of(70_000, -70_000),
});

const code = (expected: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Error && "code" in error && error.code === expected, String(error));
  assert.match(error.message, message);
  return true;
};

test("a network survives .nnue and both dialects of .jnn", () => {
  const weights = network();
  assert.deepEqual(readNnue(writeNnue(weights), "x.nnue"), weights);
  for (const dialect of JNN_DIALECTS) {
    const bytes = writeJnn(weights, dialect);
    assert.deepEqual(readJnn(bytes, "x.jnn"), weights);
    assert.deepEqual(readNnueNetwork(bytes, "x.jnn"), weights);
  }
});

test("the bytes stand where Stockfish 12 and Jomfish look for them", () => {
  const weights = network();
  const nnue = writeNnue(weights);
  const view = new DataView(nnue.buffer);
  assert.equal(nnue.length, 21_022_697);
  assert.equal(view.getUint32(0, true), 0x7af32f16);
  assert.equal(view.getUint32(4, true), 0x3e5aa6ee);
  assert.equal(view.getUint32(8, true), 177);
  assert.equal(view.getUint32(189, true), 0x5d69d7b8);
  assert.equal(view.getInt16(193, true), -300);
  assert.equal(view.getInt16(193 + 512 + 2, true), 7919 % 601);
  assert.equal(view.getUint32(193 + 512 + 41024 * 512, true), 0x63337156);
  assert.equal(view.getInt8(nnue.length - 1), 75);
  const jomf = new DataView(writeJnn(weights, "jomf").buffer);
  assert.deepEqual([jomf.getUint32(0, true), jomf.getUint32(4, true)], [0x4a4f4d46, 0x00010001]);
  assert.equal(jomf.getUint32(12 + 177, true), 0x46495458);
  assert.equal(jomf.getUint32(12 + 177 + 4 + 512 + 41024 * 512, true), 0x4c415945);
  assert.equal(new DataView(writeJnn(weights, "stockfish").buffer).getUint32(0, true), 0x7af32f17);
});

test("a network of another architecture is refused by name", () => {
  const header = (...words: number[]) => new Uint8Array(new Uint32Array(words).buffer);
  const refused = (bytes: Uint8Array, name: RegExp) =>
    assert.throws(() => readNnueNetwork(bytes, "x.nnue"), code("NNUE_ARCHITECTURE", name));
  refused(header(0x7af32f20, 0x3c103e72, 0, 0x5f234cb8 ^ 1024), /HalfKAv2 of Stockfish 14, with a first layer of 512/);
  refused(header(0x7af32f20, 0x1c1020f2, 0, 0x7f234cb8 ^ 2048), /HalfKAv2_hm of Stockfish 15 and later/);
  refused(header(0x7af32f16, 0x12345678, 0, 0x5d69d5b8 ^ 256), /HalfKP, with a first layer of 128/);
  assert.throws(
    () => readNnueNetwork(header(0x04034b50, 0, 0, 0), "x.nnue"),
    code("FILE_WRONG", /a zip archive.*\nUnpack it first/),
  );
});

test("a file that is cut off, too long or damaged is refused with the byte", () => {
  const bytes = writeNnue(network());
  assert.throws(
    () => readNnue(bytes.subarray(0, 1000), "x"),
    code("NNUE_LENGTH", /weights of the feature transformer.*byte 705/),
  );
  const longer = new Uint8Array(bytes.length + 3);
  longer.set(bytes);
  assert.throws(() => readNnue(longer, "x"), code("NNUE_LENGTH", /3 bytes follow/));
  bytes[189] ^= 1;
  assert.throws(() => readNnue(bytes, "x"), code("NNUE_CORRUPT", /byte 189/));
  assert.throws(() => readNnue(new Uint8Array(0), "x"), code("NNUE_LENGTH", /header/));
});

test("a wide network survives its file, and its header is checked", () => {
  const weights = wide();
  assert.deepEqual(readNnueNetwork(writeWide(weights), "x.tnn"), weights);
  assert.throws(
    () => readWide(writeWide({ ...weights, hidden: 48 }), "x.tnn"),
    code("NNUE_ARCHITECTURE", /multiple of 32/),
  );
  assert.throws(
    () => readWide(writeWide({ ...weights, outputScale: 40_000 }), "x.tnn"),
    code("NNUE_ARCHITECTURE", /outputScale/),
  );
  const first = writeWide(weights);
  first[3] = 0x31;
  assert.throws(() => readNnueNetwork(first, "x.tnn"), code("NNUE_VERSION", /x\.tnn.*TNN1.*expected TNN2/));
  assert.throws(() => readWide(writeWide(weights).subarray(0, 500), "x.tnn"), code("NNUE_LENGTH", /feature weights/));
});

test.skipIf(!existsSync(NET))("Stockfish 12's own network is written back byte for byte", () => {
  const bytes = new Uint8Array(readFileSync(NET));
  assert.equal(Buffer.compare(writeNnue(readNnue(bytes, NET)), bytes), 0);
});

test("a raw network keeps everything but its description, and says what is wrong with it", () => {
  const weights = wide();
  const bytes = writeRawWide(weights);
  assert.deepEqual(readNnueNetwork(bytes, "x.raw"), { ...weights, description: "" });
  assert.equal((bytes.length - 4 * weights.outputs) % 64, 0, "arrays begin at multiples of 64 bytes");
  const changed = (at: number, value: number) => {
    const copy = bytes.slice();
    copy[at] = value;
    return () => readNnueNetwork(copy, "x.raw");
  };
  assert.throws(changed(4, 2), code("NNUE_VERSION", /version 2; expected 1/));
  assert.throws(changed(8, 33), code("NNUE_ARCHITECTURE", /multiple of 32/));
  assert.throws(changed(12, 9), code("NNUE_ARCHITECTURE", /names 9 sets of weights, its squares 2/));
  assert.throws(changed(36, 1), code("NNUE_ARCHITECTURE", /its factor is/));
  assert.throws(() => readNnueNetwork(bytes.subarray(0, 100), "x.raw"), code("NNUE_LENGTH", /king buckets/));
});
