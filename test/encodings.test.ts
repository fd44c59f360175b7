import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { formatFen, type Position, parseFen, parseUci } from "#chess";
import {
  BOARD_INDEX_OF_TOKEN,
  BOARD_VOCABULARY,
  decodeBoard68,
  decodeFenTokens,
  decodeHalfKp,
  decodePlanes13,
  decodePlanes18,
  EncoderBatch,
  encodeBoard68,
  encodeFenTokens,
  encodeHalfKp,
  encodeLc0Planes,
  encodePlanes13,
  encodePlanes18,
  FEN_TOKEN_CHARACTERS,
  HALFKP_ROW,
  HALFKP_UNUSED,
  TOKEN_OF_BOARD_INDEX,
  tokenId,
  VOCABULARY,
} from "#encodings";
import { eachRandomPosition } from "./random-positions.js";

const fields = (fen: string, count: number) => fen.split(" ").slice(0, count).join(" ");
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

test("fen-tokens, board68, planes13, planes18 and HalfKP come back as the position, but for what they do not carry", () => {
  const tokens = new Uint8Array(77);
  const board = new Uint16Array(68);
  const planes = new Float32Array(13 * 64);
  const turned = new Float32Array(18 * 64);
  const indices = new Uint16Array(32);
  eachRandomPosition(new Random(5), 5000, false, (position) => {
    const fen = formatFen(position);
    encodeFenTokens(position, tokens);
    assert.equal(decodeFenTokens(tokens), fen);
    encodeBoard68(position, board);
    assert.equal(fields(decodeBoard68(board), 3), fields(fen, 3));
    encodePlanes13(position, planes);
    assert.equal(fields(decodePlanes13(planes), 4), fields(fen, 4));
    encodePlanes18(position, turned);
    assert.equal(fields(decodePlanes18(turned, position.turn), 4), fields(fen, 4));
    for (const color of ["white", "black"] as const) {
      const count = encodeHalfKp(position, color, indices);
      const men = [...position.pieces()].filter(({ role }) => role !== "king");
      assert.equal(count, men.length);
      for (const index of indices.subarray(0, count)) {
        const { king, piece, square } = decodeHalfKp(index, color)!;
        assert.deepEqual(position.pieceAt(square), piece);
        assert.deepEqual(position.pieceAt(king), { color, role: "king" });
      }
    }
  });
});

test("31 characters, 1968 and 41 tokens, each once", () => {
  assert.equal(new Set(FEN_TOKEN_CHARACTERS).size, 31);
  assert.equal(VOCABULARY.length, 1968);
  assert.equal(new Set(VOCABULARY).size, 1968);
  assert.equal(BOARD_VOCABULARY.length, 41);
  BOARD_VOCABULARY.forEach((name, index) => {
    assert.equal(BOARD_INDEX_OF_TOKEN[tokenId(name)], index);
    assert.equal(TOKEN_OF_BOARD_INDEX[index], tokenId(name));
  });
  assert.equal(tokenId("generic_move"), 1967);
  assert.equal(BOARD_INDEX_OF_TOKEN[tokenId("pad")], -1);
});

test("planes13 keeps rights, side and en-passant file in rows", () => {
  const out = new Float32Array(13 * 64).fill(7);
  encodePlanes13(parseFen("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w Kq f6 0 3"), out);
  const rows = Array.from({ length: 8 }, (_, row) => [...out.subarray(768 + row * 8, 776 + row * 8)].join(""));
  assert.deepEqual(rows, [
    "11111111",
    "00000000",
    "00000000",
    "11111111",
    "11111111",
    "00000100",
    "00000000",
    "00000000",
  ]);
});

test("a position and its colour-swapped mirror look the same in planes18", () => {
  const encode = (fen: string) => {
    const out = new Float32Array(18 * 64);
    encodePlanes18(parseFen(fen), out);
    return out;
  };
  assert.deepEqual(encode("r3k3/8/8/3pP3/8/8/8/4K2R w Kq d6 0 2"), encode("4k2r/8/8/8/3Pp3/8/8/R3K3 b Qk d3 0 2"));
});

function playAll(position: Position, moves: string): Position {
  for (const uci of moves.split(" ")) position.play(parseUci(position, uci)!);
  return position;
}

test("planes18 shows how often a position occurred", () => {
  const out = new Float32Array(18 * 64);
  const position = parseFen(START);
  const seen = [1, 2, 3, 4].map(() => {
    encodePlanes18(position, out);
    playAll(position, "g1f3 g8f6 f3g1 f6g8");
    return Number(out[12 * 64 + 9].toFixed(3));
  });
  assert.deepEqual(seen, [0.333, 0.667, 1, 1]);
});

