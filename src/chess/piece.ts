/** The two sides, White first. */
export const COLORS = ["white", "black"] as const;
/** One of the two sides. */
export type Color = (typeof COLORS)[number];

/** The six kinds of pieces, from pawn to king. */
export const ROLES = ["pawn", "knight", "bishop", "rook", "queen", "king"] as const;
/** A kind of piece. */
export type Role = (typeof ROLES)[number];

/** A piece of a side. */
export interface Piece {
  color: Color;
  role: Role;
}

/** The other side. */
export const opposite = (color: Color): Color => (color === "white" ? "black" : "white");

/** Letters of FEN by the core's number for a piece: role 1..6, plus 8 for Black. */
export const PIECE_LETTERS = " PNBRQK  pnbrqk";
