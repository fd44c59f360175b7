import type { Random } from "#base";
import { type Position, parseFen, START_FEN } from "#chess";

/** A start position of Chess960: bishops on both colours, the king between the rooks. */
export function chess960Start(random: Random): string {
  const row = new Array<string>(8).fill("");
  const free = () => row.flatMap((piece, file) => (piece === "" ? [file] : []));
  row[random.below(4) * 2] = "b";
  row[random.below(4) * 2 + 1] = "b";
  for (const piece of ["q", "n", "n"]) row[random.pick(free())] = piece;
  for (const piece of ["r", "k", "r"]) row[free()[0]] = piece;
  const pieces = row.join("");
  return `${pieces}/pppppppp/8/8/8/8/PPPPPPPP/${pieces.toUpperCase()} w KQkq - 0 1`;
}

const CROWDED = [
  "r3k2r/pPpp1pPp/8/8/8/8/PpPP1PpP/R3K2R w KQkq - 0 1", // promotions of every kind, castling both ways
  "1n1n2k1/P1P1P1P1/8/8/8/8/p1p1p1p1/1N1N2K1 b - - 0 1",
  "8/pppppppp/4k3/8/8/4K3/PPPPPPPP/8 w - - 0 1", // en passant
];

/** Visits positions of random games: standard ones, Chess960 if wanted, and some full of promotions and en passant. */
export function eachRandomPosition(
  random: Random,
  count: number,
  chess960: boolean,
  visit: (position: Position) => void,
): void {
  for (let seen = 0; seen < count; ) {
    const kind = random.below(4);
    const fen = kind === 0 ? random.pick(CROWDED) : kind === 1 && chess960 ? chess960Start(random) : START_FEN;
    const position = parseFen(fen, { chess960: kind === 1 && chess960 });
    for (let ply = 0; ply < 160 && seen < count; ply++, seen++) {
      visit(position);
      const moves = position.moves();
      if (moves.length === 0) break;
      position.play(random.pick(moves));
    }
  }
}
