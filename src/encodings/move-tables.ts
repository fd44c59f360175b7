import type { Role, Square } from "#chess";
import { MoveTable, type NamedMove } from "./move-table.js";

const SQUARES = Array.from({ length: 64 }, (_, square) => square);
const FILES = [0, 1, 2, 3, 4, 5, 6, 7];
const UNDERPROMOTIONS = ["knight", "bishop", "rook"] as const satisfies readonly Role[];

const fileDistance = (a: Square, b: Square) => Math.abs((a & 7) - (b & 7));
const rankDistance = (a: Square, b: Square) => Math.abs((a >> 3) - (b >> 3));

/** Whether a queen could go from one square to the other on an empty board. */
const isQueenMove = (from: Square, to: Square): boolean => {
  const files = fileDistance(from, to);
  const ranks = rankDistance(from, to);
  return from !== to && (files === 0 || ranks === 0 || files === ranks);
};
const isKnightMove = (from: Square, to: Square): boolean => fileDistance(from, to) * rankDistance(from, to) === 2;

/** The square some files and ranks away, or undefined outside the board. */
function step(from: Square, files: number, ranks: number): Square | undefined {
  const file = (from & 7) + files;
  const rank = (from >> 3) + ranks;
  return file >= 0 && file < 8 && rank >= 0 && rank < 8 ? rank * 8 + file : undefined;
}

/** Promotions of a side: each pawn's file, each way in the given order of file steps, each role. */
function promotions(white: boolean, ways: readonly number[], roles: readonly Role[]): NamedMove[] {
  return FILES.flatMap((file) => {
    const from = (white ? 48 : 8) + file;
    return ways.flatMap((way) => {
      const to = step(from, way, white ? 1 : -1);
      return to === undefined ? [] : roles.map((promotion) => ({ from, to, promotion }));
    });
  });
}

/**
 * DeepMind's searchless chess: from each square the queen's targets, then the knight's, all ascending; then promotions
 * from rank 2 (Black's) and from rank 7, of each file straight, left, right, to q r b n.
 */
function actions1968(): NamedMove[] {
  const roles = ["queen", "rook", "bishop", "knight"] as const;
  return [
    ...SQUARES.flatMap((from) => [
      ...SQUARES.filter((to) => isQueenMove(from, to)).map((to) => ({ from, to })),
      ...SQUARES.filter((to) => isKnightMove(from, to)).map((to) => ({ from, to })),
    ]),
    ...promotions(false, [0, -1, 1], roles),
    ...promotions(true, [0, -1, 1], roles),
  ];
}

/** Leela's: from each square the targets of queen and knight together, ascending; then White's promotions to q r b. */
function moves1858(): NamedMove[] {
  return [
    ...SQUARES.flatMap((from) =>
      SQUARES.filter((to) => isQueenMove(from, to) || isKnightMove(from, to)).map((to) => ({ from, to })),
    ),
    ...promotions(true, [-1, 0, 1], ["queen", "rook", "bishop"]),
  ];
}

/** from * 64 + to, where a queen or a knight could go. */
const allPairs = (): (NamedMove | undefined)[] =>
  SQUARES.flatMap((from) =>
    SQUARES.map((to) => (isQueenMove(from, to) || isKnightMove(from, to) ? { from, to } : undefined)),
  );

function moves4288(): (NamedMove | undefined)[] {
  const entries = allPairs();
  for (const promotion of UNDERPROMOTIONS) {
    for (const fromFile of FILES) {
      for (const toFile of FILES) {
        const near = Math.abs(fromFile - toFile) <= 1;
        entries.push(near ? { from: 48 + fromFile, to: 56 + toFile, promotion } : undefined);
      }
    }
  }
  return entries;
}

function omegazero4672(): (NamedMove | undefined)[] {
  const entries = allPairs();
  for (const file of FILES) {
    for (const way of [-1, 0, 1]) {
      const to = step(48 + file, way, 1);
      for (const promotion of UNDERPROMOTIONS) {
        entries.push(to === undefined ? undefined : { from: 48 + file, to, promotion });
      }
    }
  }
  return entries; // 4168 of 4672; the rest names nothing
}

const DIRECTIONS = [[0, 1], [1, 1], [1, 0], [1, -1], [0, -1], [-1, -1], [-1, 0], [-1, 1]] as const; // biome-ignore format: N NE E SE S SW W NW
const KNIGHT_STEPS = [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]] as const; // biome-ignore format: clockwise from NNE

/** AlphaZero's 8x8x73 as planes of from-squares: 56 queen-like steps, 8 knight's, 9 underpromotions. */
function moves4672(): (NamedMove | undefined)[] {
  const entries: (NamedMove | undefined)[] = [];
  const plane = (files: number, ranks: number) => {
    for (const from of SQUARES) {
      const to = step(from, files, ranks);
      entries.push(to === undefined ? undefined : { from, to });
    }
  };
  for (const [files, ranks] of DIRECTIONS) {
    for (let distance = 1; distance <= 7; distance++) plane(files * distance, ranks * distance);
  }
  for (const [files, ranks] of KNIGHT_STEPS) plane(files, ranks);
  for (const promotion of UNDERPROMOTIONS) {
    for (const way of [-1, 0, 1]) {
      for (const from of SQUARES) {
        const to = from >> 3 === 6 ? step(from, way, 1) : undefined;
        entries.push(to === undefined ? undefined : { from, to, promotion });
      }
    }
  }
  return entries;
}

const table = (
  name: string,
  size: number,
  entries: (NamedMove | undefined)[],
  rest: Pick<ConstructorParameters<typeof MoveTable>[0], "bare" | "turned" | "castling">,
) => new MoveTable({ name, size, entries, ...rest });

/** Every numbering of moves we know. */
export const MOVE_TABLES = {
  actions1968: table("actions1968", 1968, actions1968(), { bare: undefined, turned: "none", castling: "arrival" }),
  moves1924: table("moves1924", 1924, [...moves1858(), ...promotions(false, [-1, 0, 1], ["queen", "rook", "bishop"])], {
    bare: "knight",
    turned: "none",
    castling: "rook",
  }),
  moves1858: table("moves1858", 1858, moves1858(), { bare: "knight", turned: "all", castling: "rook" }),
  moves4288: table("moves4288", 4288, moves4288(), { bare: "queen", turned: "promotions", castling: "arrival" }),
  moves4672: table("moves4672", 4672, moves4672(), { bare: "queen", turned: "all", castling: "arrival" }),
  omegazero4672: table("omegazero4672", 4672, omegazero4672(), {
    bare: "queen",
    turned: "promotions",
    castling: "arrival",
  }),
} as const;

/** The name of a table that numbers moves. */
export type MoveTableName = keyof typeof MOVE_TABLES;
/** The names of all tables that number moves. */
export const MOVE_TABLE_NAMES = Object.keys(MOVE_TABLES) as MoveTableName[];
