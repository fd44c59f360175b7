import type { Color, Position, Role } from "#chess";

/** When a game is ended before the rules end it. What is not given is not done. */
export interface Adjudication {
  /** A player that finds itself `scoreCp` behind for `moves` of its moves in a row has lost, unless the other disagrees. */
  resign?: { moves: number; scoreCp: number };
  /** From move `from` on, a game in which both see at most `scoreCp` for `moves` moves each is drawn. */
  draw?: { from: number; moves: number; scoreCp: number };
  /** A side that is `points` ahead (pawn 1, knight and bishop 3, rook 5, queen 9) for `moves` moves of both has won. */
  material?: { points: number; moves: number };
  /** After so many moves of both the game is drawn. */
  maxMoves?: number;
}

const POINTS: Record<Role, number> = { pawn: 1, knight: 3, bishop: 3, rook: 5, queen: 9, king: 0 };

/** White's material minus Black's, in points. */
function materialOf(position: Position): number {
  let sum = 0;
  for (const { role, color } of position.pieces()) sum += color === "white" ? POINTS[role] : -POINTS[role];
  return sum;
}

/** Watches one game. */
export class Adjudicator {
  private readonly behind = { white: 0, black: 0 }; // moves in a row at which the side found itself lost
  private readonly last: { white?: number; black?: number } = {}; // what each side thought, in its own view
  private quiet = 0; // plies in a row that looked like a draw
  private ahead = 0; // plies in a row that White was far ahead in material; negative for Black
  private plies = 0;

  constructor(private readonly rules: Adjudication) {}

  /** To be told after every move, with the position it led to; says how the game ends, if it does. */
  afterMove(
    mover: Color,
    scoreCp: number | undefined,
    position: Position,
  ): { winner: Color | undefined; reason: string } | undefined {
    const { resign, draw, material, maxMoves } = this.rules;
    const other = mover === "white" ? "black" : "white";
    this.plies++;
    this.last[mover] = scoreCp;

    if (resign) {
      this.behind[mover] = scoreCp !== undefined && scoreCp <= -resign.scoreCp ? this.behind[mover] + 1 : 0;
      const opinion = this.last[other];
      if (this.behind[mover] >= resign.moves && (opinion === undefined || opinion >= resign.scoreCp)) {
        return { winner: other, reason: `${mover} resigned` };
      }
    }
    if (draw) {
      this.quiet = scoreCp !== undefined && Math.abs(scoreCp) <= draw.scoreCp ? this.quiet + 1 : 0;
      if (this.quiet >= 2 * draw.moves && position.fullmoves > draw.from) {
        return { winner: undefined, reason: "draw agreed" };
      }
    }
    if (material) {
      const balance = materialOf(position);
      const side = Math.abs(balance) >= material.points ? Math.sign(balance) : 0;
      this.ahead = side === 0 ? 0 : Math.sign(this.ahead) === side ? this.ahead + side : side;
      if (Math.abs(this.ahead) >= 2 * material.moves) {
        return { winner: side > 0 ? "white" : "black", reason: `${Math.abs(balance)} points of material ahead` };
      }
    }
    if (maxMoves !== undefined && this.plies >= 2 * maxMoves) {
      return { winner: undefined, reason: `${maxMoves} moves played` };
    }
    return undefined;
  }
}
