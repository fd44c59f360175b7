// The same questions answered by chessops, which shares no code with us.
import { Chess, castlingSide, normalizeMove } from "chessops/chess";
import { parseFen } from "chessops/fen";
import { parseSan } from "chessops/san";
import { makeUci } from "chessops/util";
import { formatFen, formatSquare, moveFrom, movePromotion, moveTo } from "#chess";

/** The position as chessops sees it, or undefined if it finds it impossible. */
export function oracleOf(position) {
  const setup = parseFen(formatFen(position));
  const chess = setup.isOk ? Chess.fromSetup(setup.value) : setup;
  return chess.isOk ? chess.value : undefined;
}

/** Our move as text, castling as king takes rook. */
export const textOf = (move) =>
  formatSquare(moveFrom(move)) +
  formatSquare(moveTo(move)) +
  ({ knight: "n", bishop: "b", rook: "r", queen: "q" }[movePromotion(move)] ?? "");

const normal = (chess, move) => makeUci(castlingSide(chess, move) ? normalizeMove(chess, move) : move);

/** Every legal move of chessops, as textOf writes ours, sorted. */
export function oracleMoves(chess) {
  const found = new Set();
  for (const [from, targets] of chess.allDests()) {
    for (const to of targets) {
      const promotes = chess.board.pawn.has(from) && (to < 8 || to > 55);
      const roles = promotes ? ["queen", "rook", "bishop", "knight"] : [undefined];
      for (const promotion of roles) found.add(normal(chess, { from, to, promotion }));
    }
  }
  return [...found].sort();
}

/** What chessops makes of a move in SAN. */
export function oracleSan(chess, san) {
  const move = parseSan(chess, san);
  return move && normal(chess, move);
}