test("a batch equals its positions one by one, and leaves no trace of the batch before", () => {
  const batch = new EncoderBatch(64);
  eachRandomPosition(new Random(1), 64, false, (position) => batch.put(0, position));
  for (const seed of [2, 3]) {
    const positions: Position[] = [];
    eachRandomPosition(new Random(seed), 64, true, (position) => positions.push(position.clone()));
    for (const [i, position] of positions.entries()) batch.put(i, position, position.repetitions());
    const tokens = new Uint8Array(77);
    const board = new Uint16Array(68);
    const planes13 = new Float32Array(13 * 64);
    const planes18 = new Float32Array(18 * 64);
    const indices = new Uint16Array(32);
    const rows = <T extends { slice(a: number, b: number): T }>(all: T, length: number) =>
      positions.map((_, i) => all.slice(i * length, (i + 1) * length));
    const all = {
      tokens: rows(batch.fenTokens(64), 77),
      board: rows(batch.board68(64), 68),
      planes13: rows(batch.planes("planes13", 64), 13 * 64),
      planes18: rows(batch.planes("planes18", 64), 18 * 64),
    };
    const halfkp = batch.halfkp(64);
    positions.forEach((position, i) => {
      encodeFenTokens(position, tokens);
      assert.deepEqual(all.tokens[i], tokens);
      encodeBoard68(position, board);
      assert.deepEqual(all.board[i], board);
      encodePlanes13(position, planes13);
      assert.deepEqual(all.planes13[i], planes13);
      encodePlanes18(position, planes18);
      assert.deepEqual(all.planes18[i], planes18);
      const sides = position.turn === "white" ? (["white", "black"] as const) : (["black", "white"] as const);
      sides.forEach((color, side) => {
        const count = encodeHalfKp(position, color, indices);
        const row = halfkp.indices.subarray((i * 2 + side) * HALFKP_ROW, (i * 2 + side + 1) * HALFKP_ROW);
        assert.equal(halfkp.counts[i], count);
        assert.deepEqual(row.subarray(0, count), indices.subarray(0, count));
        assert.ok(row.subarray(count).every((index) => index === HALFKP_UNUSED));
      });
    });
  }
});

test("lc0's planes: history from the mover's side, newest first, empty before the start of a game", () => {
  const out = new Float32Array(112 * 64);
  const position = playAll(parseFen(START), "e2e4 e7e5 g1f3");
  encodeLc0Planes(position, out);
  const plane = (n: number) => [...out.subarray(n * 64, n * 64 + 64).entries()].flatMap(([s, x]) => (x ? [s] : []));
  assert.deepEqual(plane(0), [8, 9, 10, 11, 13, 14, 15, 28]); // Black's pawns, turned: e5 is e4
  assert.deepEqual(
    plane(7),
    [57, 45].sort((a, b) => a - b),
  ); // White's knights, turned
  assert.deepEqual(plane(13 + 7), [57, 62]); // a ply earlier
  assert.deepEqual(plane(26), [8, 9, 10, 11, 12, 13, 14, 15]);
  assert.deepEqual(plane(52), []); // before the game there is nothing
  assert.deepEqual(
    [104, 105, 106, 107, 108].map((n) => plane(n).length),
    [64, 64, 64, 64, 64],
  );
  assert.equal(out[109 * 64], 1);
  assert.equal(plane(110).length, 0);
  assert.equal(plane(111).length, 64);
});

test("lc0's planes repeat the first position of a FEN, with a pawn that just passed put back", () => {
  const out = new Float32Array(112 * 64);
  encodeLc0Planes(parseFen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"), out);
  assert.equal(out[6 * 64 + 35], 1);
  assert.equal(out[(13 + 6) * 64 + 35], 0);
  assert.equal(out[(13 + 6) * 64 + 51], 1);
  assert.equal(out[(7 * 13 + 6) * 64 + 51], 1);
});

test("lc0's planes of a batch are those of each position with nothing known before it, the start of a game among them", () => {
  const positions = [
    parseFen(START),
    parseFen(START.replace(" w ", " b ")),
    parseFen("4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 2"),
    parseFen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"),
  ];
  eachRandomPosition(new Random(5), 200, true, (position) => positions.push(position.clone()));
  const batch = new EncoderBatch(positions.length);
  for (const [i, position] of positions.entries()) batch.put(i, position, 2);
  const planes = batch.planes("lc0-112", positions.length);
  const expected = new Float32Array(112 * 64);
  positions.forEach((position, i) => {
    encodeLc0Planes(parseFen(formatFen(position), { chess960: position.chess960 }), expected);
    assert.deepEqual(planes.subarray(i * 7168, (i + 1) * 7168), expected, formatFen(position));
  });
  assert.ok(planes.subarray(13 * 64, 104 * 64).every((x) => x === 0));
});

test("lc0's planes of a position and of its colour-swapped mirror differ in whose move it is alone", () => {
  const [white, black] = [new Float32Array(112 * 64), new Float32Array(112 * 64)];
  encodeLc0Planes(parseFen("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQq - 7 9"), white);
  encodeLc0Planes(parseFen("r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b Qkq - 7 9"), black);
  white.fill(1, 108 * 64, 109 * 64);
  assert.deepEqual(black, white);
});

test("tokens that spell no position are refused", () => {
  assert.throws(() => decodeFenTokens(new Uint8Array(77)), { code: "FEN_TOKENS" });
  assert.throws(() => decodeFenTokens(new Uint8Array(3)), { code: "FEN_TOKENS" });
  assert.throws(() => decodeBoard68(new Uint16Array(68)), { code: "BOARD68" });
  const two = new Float32Array(13 * 64);
  two[0] = two[64] = 1;
  assert.throws(() => decodePlanes13(two), { code: "PLANES13" });
});
