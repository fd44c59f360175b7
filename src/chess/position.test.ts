import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { formatFen, formatSan, formatUci, parseFen, parseSan, parseUci, START_FEN } from "./index.js";

/** Plays a line of SAN moves and returns the position. */
function line(moves: string, fen = START_FEN) {
  const position = parseFen(fen);
  for (const san of moves.split(" ")) {
    const move = parseSan(position, san);
    assert.ok(move, `${san} in ${formatFen(position)}`);
    position.play(move);
  }
  return position;
}

test("moves change the position as the rules say, and undo takes them back", () => {
  const position = line("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6");
  assert.equal(formatFen(position), "rnbqkb1r/1p2pppp/p2p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6");
  while (position.undo() !== undefined) {}
  assert.equal(formatFen(position), START_FEN);
});

test("the fool's mate ends the game, Black wins", () => {
  assert.deepEqual(line("f3 e5 g4 Qh4#").outcome(), { winner: "black", reason: "checkmate" });
});

test("a draw is seen by stalemate, material, fifty moves and repetition", () => {
  const reason = (fen: string) => parseFen(fen).outcome()?.reason;
  assert.equal(reason("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "stalemate");
  assert.equal(reason("7k/8/6K1/8/8/8/8/8 b - - 0 1"), "insufficient material");
  assert.equal(reason("7k/8/6K1/8/8/8/8/B1B5 b - - 0 1"), "insufficient material"); // bishops of one square colour
  assert.equal(reason("7k/8/6K1/8/8/8/8/BB6 b - - 0 1"), undefined);
  assert.equal(reason("b6k/8/6K1/8/8/8/8/7B b - - 0 1"), "insufficient material");
  assert.equal(reason("7k/8/6K1/8/8/8/8/NN6 b - - 0 1"), undefined);
  assert.equal(reason("7k/8/6K1/8/8/8/R7/8 b - - 100 80"), "fifty moves");
  const shuffle = "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1";
  assert.equal(line(shuffle).outcome(), undefined);
  assert.equal(line(`${shuffle} Ng8`).outcome()?.reason, "threefold repetition");
});

test("a repeated position knows how long ago it stood there", () => {
  assert.equal(line("Nf3 Nf6 Ng1").repeatedAfter(), undefined);
  assert.equal(line("Nf3 Nf6 Ng1 Ng8").repeatedAfter(), 4);
  assert.equal(line("e4 e5 Nf3 Nf6 Nc3 Nc6 Nb1 Nb8 Ng1 Ng8").repeatedAfter(), 8);
  assert.equal(line("Nf3 Nf6 Ng1 Ng8 e4").repeatedAfter(), undefined);
});

test("a move played unchecked gives the same position as one played, to the byte", () => {
  const random = new Random(3);
  for (let game = 0; game < 20; game++) {
    const [slow, fast] = [parseFen(START_FEN), parseFen(START_FEN)];
    for (let ply = 0; ply < 80 && !slow.outcome(); ply++) {
      const move = random.pick(slow.moves());
      assert.deepEqual(fast.playUnchecked(move).bytes(), slow.play(move).bytes());
    }
    assert.deepEqual(fast.history, slow.history);
    while (fast.undo() !== undefined) {}
    assert.equal(formatFen(fast), START_FEN);
  }
});

test("a lost castling right makes another position for the threefold rule", () => {
  const position = line("Nf3 Nf6 Rg1 Rg8 Rh1 Rh8 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8");
  assert.equal(position.repetitions(), 1); // the start position itself had all rights
});

test("a double step leaves an en-passant square only if the capture is legal", () => {
  const after = (fen: string) => {
    const position = parseFen(fen);
    return position.play(parseUci(position, "e2e4")!).epSquare;
  };
  assert.equal(after("7k/8/8/8/3p4/8/4P3/4K3 w - - 0 1"), 20);
  assert.equal(after("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1"), undefined); // taking would open the fourth rank to the rook
  assert.equal(after("7k/8/8/8/8/8/4P3/4K3 w - - 0 1"), undefined);
});

test("a position reached by play equals the one read from its FEN, to the byte", () => {
  const random = new Random(5);
  let position = parseFen(START_FEN);
  for (let n = 0; n < 10_000; n++) {
    const moves = position.moves();
    if (moves.length === 0 || position.history.length > 200) position = parseFen(START_FEN);
    else position.play(random.pick(moves));
    const same = parseFen(formatFen(position)).bytes();
    // the squares of rooks whose right is gone may differ: nothing reads them
    assert.deepEqual(position.bytes().subarray(0, 144), same.subarray(0, 144), formatFen(position));
    assert.deepEqual(position.bytes().subarray(152), same.subarray(152), formatFen(position));
  }
});

test("castling is spelled e1g1, or king takes rook in Chess960, and read in both spellings", () => {
  const standard = parseFen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
  const short = parseUci(standard, "e1g1");
  assert.ok(short);
  assert.equal(parseUci(standard, "e1h1"), short);
  assert.equal(formatUci(standard, short), "e1g1");
  assert.equal(formatSan(standard, short), "O-O");
  const fischer = parseFen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", { chess960: true });
  assert.equal(formatUci(fischer, short), "e1h1");
});

test("in Chess960 a rook that shelters its king may not leave it in check by castling", () => {
  // The king on c1 would stay there; the rook going from b1 to d1 uncovers the queen on a1.
  const position = parseFen("4k3/8/8/8/8/8/8/qRK5 w Q - 0 1", { chess960: true });
  assert.ok(!position.moves().some((move) => move >> 14 === 3));
});

test("SAN names the origin only as far as needed", () => {
  const san = (fen: string, uci: string) => {
    const position = parseFen(fen);
    return formatSan(position, parseUci(position, uci)!);
  };
  assert.equal(san("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1"), "Rad1");
  assert.equal(san("4k3/8/8/R7/8/8/8/R3K3 w - - 0 1", "a1a3"), "R1a3");
  assert.equal(san("1k6/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1"), "Qh4e1"); // the others share its file and its rank
  assert.equal(san("4k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b7b8n"), "b8=N");
  assert.equal(san("r3k3/1P6/8/8/8/8/8/4K3 w - - 0 1", "b7a8q"), "bxa8=Q+");
});

test("a SAN that is unreadable, illegal or ambiguous means no move", () => {
  const position = parseFen("4k3/8/8/8/8/8/4K3/R6R w - - 0 1");
  for (const text of ["", "Rd1", "O-O", "Kd4", "e4", "Rxa9", "Ra9", "hello", "a1d1d1", "R", "=Q", "+", "Rad1=Q"]) {
    assert.equal(parseSan(position, text), undefined, text);
  }
  assert.equal(parseSan(position, "Ra1d1+!?"), parseUci(position, "a1d1"));
});

test("static exchange counts what both sides would take", () => {
  const see = (fen: string, uci: string) => {
    const position = parseFen(fen);
    return position.see(parseUci(position, uci)!);
  };
  assert.equal(see("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5"), 100); // undefended pawn
  assert.equal(see("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5"), -220); // defended twice over
  assert.equal(see("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4"), 0);
  assert.equal(see("3rk3/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7d8q"), 500 + 850 - 950); // the king takes back
  assert.equal(see("k7/8/8/3pP3/8/8/8/K7 w - d6 0 1", "e5d6"), 100);
});
