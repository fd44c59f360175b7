// What can be seen inside a network besides its answers. Each family shows what it has; the others say nothing of it.
import { readBytes } from "#base";
import { formatSquare, formatUci, type Position, parseFen } from "#chess";
import { type NetworkFile, nnueOf } from "#engine";
import type { NnueWeights } from "#formats";
import { type FamilyName, identifyNetwork, inspectMoe, NnueEvaluator } from "#models";

/** What the page wants to see. */
export type Inspection =
  | { kind: "worth" } // what each piece is worth
  | { kind: "lift"; square: string } // what the piece there would be worth on every other square
  | { kind: "moves" }; // how it weighs each move, layer by layer

/** Numbers by square; centipawns for White. */
export type BySquare = Readonly<Record<string, number>>;

/** How a network of moves arrives at its values. */
export interface MoveInsight {
  moves: readonly { uci: string; value: number; buckets: readonly number[] }[]; // the best first; shares of each bucket
  layers: readonly {
    experts: readonly (readonly number[])[]; // of each square a8 to h1, the share of each expert; none if it has none
    attention: readonly (readonly (readonly number[])[])[]; // [head][move, in the order of `moves`][square a8 to h1]
  }[];
}

export interface Inspected {
  worth?: BySquare;
  lift?: BySquare;
  insight?: MoveInsight;
}

const LETTERS = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" } as const;

/** The position with a piece moved elsewhere or taken off, the same side to move; undefined if that cannot be. */
function changed(position: Position, from: number, to: number | undefined): Position | undefined {
  const squares = Array.from({ length: 64 }, (_, square) => (square === from ? undefined : position.pieceAt(square)));
  if (to !== undefined) squares[to] = position.pieceAt(from);
  const rows = Array.from({ length: 8 }, (_, i) =>
    squares
      .slice((7 - i) * 8, (8 - i) * 8)
      .map((piece) =>
        !piece ? "1" : piece.color === "white" ? LETTERS[piece.role].toUpperCase() : LETTERS[piece.role],
      )
      .join(""),
  );
  try {
    return parseFen(`${rows.join("/")} ${position.turn === "white" ? "w" : "b"} - - 0 1`);
  } catch {
    return undefined; // a king could be taken, or a pawn would stand on the last rank
  }
}

/** Looks into networks that value positions: by changing the position and asking again. */
class PieceInspector {
  private readonly network: NnueEvaluator;

  constructor(weights: NnueWeights) {
    this.network = new NnueEvaluator(weights);
  }

  private whiteCp(position: Position): number {
    return this.network.evaluateCp(position) * (position.turn === "white" ? 1 : -1);
  }

  worth(position: Position): BySquare {
    const whole = this.whiteCp(position);
    const found: Record<string, number> = {};
    for (const { square, role } of position.pieces()) {
      const without = role === "king" ? undefined : changed(position, square, undefined);
      if (without) found[formatSquare(square)] = Math.round(whole - this.whiteCp(without));
    }
    return found;
  }

  lift(position: Position, from: string): BySquare {
    const origin = [...position.pieces()].find(({ square }) => formatSquare(square) === from);
    const found: Record<string, number> = {};
    if (!origin) return found;
    const { square: at, role } = origin;
    const base = role === "king" ? undefined : changed(position, at, undefined);
    const without = base ? this.whiteCp(base) : this.whiteCp(position);
    for (let square = 0; square < 64; square++) {
      if (position.pieceAt(square) && square !== at) continue;
      const there = changed(position, at, square);
      if (there) found[formatSquare(square)] = Math.round(this.whiteCp(there) - without);
    }
    return found;
  }
}

type Inspector = (position: Position, inspection: Inspection) => Promise<Inspected>;

/** What networks of a family show of themselves; a family that is not here shows nothing. */
const INSPECTORS: Partial<Record<FamilyName, (file: NetworkFile) => Promise<Inspector>>> = {
  nnue: async (file) => {
    const pieces = new PieceInspector(nnueOf(file));
    return async (position, inspection) =>
      inspection.kind === "worth"
        ? { worth: pieces.worth(position) }
        : inspection.kind === "lift"
          ? { lift: pieces.lift(position, inspection.square) }
          : {};
  },
  moe: async ({ bytes, path }) => {
    const look = await inspectMoe(bytes, path);
    return async (position, { kind }) => {
      if (kind !== "moves") return {};
      const { moves, layers } = await look(position);
      return {
        insight: { layers, moves: moves.map(({ move, ...rest }) => ({ uci: formatUci(position, move), ...rest })) },
      };
    };
  },
};

/** Answers inspections of one network. */
export async function openInspector(path: string): Promise<Inspector> {
  const bytes = await readBytes(path);
  const family = identifyNetwork(bytes, path);
  const inspector = await INSPECTORS[family]?.({ bytes, path, family });
  return inspector ?? (async () => ({}));
}
