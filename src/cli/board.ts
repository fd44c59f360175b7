import { type Color, moveFrom, moveTo, type Position, type Square } from "#chess";

const PIECES = { pawn: "♟", knight: "♞", bishop: "♝", rook: "♜", queen: "♛", king: "♚" };
const FILES = ["a", "b", "c", "d", "e", "f", "g", "h"];

// Backgrounds of the 256 colours: light and dark squares, the same under the last move, and a king in check.
const SQUARES = [180, 137];
const MOVED = [186, 143];
const CHECK = 167;

export interface BoardStyle {
  color: boolean; // the terminal knows colours; else letters
  below?: Color; // whose side is at the bottom, by default White's
  marked?: boolean; // shows the last move and a king in check
}

/** The board for a terminal, a line for each rank and one for the files. */
export function drawBoard(position: Position, { color, below = "white", marked = false }: BoardStyle): string[] {
  const order = [0, 1, 2, 3, 4, 5, 6, 7];
  const files = below === "white" ? order : order.toReversed();
  const last = marked ? position.history.at(-1) : undefined;
  const moved = last === undefined ? [] : [moveFrom(last), moveTo(last)];
  const inCheck = marked && position.isCheck();
  const ground = (square: Square, dark: number): number => {
    const piece = position.pieceAt(square);
    if (inCheck && piece?.role === "king" && piece.color === position.turn) return CHECK;
    return (moved.includes(square) ? MOVED : SQUARES)[dark];
  };
  const rows = files.toReversed().map((rank) => {
    const cells = files.map((file) => {
      const square = rank * 8 + file;
      const piece = position.pieceAt(square);
      if (!color) {
        const letter = piece ? (piece.role === "knight" ? "n" : piece.role[0]) : ".";
        return ` ${piece?.color === "white" ? letter.toUpperCase() : letter}`;
      }
      const ink = piece?.color === "white" ? 231 : 16;
      const dark = (rank + file) % 2 ? 0 : 1;
      return `\x1b[48;5;${ground(square, dark)}m\x1b[38;5;${ink}m ${piece ? PIECES[piece.role] : " "} \x1b[0m`;
    });
    return `${rank + 1} ${cells.join("")}`;
  });
  const names = files.map((file) => FILES[file]);
  return [...rows, color ? `   ${names.join("  ")}` : `   ${names.join(" ")}`];
}
