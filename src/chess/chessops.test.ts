import assert from "node:assert/strict";
import { Chess, castlingSide, normalizeMove } from "chessops/chess";
import { makeFen, parseFen as parseOracleFen } from "chessops/fen";
import { makeSan } from "chessops/san";
import { makeUci, parseUci as parseOracleUci } from "chessops/util";
import { test } from "vitest";
import { Random } from "#base";
import { formatFen, formatSan, formatUci, parseFen, parseSan, START_FEN } from "./index.js";

const POSITIONS = 100_000;
const CHESS960_STARTS = [
  "bbrnkqnr/pppppppp/8/8/8/8/PPPPPPPP/BBRNKQNR w HChc - 0 1",
  "nrbbqknr/pppppppp/8/8/8/8/PPPPPPPP/NRBBQKNR w HBhb - 0 1",
  "rkrnnbbq/pppppppp/8/8/8/8/PPPPPPPP/RKRNNBBQ w CAca - 0 1",
];

/** Every legal move of the oracle, king takes rook for castling. */
function oracleMoves(chess: Chess): string[] {
  const found: string[] = [];
  for (const [from, targets] of chess.allDests()) {
    const pawn = chess.board.pawn.has(from);
    for (const to of targets) {
      const promotes = pawn && (to < 8 || to > 55);
      const moves = promotes
        ? (["queen", "rook", "bishop", "knight"] as const).map((promotion) => ({ from, to, promotion }))
        : [{ from, to }];
      for (const move of moves) found.push(makeUci(castlingSide(chess, move) ? normalizeMove(chess, move) : move));
    }
  }
  return [...new Set(found)].sort();
}

test(`chessops agrees with our moves, SAN and FEN on ${POSITIONS} positions of random games`, {
  timeout: 300_000,
}, () => {
  const random = new Random(20);
  let seen = 0;
  let game = 0;
  while (seen < POSITIONS) {
    const start = game++ % 4 === 3 ? random.pick(CHESS960_STARTS) : START_FEN;
    const position = parseFen(start, { chess960: true });
    const chess = Chess.fromSetup(parseOracleFen(start).unwrap()).unwrap();
    for (let ply = 0; ply < 150; ply++) {
      const moves = position.moves();
      const texts = moves.map((move) => formatUci(position, move));
      assert.deepEqual([...texts].sort(), oracleMoves(chess), formatFen(position));
      seen++;
      if (moves.length === 0) break;
      const choice = random.below(moves.length);
      const oracleMove = parseOracleUci(texts[choice])!;
      const san = formatSan(position, moves[choice]);
      assert.equal(san, makeSan(chess, oracleMove), formatFen(position));
      assert.equal(parseSan(position, san), moves[choice], `${san} in ${formatFen(position)}`);
      position.play(moves[choice]);
      chess.play(oracleMove);
      assert.equal(formatFen(position).split(" ")[0], makeFen(chess.toSetup()).split(" ")[0]);
    }
  }
});
