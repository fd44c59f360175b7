import { COLORS, formatSquare, type Position, ROLES } from "#chess";

/** Where the pieces stand, in words: "White: king e1, pawns e4 f2. Black: ... Black to move, in check." */
export function describePosition(position: Position): string {
  const pieces = [...position.pieces()];
  const sides = COLORS.map((color) => {
    const groups = [...ROLES].reverse().flatMap((role) => {
      const squares = pieces.filter((piece) => piece.color === color && piece.role === role);
      if (squares.length === 0) return [];
      return `${role}${squares.length > 1 ? "s" : ""} ${squares.map(({ square }) => formatSquare(square)).join(" ")}`;
    });
    return `${color === "white" ? "White" : "Black"}: ${groups.join(", ")}.`;
  });
  const turn = position.turn === "white" ? "White" : "Black";
  return `${sides.join(" ")} ${turn} to move${position.isCheck() ? ", in check" : ""}.`;
}
