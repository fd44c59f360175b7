// Values printed by the real lc0 for three Maia networks. What the planes and the numbers of moves should be is always
// compared; what the networks say, where their files are (they may not be part of this repository).
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { Random, writeFile } from "#base";
import { formatUci, type Position, parseFen, parseUci, START_FEN } from "#chess";
import { encodeLc0Planes, Lc0Batch, MOVE_TABLES } from "#encodings";
import { readLc0 } from "#formats";
import { exportNetwork, inferenceOf, Lc0, loadNetwork } from "#models";
import { exportOnnx, input, Session } from "#tensor";
import { writeTiny } from "../src/formats/weights/lc0-testing.js";

interface Answer {
  policyExact: Record<string, number>;
  wdlExact: [number, number, number];
}
interface Case {
  start: string;
  moves: string[];
  fen: string;
  index: Record<string, number>;
  nets: Record<string, Answer>;
}
type Rows = [plane: number, mask: string, value: number][];

const { positions: cases, onnx } = JSON.parse(readFileSync("test/fixtures/vectors/maia.json", "utf8")) as {
  positions: Case[];
  onnx: { position?: number; planes: Rows }[];
};
const seen = onnx.flatMap(({ position, planes }) => (position === undefined ? [] : [{ position, planes }]));

const positionOf = ({ start, moves }: Case): Position => {
  const position = parseFen(start === "startpos" ? START_FEN : start);
  for (const text of moves) position.play(parseUci(position, text)!);
  return position;
};
const positions = cases.map(positionOf);

const planesOf = (rows: Rows): Float32Array => {
  const planes = new Float32Array(112 * 64);
  for (const [plane, mask, value] of rows) {
    const set = BigInt(`0x${mask}`);
    for (let square = 0; square < 64; square++) if ((set >> BigInt(square)) & 1n) planes[plane * 64 + square] = value;
  }
  return planes;
};

test("there are 92 positions to compare with, and planes of 14 of them", () => {
  assert.deepEqual([cases.length, seen.length], [92, 14]);
});

test("every legal move has the index that lc0 printed for it", () => {
  for (const [i, position] of positions.entries()) {
    const found = position
      .moves()
      .map((move) => [formatUci(position, move), MOVE_TABLES.moves1858.encode(position, move)]);
    assert.deepEqual(Object.fromEntries(found), cases[i].index, cases[i].fen);
  }
});

test("the planes are lc0's, history, repetitions and all, one by one and in a batch", () => {
  const some = seen.map(({ position }) => positions[position]);
  const batch = new Lc0Batch(some.length).encode(some);
  for (const [i, { position, planes }] of seen.entries()) {
    const expected = planesOf(planes);
    const out = new Float32Array(112 * 64);
    encodeLc0Planes(positions[position], out);
    assert.deepEqual(out, expected, cases[position].fen);
    assert.deepEqual(batch.slice(i * 7168, (i + 1) * 7168), expected, cases[position].fen);
  }
});

for (const [name, products] of ["maia-1100", "maia-1500", "maia-1900"].flatMap(
  (net) =>
    [
      [net, false],
      [net, true],
    ] as const,
)) {
  const file = `../shared/data/nets/${name}.pb.gz`;
  const how = products ? "products of matrices" : "convolutions";
  test.runIf(existsSync(file))(`${name} says what it says in lc0, computed by ${how}`, async () => {
    const { family, network } = await loadNetwork(file);
    const { outputs, feeds } = inferenceOf(family, network);
    const session = await Session.open(exportOnnx(outputs, { products }), { threads: 1 });
    const answers: { logits: Float32Array; wdl: Float32Array; value: number }[] = [];
    for (const batch of feeds(positions)) {
      const { policy, wdl, value } = await session.run(batch);
      for (let i = 0; i < value.data.length; i++) {
        const row = (data: unknown, width: number) => (data as Float32Array).subarray(i * width, (i + 1) * width);
        answers.push({ logits: row(policy.data, 1858), wdl: row(wdl.data, 3), value: Number(value.data[i]) });
      }
    }
    await session.close();
    for (const [i, position] of positions.entries()) {
      const { policyExact, wdlExact } = cases[i].nets[name];
      const { logits, wdl, value } = answers[i];
      const moves = position.moves();
      const weights = moves.map((move) => Math.exp(logits[MOVE_TABLES.moves1858.encode(position, move)]));
      const sum = weights.reduce((a, b) => a + b);
      // 1e-5: float32 inference in another order of operations (the file's notes).
      for (const [k, move] of moves.entries()) {
        const text = formatUci(position, move);
        assert.ok(Math.abs(weights[k] / sum - policyExact[text]) < 1e-5, `${cases[i].fen}: ${text}`);
      }
      // At 99 plies the input is large, and lc0's own float32 is 2e-5 away from the same sums in float64.
      const bound = position.halfmoves === 99 ? 3e-5 : 1e-5;
      for (let k = 0; k < 3; k++) assert.ok(Math.abs(wdl[k] - wdlExact[k]) < bound, cases[i].fen);
      assert.ok(Math.abs(value - (wdlExact[0] - wdlExact[2])) < 2 * bound);
    }
  });
}

for (const [title, options] of [
  ["classical heads", {}],
  ["a convolutional policy", { policy: "convolution" }],
  ["win, draw and loss", { value: "wdl" }],
  ["squeeze and excitation", { squeeze: 2, policy: "convolution", value: "wdl" }],
] as const) {
  test(`a small network with ${title} is loaded, run, and the same after a trip through safetensors`, async () => {
    const file = join(mkdtempSync(join(tmpdir(), "tabiya-")), "tiny.pb.gz");
    await writeFile(file, writeTiny(options)); // compressed, by its name
    const { family, network } = await loadNetwork(file);
    assert.equal(family, "lc0");
    const { bytes, differences } = await exportNetwork(family, network, "safetensors", positions.slice(0, 4));
    assert.ok(bytes.length > 0);
    const isWdl = "value" in options;
    assert.deepEqual(Object.keys(differences).sort(), ["policy", "value", ...(isWdl ? ["wdl"] : [])]);
    for (const difference of Object.values(differences)) assert.equal(difference, 0);
  });
}

test("a small network's first layers compute what their numbers say", async () => {
  const network = Lc0.of(readLc0(writeTiny({ value: "classical" }), "tiny.pb"), new Random(1));
  const session = await Session.open(exportOnnx({ x: network.input.apply(input("planes", ["n", 112, 8, 8])) }));
  const planes = new Float32Array(112 * 64);
  planes[3 * 64 + 9] = 2; // b2 of the fourth plane
  const { x } = await session.run({ planes });
  await session.close();
  const weight = (tap: number) => (((3 * 9 + tap) % 7) - 3) / 16; // as the writer made them
  for (let tap = 0; tap < 9; tap++) {
    const square = 8 * (1 - (Math.floor(tap / 3) - 1)) + 1 - ((tap % 3) - 1); // that sees b2 through this tap
    assert.ok(Math.abs(Number(x.data[square]) - 2 * weight(tap)) < 1e-6, `tap ${tap}`);
  }
});
