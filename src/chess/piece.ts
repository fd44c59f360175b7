export const COLORS = ["white", "black"] as const;
export type Color = (typeof COLORS)[number];

export const ROLES = ["pawn", "knight", "bishop", "rook", "queen", "king"] as const;
export type Role = (typeof ROLES)[number];

export interface Piece {
  color: Color;
  role: Role;
}

export const opposite = (color: Color): Color => (color === "white" ? "black" : "white");

/** Letters of FEN by the core's number for a piece: role 1..6, plus 8 for Black. */
export const PIECE_LETTERS = " PNBRQK  pnbrqk";
