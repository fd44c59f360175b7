import { formatFen, type Position, parseFen } from "#chess";

/** The position with the other side to move: what it threatens. Undefined if the side to move is in check. */
export function threatened(position: Position): Position | undefined {
  if (position.isCheck()) return undefined;
  const [board, side, castling] = formatFen(position).split(" ");
  return parseFen(`${board} ${side === "w" ? "b" : "w"} ${castling} - 0 ${position.fullmoves}`, {
    chess960: position.chess960,
  });
}
