import assert from "node:assert/strict";
import { test } from "vitest";
import { UserError } from "#base";
import { formatFen, parseFen, START_FEN } from "./index.js";

const SAME = [
  START_FEN,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 12 34",
  "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
  "8/8/8/8/8/4k3/8/4K2R w K - 99 200",
  "rk2r3/8/8/8/8/8/8/RK2R3 w KQkq - 0 1", // Chess960, outermost rooks
  "1rk1r2r/8/8/8/8/8/8/1RK1R2R w Ee - 0 1", // an inner rook is named by its file
];

test("a FEN that was read is written back as it was", () => {
  for (const fen of SAME) assert.equal(formatFen(parseFen(fen)), fen);
});

test("four fields mean a fresh clock and the first move", () => {
  assert.equal(formatFen(parseFen("4k3/8/8/8/8/8/8/4K3 w - -")), "4k3/8/8/8/8/8/8/4K3 w - - 0 1");
});

test("Shredder-FEN and X-FEN name the same rights", () => {
  const shredder = parseFen("1rk3r1/8/8/8/8/8/8/1RK3R1 w GBgb - 0 1");
  const xfen = parseFen("1rk3r1/8/8/8/8/8/8/1RK3R1 w KQkq - 0 1");
  assert.deepEqual(shredder.bytes(), xfen.bytes());
  assert.ok(shredder.chess960);
});

test("an en-passant square counts only if the capture is legal", () => {
  assert.equal(parseFen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1").epSquare, undefined);
  // the pawn on d4 could take, but would open the fourth rank to the rook
  assert.equal(parseFen("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1").epSquare, undefined);
  assert.equal(parseFen("8/8/8/8/3pP2R/8/8/k3K3 b - e3 0 1").epSquare, 20);
});

test("a wrong FEN is refused with the field and what was expected", () => {
  const wrong: [string, string, RegExp][] = [
    ["", "FEN_FIELDS", /1 fields, expected 6/],
    ["8/8/8/8/8/8/8 w - - 0 1", "FEN_BOARD", /7 ranks, expected 8/],
    ["rnbqkbnrr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "FEN_BOARD", /rank 8 .* has 9 files/],
    ["4k3/8/8/8/8/8/8/4X3 w - - 0 1", "FEN_BOARD", /"X" in rank 1/],
    ["4k3/8/8/8/8/8/8/8 w - - 0 1", "FEN_KINGS", /0 white kings, expected one/],
    ["4k3/8/8/8/8/8/8/K3K3 w - - 0 1", "FEN_KINGS", /2 white kings/],
    ["4k3/8/8/8/8/8/8/P3K3 w - - 0 1", "FEN_BOARD", /pawn stands on a1/],
    ["4k3/8/8/8/8/8/8/4K3 x - - 0 1", "FEN_SIDE", /"x", expected "w" or "b"/],
    ["4k3/8/8/8/8/8/8/4K3 w K - 0 1", "FEN_CASTLING", /"K" is impossible/],
    ["4k3/8/8/8/8/8/4K3/7R w K - 0 1", "FEN_CASTLING", /"K" is impossible/],
    ["4k3/8/8/8/8/8/8/4K2R w KK - 0 1", "FEN_CASTLING", /twice/],
    ["4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "FEN_EP", /no pawn can just have passed/],
    ["4k3/8/8/8/8/8/8/4K3 w - e4 0 1", "FEN_EP", /expected "-" or a square of rank 6/],
    ["4k3/8/8/8/8/8/8/4K3 w - - x 1", "FEN_COUNTER", /halfmove clock "x"/],
    ["4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", "FEN_CHECK", /the king could be taken/],
    ["QQQQQQQQ/QQQQQQQQ/8/8/8/8/8/k6K w - - 0 1", "FEN_BOARD", /17 pieces/],
  ];
  for (const [fen, code, message] of wrong) {
    assert.throws(
      () => parseFen(fen),
      (error) => error instanceof UserError && error.code === code && message.test(error.message),
      fen,
    );
  }
});
