import { UserError } from "#base";
import { type Position, parseFen, parseUci } from "#chess";
import type { Player } from "#engine";
import type { Limits } from "#search";
import { shareInterval } from "./examine.js";

/** A puzzle of Lichess: the first move is the opponent's, then solver and opponent take turns. */
export interface Puzzle {
  id: string;
  fen: string;
  moves: string[]; // in UCI
  rating: number | undefined;
  themes: string[]; // as Lichess names them; none if the file does not say
  line: number; // where it stands in its file
}

const COLUMNS = "PuzzleId,FEN,Moves,Rating".split(",");

/** Reads Lichess' CSV; a first line with the names of the columns is used if there is one. */
export async function* readPuzzles(lines: AsyncIterable<string>, name: string): AsyncGenerator<Puzzle> {
  let columns: Map<string, number> | undefined;
  let number = 0;
  for await (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    const cells = splitCells(line);
    if (!columns) {
      const named = cells.includes("FEN") && cells.includes("Moves");
      columns = new Map((named ? cells : COLUMNS).map((column, i) => [column, i]));
      if (named) continue;
    }
    const cell = (column: string) => cells[columns?.get(column) ?? -1] ?? "";
    const moves = cell("Moves").split(" ").filter(Boolean);
    if (cell("FEN") === "" || moves.length < 2) {
      throw new UserError(
        "PUZZLE_LINE",
        `${name}, line ${number}: "${line.slice(0, 60)}" is no puzzle; expected the columns PuzzleId,FEN,Moves,Rating with at least two moves.`,
      );
    }
    const rating = cell("Rating");
    yield {
      id: cell("PuzzleId"),
      fen: cell("FEN"),
      moves,
      themes: cell("Themes").split(" ").filter(Boolean),
      rating: /^\d+$/.test(rating) ? Number(rating) : undefined,
      line: number,
    };
  }
}

/** The cells of a line of CSV, quoted or not. */
function splitCells(line: string): string[] {
  if (!line.includes('"')) return line.split(",");
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, bare]) => quoted?.replace(/""/g, '"') ?? bare,
  );
}

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
