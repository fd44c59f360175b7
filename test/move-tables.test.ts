import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci, parseFen, parseUci, type Role } from "#chess";
import { MOVE_TABLE_NAMES, MOVE_TABLES, type MoveTableName, type NamedMove } from "#encodings";
import { eachRandomPosition } from "./random-positions.js";

const index = (table: MoveTableName, fen: string, uci: string, chess960 = false) => {
  const position = parseFen(fen, { chess960 });
  return MOVE_TABLES[table].encode(position, parseUci(position, uci)!);
};
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const CASTLE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
const PROMOTE = "1n5k/P7/8/8/8/8/7p/K5N1 w - - 0 1";

test("known indices", () => {
  assert.equal(index("actions1968", START, "e2e4"), 317);
  assert.equal(index("moves1924", START, "e2e4"), 322);
  assert.equal(index("moves1858", START, "e2e4"), 322);
  assert.equal(index("moves4288", START, "e2e4"), 12 * 64 + 28);
  assert.equal(index("moves4672", START, "e2e4"), 1 * 64 + 12); // north, two squares
  assert.equal(index("moves4672", START, "g1f3"), (56 + 7) * 64 + 6); // NNW, the last knight plane
  assert.equal(index("omegazero4672", START, "e2e4"), 12 * 64 + 28);
  assert.equal(index("actions1968", "8/4P2k/8/8/8/8/8/4K3 w - - 0 1", "e7e8q"), 1924);
});

test("promotions have the index each table promises", () => {
  assert.equal(index("moves4288", PROMOTE, "a7a8q"), 48 * 64 + 56);
  assert.equal(index("moves4288", PROMOTE, "a7b8n"), 4096 + 1);
  assert.equal(index("moves4288", PROMOTE, "a7b8r"), 4096 + 2 * 64 + 1);
  assert.equal(index("moves4288", PROMOTE.replace(" w ", " b "), "h2g1b"), 4096 + 64 + 7 * 8 + 6);
  assert.equal(index("omegazero4672", PROMOTE, "a7b8r"), 4096 + 0 * 9 + 2 * 3 + 2);
  assert.equal(index("omegazero4672", PROMOTE.replace(" w ", " b "), "h2g1n"), 4096 + 7 * 9);
  assert.equal(index("moves4672", PROMOTE, "a7a8q"), 48);
  assert.equal(index("moves4672", PROMOTE, "a7b8n"), (64 + 2) * 64 + 48);
  assert.equal(index("moves1924", PROMOTE, "a7a8n"), MOVE_TABLES.moves1924.indexOfNamed({ from: 48, to: 56 }, false));
});

test("castling is spelled e1g1 or king takes rook, as the table says; in Chess960 always the latter", () => {
  assert.equal(index("moves4288", CASTLE, "e1g1"), 4 * 64 + 6);
  assert.equal(index("moves4288", CASTLE, "e1h1", true), 4 * 64 + 7);
  assert.equal(index("moves4672", CASTLE, "e1g1"), (2 * 7 + 1) * 64 + 4);
  assert.equal(index("actions1968", CASTLE, "e1c1"), MOVE_TABLES.actions1968.indexOfNamed({ from: 4, to: 2 }, false));
  for (const table of ["moves1924", "moves1858"] as const) {
    assert.equal(index(table, CASTLE, "e1g1"), MOVE_TABLES[table].indexOfNamed({ from: 4, to: 7 }, false));
  }
});

test("turned tables give both colours the same index for the same move", () => {
  for (const table of ["moves4672", "moves1858"] as const) {
    const black = parseFen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1");
    assert.equal(MOVE_TABLES[table].encode(black, parseUci(black, "e7e5")!), index(table, START, "e2e4"));
  }
});

