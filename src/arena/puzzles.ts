import { UserError } from "#base";
import { type Position, parseFen, parseUci } from "#chess";
import type { Player } from "#engine";
import type { Puzzle } from "#formats";
import type { Limits } from "#search";
import { shareInterval } from "./examine.js";

/** Whether the player finds every move of the solution; any move that gives mate will do. */
export async function solvePuzzle(player: Player, puzzle: Puzzle, limits: Limits): Promise<boolean> {
  const position = parseFen(puzzle.fen);
  for (const [i, text] of puzzle.moves.entries()) {
    const expected = parseUci(position, text);
    if (expected === undefined) {
      throw new UserError("PUZZLE_MOVE", `puzzle ${puzzle.id}, line ${puzzle.line}: ${text} is not legal there.`);
    }
    if (i % 2 === 1) {
      const { move } = await player.choose(position, limits);
      if (move !== expected) return isMate(position.clone().play(move));
    }
    position.play(expected);
  }
  return true;
}

const isMate = (position: Position): boolean => position.outcome()?.reason === "checkmate";

/** How many puzzles of a range of ratings were solved. */
export interface RatingBand {
  from: number; // ratings from .. to
  to: number;
  solved: number;
  total: number;
  accuracy: number;
  low: number; // the 95 % interval of the accuracy
  high: number;
}

const BAND = 200; // rating points

/** Counts solved puzzles, all and by rating. */
export class PuzzleScore {
  solved = 0;
  total = 0;
  private readonly bands = new Map<number, { solved: number; total: number }>();

  add({ rating }: Puzzle, solved: boolean): void {
    this.total++;
    if (solved) this.solved++;
    if (rating === undefined) return;
    const from = Math.floor(rating / BAND) * BAND;
    const band = this.bands.get(from) ?? { solved: 0, total: 0 };
    this.bands.set(from, band);
    band.total++;
    if (solved) band.solved++;
  }

  byRating(): RatingBand[] {
    return [...this.bands]
      .sort(([a], [b]) => a - b)
      .map(([from, { solved, total }]) => ({
        from,
        to: from + BAND - 1,
        solved,
        total,
        accuracy: solved / total,
        ...shareInterval(solved, total),
      }));
  }
}
