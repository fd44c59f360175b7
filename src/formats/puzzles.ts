import { UserError } from "#base";

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
