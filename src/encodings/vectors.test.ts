// Golden values made with the published code of DeepMind, ChessDecoder, OmegaZero and Stockfish 12.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { type Color, formatUci, parseFen, scoreOfProbability, winProbability } from "#chess";
import { encodeBoard68 } from "./board68.js";
import { bucketCentre, bucketOf } from "./buckets.js";
import { encodeFenTokens } from "./fen-tokens.js";
import { encodeHalfKp } from "./halfkp.js";
import { MOVE_TABLES } from "./move-tables.js";
import { encodePlanes18 } from "./planes18.js";

interface Vector {
  fen: string;
  fenTokens: number[];
  halfkpWhite: number[];
  halfkpBlack: number[];
  legal: Record<string, [number, number]>;
  board68: number[];
  planes18: [number, number][];
}
const load = (name: string) => JSON.parse(readFileSync(`test/fixtures/vectors/${name}.json`, "utf8"));
const { positions } = load("positions") as { positions: Vector[] };
const tables = load("tables") as {
  actions1968: string[];
  moves1924: string[];
  winProbability: Record<string, number>;
  buckets128: Record<string, number>;
};

test("there are 67 positions to compare with", () => assert.equal(positions.length, 67));

test("fen-tokens are DeepMind's", () => {
  for (const { fen, fenTokens } of positions) {
    const out = new Uint8Array(77);
    encodeFenTokens(parseFen(fen), out);
    assert.deepEqual([...out], fenTokens, fen);
  }
});

test("HalfKP indices are Stockfish 12's", () => {
  const indices = (fen: string, color: Color) => {
    const out = new Uint16Array(32);
    return [...out.subarray(0, encodeHalfKp(parseFen(fen), color, out))];
  };
  for (const { fen, halfkpWhite, halfkpBlack } of positions) {
    assert.deepEqual(indices(fen, "white"), halfkpWhite, fen);
    assert.deepEqual(indices(fen, "black"), halfkpBlack, fen);
  }
});

test("board68 ids are ChessDecoder's", () => {
  for (const { fen, board68 } of positions) {
    const out = new Uint16Array(68);
    encodeBoard68(parseFen(fen), out);
    assert.deepEqual([...out], board68, fen);
  }
});

test("planes18 are OmegaZero's", () => {
  for (const { fen, planes18 } of positions) {
    const out = new Float32Array(18 * 64);
    encodePlanes18(parseFen(fen), out);
    const found = [...out.entries()].filter(([, value]) => value !== 0);
    assert.deepEqual(
      found.map(([index, value]) => [index, Number(value.toFixed(6))]),
      planes18,
      fen,
    );
  }
});

test("every legal move has DeepMind's and ChessDecoder's index", () => {
  for (const { fen, legal } of positions) {
    const position = parseFen(fen);
    const found = position.moves().map((move) => {
      const { actions1968, moves1924 } = MOVE_TABLES;
      return [
        formatUci(position, move),
        [actions1968.encode(position, move), moves1924.encode(position, move)],
      ] as const;
    });
    assert.deepEqual(Object.fromEntries(found), legal, fen);
  }
});

test("both move tables are whole, in order", () => {
  const letter = { queen: "q", rook: "r", bishop: "b", knight: "n", pawn: "", king: "" };
  const name = (square: number) => "abcdefgh"[square & 7] + (1 + (square >> 3));
  for (const table of ["actions1968", "moves1924"] as const) {
    const names = tables[table].map((_, index) => {
      const { from, to, promotion } = MOVE_TABLES[table].named(index, false)!;
      return name(from) + name(to) + (promotion ? letter[promotion] : "");
    });
    assert.deepEqual(names, tables[table]);
  }
});

test("win probabilities and buckets are DeepMind's", () => {
  for (const [cp, expected] of Object.entries(tables.winProbability)) {
    assert.ok(Math.abs(winProbability(Number(cp)) - expected) < 1e-15);
    assert.ok(Math.abs(scoreOfProbability(expected) - Number(cp)) < 1e-6);
  }
  for (const [value, bucket] of Object.entries(tables.buckets128)) assert.equal(bucketOf(Number(value), 128), bucket);
});

test("a bucket holds its own centre, whatever their number, and nothing outside 0..1 has one", () => {
  for (const count of [2, 3, 100, 128, 1000]) {
    for (let bucket = 0; bucket < count; bucket++) assert.equal(bucketOf(bucketCentre(bucket, count), count), bucket);
  }
  assert.equal(bucketOf(3 * 0.1, 10), 2); // 3 * 0.1 is an edge as numpy has it, though 10 times it is more than 3
  for (const value of [-0.01, 1.01, Number.NaN]) assert.throws(() => bucketOf(value, 128), /not between 0 and 1/);
});
