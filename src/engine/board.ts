import { formatSquare, type Position } from "#chess";

const LETTERS = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" } as const;

/** The board as lines of text, White below. */
export function drawBoard(position: Position): string[] {
  const lines: string[] = [];
  for (let rank = 7; rank >= 0; rank--) {
    const row = Array.from({ length: 8 }, (_, file) => {
      const piece = position.pieceAt(rank * 8 + file);
      if (!piece) return ".";
      return piece.color === "white" ? LETTERS[piece.role].toUpperCase() : LETTERS[piece.role];
    });
    lines.push(`${rank + 1}  ${row.join(" ")}`);
  }
  const files = Array.from({ length: 8 }, (_, file) => formatSquare(file)[0]).join(" ");
  return [...lines, "", `   ${files}`];
}
