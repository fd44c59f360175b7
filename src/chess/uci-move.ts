import { castlingTarget, isCastling, type Move, moveFrom, movePromotion, moveTo } from "./move.js";
import type { Position } from "./position.js";
import { formatSquare } from "./square.js";

/** e2e4, e7e8q; castling as e1g1, or king takes rook if the position is Chess960. */
export function formatUci(position: Position, move: Move): string {
  const to = isCastling(move) && !position.chess960 ? castlingTarget(move) : moveTo(move);
  const promotion = movePromotion(move);
  const letter = promotion === undefined ? "" : promotion === "knight" ? "n" : promotion[0];
  return formatSquare(moveFrom(move)) + formatSquare(to) + letter;
}

/** The legal move a UCI text means, or undefined. Castling is understood in both spellings where it is unambiguous. */
export function parseUci(position: Position, text: string): Move | undefined {
  const moves = position.moves();
  const found = moves.find((move) => formatUci(position, move) === text);
  if (found !== undefined) return found;
  return moves.find((move) => {
    if (!isCastling(move)) return false;
    const from = formatSquare(moveFrom(move));
    return (
      text === from + formatSquare(moveTo(move)) ||
      (!position.chess960 && text === from + formatSquare(castlingTarget(move)))
    );
  });
}