test("every legal move of 100,000 random positions has one index in each table, its own, and comes back", () => {
  const random = new Random(4);
  const seen = { promotion: 0, castling: 0, enPassant: 0, chess960: 0 };
  eachRandomPosition(random, 100_000, true, (position) => {
    const moves = position.moves();
    if (position.chess960) seen.chess960++;
    for (const move of moves) {
      if (move >> 14 === 1) seen.promotion++;
      else if (move >> 14 === 2) seen.enPassant++;
      else if (move >> 14 === 3) seen.castling++;
    }
    for (const name of MOVE_TABLE_NAMES) {
      const table = MOVE_TABLES[name];
      const used = new Set<number>();
      for (const move of moves) {
        const found = table.encode(position, move);
        if (found < 0 || found >= table.size || used.has(found)) {
          assert.fail(`${name}: ${formatUci(position, move)} in ${formatFen(position)} has the index ${found}`);
        }
        used.add(found);
      }
    }
    if (moves.length === 0) return;
    const move = random.pick(moves);
    const table = MOVE_TABLES[random.pick(MOVE_TABLE_NAMES)];
    assert.equal(table.decode(position, table.encode(position, move)), move);
  });
  for (const [kind, count] of Object.entries(seen)) assert.ok(count > 200, `only ${count} of ${kind}`);
});

/** A position in which the side can play the move: two kings, the man, and something to take if need be. */
function stage({ from, to, promotion }: NamedMove, black: boolean): string | undefined {
  const files = Math.abs((from & 7) - (to & 7));
  const ranks = Math.abs((from >> 3) - (to >> 3));
  const man: Role = promotion ? "pawn" : files * ranks === 2 ? "knight" : "queen";
  const letter = { pawn: "p", knight: "n", queen: "q" }[man as "pawn"];
  for (const [own, their] of [
    [0, 2],
    [7, 5],
    [56, 58],
    [63, 61],
    [16, 26],
    [39, 37],
    [24, 10],
    [31, 13],
    [3, 33],
    [60, 30],
  ]) {
    // biome-ignore format: pairs
    const board = new Array<string>(64).fill("1");
    board[own] = black ? "k" : "K";
    board[their] = black ? "K" : "k";
    board[from] = black ? letter : letter.toUpperCase();
    if (man === "pawn" && files === 1) board[to] = black ? "N" : "n";
    if (new Set([own, their, from, to]).size < 4) continue;
    const ranksText = Array.from({ length: 8 }, (_, i) => board.slice(56 - i * 8, 64 - i * 8).join(""));
    try {
      const fen = `${ranksText.join("/")} ${black ? "b" : "w"} - - 0 1`;
      if (
        parseFen(fen)
          .moves()
          .some((move) => ((move >> 6) & 63) === from && (move & 63) === to)
      )
        return fen;
    } catch {} // kings side by side, or in check
  }
  return undefined;
}

for (const name of MOVE_TABLE_NAMES) {
  test(`${name}: an index that names a move decodes to it and encodes back; the others name nothing`, () => {
    const table = MOVE_TABLES[name];
    let holes = 0;
    for (const black of [false, true]) {
      for (let i = 0; i < table.size; i++) {
        const named = table.named(i, black);
        if (!named) {
          holes++;
          continue;
        }
        assert.equal(table.indexOfNamed(named, black), i);
        // A promotion in an absolute table that belongs to the other side cannot be on the board.
        if (named.promotion && named.to >> 3 !== (black ? 0 : 7)) continue;
        const fen = stage(named, black);
        assert.ok(fen, `no stage for ${JSON.stringify(named)}`);
        const position = parseFen(fen);
        const move = table.decode(position, i);
        assert.ok(move !== undefined, `${i} in ${fen}`);
        assert.equal(table.encode(position, move), i);
      }
    }
    const named = {
      actions1968: 1968,
      moves1924: 1924,
      moves1858: 1858,
      moves4288: 1858,
      moves4672: 1858,
      omegazero4672: 1858,
    };
    assert.equal(table.size * 2 - holes, named[name] * 2);
    for (const index of [-1, table.size, 99_999]) assert.equal(table.decode(parseFen(START), index), undefined);
  });
}
