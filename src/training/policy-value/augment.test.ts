import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { formatFen, type Position, parseFen, START_FEN } from "#chess";
import {
  decodePlanes13,
  decodePlanes18,
  encodeLc0Planes,
  encodePlanes13,
  encodePlanes18,
  MOVE_TABLES,
  type MoveTableName,
} from "#encodings";
import { flipMoves, mirrorFiles, swapColours } from "./augment.js";

/** Positions of random games, promotions and en passant among them. */
function* positions(count: number, fens: readonly string[]): Generator<Position> {
  const random = new Random(4);
  for (let i = 0; i < count; i++) {
    const position = parseFen(random.pick([...fens]));
    for (let ply = random.below(60); ply > 0 && !position.outcome(); ply--)
      position.play(random.pick(position.moves()));
    if (!position.outcome()) yield position;
  }
}

const ENDINGS = [
  "r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q2/PPPBBPpP/R3K2R w - - 0 1",
  "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
  "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1",
];

const sorted = (moves: Iterable<number>) => [...moves].sort((a, b) => a - b);
const indices = (position: Position, table: MoveTableName) =>
  Int32Array.from(position.moves(), (move) => MOVE_TABLES[table].encode(position, move));

/** The planes, changed, must be those of a position whose legal moves are the changed ones. */
function check(
  position: Position,
  table: "moves4288" | "moves4672",
  flip: number,
  change: (planes: Float32Array) => void,
) {
  const encode = table === "moves4288" ? encodePlanes13 : encodePlanes18;
  const planes = new Float32Array((table === "moves4288" ? 13 : 18) * 64);
  encode(position, planes);
  const row = Int32Array.from([...indices(position, table), -1, -1]);
  change(planes);
  flipMoves(row, table, flip);
  const other = parseFen(table === "moves4288" ? decodePlanes13(planes) : decodePlanes18(planes, position.turn));
  assert.deepEqual(sorted(row.subarray(0, -2)), sorted(indices(other, table)));
  assert.deepEqual([...row.subarray(-2)], [-1, -1]);
  return other;
}

test("mirrored left to right, planes and moves are those of the mirrored position", () => {
  let seen = 0;
  for (const position of positions(150, ENDINGS)) {
    check(position, "moves4288", 7, mirrorFiles);
    check(position, "moves4672", 7, mirrorFiles);
    seen++;
  }
  assert.ok(seen > 80);
});

test("mirrored left to right, lc0's planes and moves are those of the mirrored position", () => {
  const encode = (position: Position) => {
    const planes = new Float32Array(112 * 64);
    encodeLc0Planes(position, planes);
    return planes;
  };
  const reversed = (text: string) => [...text].reverse().join("");
  let passed = 0;
  for (const any of positions(150, ENDINGS)) {
    const [men, turn, rights, ep, ...clocks] = formatFen(any).split(" ");
    const place = ep === "-" ? ep : "hgfedcba"["abcdefgh".indexOf(ep[0])] + ep[1];
    const ranks = men.split("/").map(reversed).join("/");
    const [position, other] = [[men, ep], [ranks, place]].map(([board, square]) => parseFen([board, turn, rights, square, ...clocks].join(" "))); // biome-ignore format: a pair
    const [planes, row] = [encode(position), indices(position, "moves1858")];
    mirrorFiles(planes);
    flipMoves(row, "moves1858", 7);
    assert.deepEqual(planes, encode(other));
    assert.deepEqual(sorted(row), sorted(indices(other, "moves1858")));
    if (ep !== "-") passed++;
  }
  assert.ok(passed > 0, "en passant among them");
});

test("with the colours swapped, planes13 and moves are those of the same game played by the other side", () => {
  for (const position of positions(150, [...ENDINGS, START_FEN, "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1"])) {
    const other = check(position, "moves4288", 56, swapColours);
    assert.notEqual(other.turn, position.turn);
  }
});
