import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { Random } from "#base";
import { core, type Position, parseFen, START_FEN } from "#chess";
import { type HalfKpWeights, type NnueWeights, readNnueNetwork, type WideWeights } from "#formats";
import { NnueEvaluator, nnueImage } from "./nnue.js";
import { quantisationError } from "./nnue-export.js";
import { NNUE_SIZES, Nnue } from "./nnue-network.js";
import { quantiseNnue } from "./nnue-quantise.js";
import { syntheticHalfKp, syntheticWide } from "./nnue-synthetic.js";

const NET = "../shared/data/nets/nn-82215d0fd0df.nnue";
const ROLES = ["pawn", "knight", "bishop", "rook", "queen", "king"];
const STARTS = [
  START_FEN,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "8/PPPk4/8/8/8/8/4Kppp/8 w - - 0 1", // promotions
  "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", // en passant
  "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9", // Chess960
  "rk3r2/8/8/8/8/8/8/RK3R2 w FAfa - 0 1", // castling where king and rook change squares
];

/** HalfKP in plain numbers, from the definition. */
function referenceHalfKp(w: HalfKpWeights, position: Position): number {
  const half = (color: "white" | "black") => {
    const orient = (square: number) => (color === "white" ? square : square ^ 63);
    const pieces = [...position.pieces()];
    const king = pieces.find((piece) => piece.role === "king" && piece.color === color);
    const sums = Array.from(w.featureBias);
    for (const { role, color: owner, square } of pieces) {
      if (role === "king") continue;
      const kind = 2 * ROLES.indexOf(role) + (owner === color ? 0 : 1);
      const input = 1 + orient(square) + 64 * kind + 641 * orient(king?.square ?? 0);
      for (let i = 0; i < 256; i++) sums[i] += w.featureWeights[input * 256 + i];
    }
    return sums.map((x) => Math.min(127, Math.max(0, x)));
  };
  const layer = (x: number[], weights: Int8Array, bias: Int32Array) =>
    Array.from(bias, (b, o) => x.reduce((sum, value, i) => sum + value * weights[o * x.length + i], b));
  const clip = (x: number[]) => x.map((value) => Math.min(127, Math.max(0, Math.floor(value / 64))));
  const input = position.turn === "white" ? [...half("white"), ...half("black")] : [...half("black"), ...half("white")];
  const first = clip(layer(input, w.firstWeights, w.firstBias));
  const second = clip(layer(first, w.secondWeights, w.secondBias));
  return Math.trunc(layer(second, w.outputWeights, w.outputBias)[0] / 16) + 0;
}

/** The wide network in plain numbers. */
function referenceWide(w: WideWeights, position: Position): number {
  const pieces = [...position.pieces()];
  const half = (color: "white" | "black") => {
    const king = pieces.find((piece) => piece.role === "king" && piece.color === color)?.square ?? 0;
    const sideways = w.mirrored && (king & 7) >= 4 ? 7 : 0;
    const orient = (square: number) => square ^ sideways ^ (color === "white" ? 0 : 56);
    const sums = Array.from(w.featureBias);
    for (const { role, color: owner, square } of pieces) {
      const kind = ROLES.indexOf(role) + (owner === color ? 0 : 6);
      const input = w.kingBuckets[orient(king)] * 768 + kind * 64 + orient(square);
      for (let i = 0; i < w.hidden; i++) sums[i] += w.featureWeights[input * w.hidden + i];
    }
    return sums.map((x) => Math.min(w.featureScale, Math.max(0, Math.floor(x / 8))) ** 2);
  };
  const input = position.turn === "white" ? [...half("white"), ...half("black")] : [...half("black"), ...half("white")];
  const bucket = Math.floor((pieces.length - 2) / Math.ceil(32 / w.outputs));
  const weights = w.outputWeights.subarray(bucket * 2 * w.hidden);
  const sum = input.reduce((total, x, i) => total + x * weights[i], w.outputBias[bucket]);
  const factor = BigInt(Math.round((w.centipawns * 2 ** 32) / (w.featureScale ** 2 * w.outputScale)));
  return Number((BigInt(sum) * factor + 2n ** 31n) >> 32n);
}

const WIDE = syntheticWide(3, {
  hidden: 64,
  kingBuckets: Array.from({ length: 64 }, (_, square) => (square >> 3 === 0 ? (square & 7) >> 1 : 4)),
  mirrored: true,
  outputs: 8,
});
const HALFKP = syntheticHalfKp(2);

