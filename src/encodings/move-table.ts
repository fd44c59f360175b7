import {
  castlingTarget,
  isCastling,
  type Move,
  moveFrom,
  movePromotion,
  moveTo,
  type Position,
  ROLES,
  type Role,
  type Square,
} from "#chess";

/** A move on an empty board, as the entries of a table name it. */
export interface NamedMove {
  from: Square;
  to: Square;
  promotion?: Role;
}

interface Layout {
  name: string;
  size: number;
  /** What each index names, from White's side; holes are indices that name nothing. */
  entries: readonly (NamedMove | undefined)[];
  /** The role a pawn becomes if an entry reaches the last rank without naming one. */
  bare: Role | undefined;
  /** Which entries are turned top to bottom for Black: all, those that name a promotion, or none. */
  turned: "all" | "promotions" | "none";
  /** How castling is spelled in standard chess: where the king arrives, or king takes rook. In Chess960 the latter. */
  castling: "arrival" | "rook";
}

const key = (from: Square, to: Square, promotion: number) => (promotion << 12) | (from << 6) | to;

/**
 * A numbering of moves, the output of a policy head. Every legal move of any position has exactly one index; an index
 * decodes to the legal move it names or to nothing.
 */
export class MoveTable {
  readonly name: string;
  readonly size: number;
  private readonly indices = new Int16Array(6 << 12).fill(-1); // by role of the promotion (0 for none), from, to
  private readonly entries: readonly (NamedMove | undefined)[];
  private readonly bare: number;

  constructor(private readonly layout: Layout) {
    this.name = layout.name;
    this.size = layout.size;
    this.entries = layout.entries;
    this.bare = layout.bare === undefined ? -1 : ROLES.indexOf(layout.bare);
    layout.entries.forEach((entry, index) => {
      if (entry) this.indices[key(entry.from, entry.to, entry.promotion ? ROLES.indexOf(entry.promotion) : 0)] = index;
    });
  }

  /** The index of a legal move. */
  encode(position: Position, move: Move): number {
    return this.indexOf(move, position.turn === "black", position.chess960);
  }

  /** The same, for callers that know the side and the spelling but have no position at hand. */
  indexOf(move: Move, black: boolean, chess960 = false): number {
    let to = moveTo(move);
    if (isCastling(move) && this.layout.castling === "arrival" && !chess960) to = castlingTarget(move);
    const promotion = movePromotion(move);
    return this.find(moveFrom(move), to, promotion === undefined ? 0 : ROLES.indexOf(promotion), black);
  }

  /** The legal move of the position that the index names, if any. */
  decode(position: Position, index: number): Move | undefined {
    return position.moves().find((move) => this.encode(position, move) === index);
  }

  /** The index of a move on an empty board, or -1 if the table has none. */
  indexOfNamed({ from, to, promotion }: NamedMove, black: boolean): number {
    return this.find(from, to, promotion ? ROLES.indexOf(promotion) : 0, black);
  }

  /** What an index names for a side, whatever stands on the board; undefined if nothing. */
  named(index: number, black: boolean): NamedMove | undefined {
    const entry = this.entries[index];
    if (!entry || !black || !this.isTurned(entry.promotion !== undefined)) return entry;
    return { ...entry, from: entry.from ^ 56, to: entry.to ^ 56 };
  }

  private isTurned(names: boolean): boolean {
    return this.layout.turned === "all" || (this.layout.turned === "promotions" && names);
  }

  private find(from: Square, to: Square, promotion: number, black: boolean): number {
    const named = promotion === this.bare ? 0 : promotion;
    const turn = black && this.isTurned(named !== 0) ? 56 : 0;
    return this.indices[key(from ^ turn, to ^ turn, named)];
  }
}
