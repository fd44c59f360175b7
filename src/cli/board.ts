import type { Position } from "#chess";

const PIECES = { pawn: "♟", knight: "♞", bishop: "♝", rook: "♜", queen: "♛", king: "♚" };

/** The board for a terminal: coloured squares where the terminal knows colours, letters otherwise. */
export function drawBoard(position: Position, color: boolean): string {
  const rows: string[] = [];
  for (let rank = 7; rank >= 0; rank--) {
    let row = `${rank + 1} `;
    for (let file = 0; file < 8; file++) {
      const piece = position.pieceAt(rank * 8 + file);
      if (color) {
        const square = (rank + file) % 2 ? "\x1b[48;5;180m" : "\x1b[48;5;137m";
        const ink = piece?.color === "white" ? "\x1b[38;5;231m" : "\x1b[38;5;16m";
        row += `${square}${ink} ${piece ? PIECES[piece.role] : " "} \x1b[0m`;
      } else {
        const letter = piece ? (piece.role === "knight" ? "n" : piece.role[0]) : ".";
        row += ` ${piece?.color === "white" ? letter.toUpperCase() : letter}`;
      }
    }
    rows.push(row);
  }
  rows.push(color ? "   a  b  c  d  e  f  g  h" : "   a b c d e f g h");
  return rows.join("\n");
}