function* randomPositions(count: number): Generator<Position> {
  const random = new Random(7);
  for (let i = 0; i < count; i++) {
    const position = parseFen(random.pick(STARTS), { chess960: true });
    for (let ply = random.below(60); ply > 0 && position.moves().length > 0; ply--)
      position.play(random.pick(position.moves()));
    yield position;
  }
}

test("the core's HalfKP equals the definition in plain numbers", () => {
  const evaluator = new NnueEvaluator(HALFKP);
  const values = new Set<number>();
  for (const position of randomPositions(200)) {
    const value = evaluator.evaluate(position);
    assert.equal(value, referenceHalfKp(HALFKP, position), position.turn);
    values.add(value);
  }
  assert.ok(values.size > 100); // the network does tell positions apart
});

test("a wide network with king buckets, mirroring and output buckets equals its definition", () => {
  const evaluator = new NnueEvaluator(WIDE);
  const values = new Set<number>();
  for (const position of randomPositions(300)) {
    const value = evaluator.evaluate(position);
    assert.equal(value, referenceWide(WIDE, position));
    values.add(value);
  }
  assert.ok(values.size > 100);
});

test("a network of large weights is quantised coarser, so that no sum of the first layer wraps", () => {
  const scales = [1, 40].map((factor) => {
    const network = new Nnue(NNUE_SIZES.tiny, new Random(5));
    for (const parameter of [network.features, network.bias]) parameter.data.set(parameter.data.map((x) => x * factor));
    const weights = quantiseNnue(network);
    const { mean } = quantisationError(network, weights, [...randomPositions(100)]);
    // The output is a sum of 64 neurons of at most 1 and weights of at most 0.18: a sum that wraps costs far more.
    assert.ok(mean < 3, `weights times ${factor}: ${mean} centipawns`);
    return weights.kind === "wide" ? weights.featureScale : 0;
  });
  assert.ok(scales[0] > 2 * scales[1], String(scales));
});

/** Walks random plies in the core and counts sums that differ from fresh ones. */
function mismatches(weights: NnueWeights, plies: number, rowBytes: number): number {
  const bytes = nnueImage(weights);
  const image = core.allocate(bytes.length);
  core.bytes.set(bytes, image);
  const room = core.allocate(core.wasm.nnueBytes(image, 64));
  const starts = core.allocate(STARTS.length * core.POSITION_BYTES);
  STARTS.forEach((fen, i) => {
    core.bytes.set(parseFen(fen, { chess960: true }).bytes(), starts + i * core.POSITION_BYTES);
  });
  const stack = core.allocate(65 * core.POSITION_BYTES);
  const fresh = core.allocate(rowBytes);
  core.wasm.nnueStart(image, room, 64);
  return core.wasm.nnueCheck(starts, STARTS.length, plies, 99n, stack, core.LIST, fresh, rowBytes);
}

test("sums kept up to date equal fresh ones over a million random plies of HalfKP", () => {
  assert.equal(mismatches(HALFKP, 1_000_000, 512), 0);
});

test("sums kept up to date equal fresh ones over a million random plies with buckets and mirroring", () => {
  assert.equal(mismatches(WIDE, 1_000_000, 128), 0);
});

test("sums kept up to date equal fresh ones in a layer whose width is no multiple of 64", () => {
  const narrow = syntheticWide(5, { hidden: 48, kingBuckets: WIDE.kingBuckets, mirrored: true, outputs: 1 });
  assert.equal(mismatches(narrow, 100_000, 96), 0);
});

test.skipIf(!existsSync(NET))("the published network agrees with what Stockfish 12 prints", () => {
  const evaluator = new NnueEvaluator(readNnueNetwork(new Uint8Array(readFileSync(NET)), NET));
  const { positions } = JSON.parse(readFileSync("test/fixtures/vectors/positions.json", "utf8")) as {
    positions: { fen: string; sf12NnueWhitePawns?: number }[];
  };
  let compared = 0;
  for (const { fen, sf12NnueWhitePawns } of positions) {
    if (sf12NnueWhitePawns === undefined) continue;
    const position = parseFen(fen);
    const white = evaluator.evaluate(position) * (position.turn === "white" ? 1 : -1);
    // Printed to the cent; 26/208 = 0.125 is a tie that the C library rounds to even.
    assert.ok(Math.abs(white / 208 - sf12NnueWhitePawns) < 0.005 + 1e-9, fen);
    compared++;
  }
  assert.ok(compared > 50);
});
