import { type Opening, type OpeningBook, parseEpdBook } from "#arena";
import { readBytes, readLines, UserError } from "#base";
import { formatFen } from "#chess";
import { readGames, refuseOther } from "#formats";

/** Reads a book of openings: one position a line (EPD or FEN), or games in PGN of which the first `plies` moves count. */
export async function loadBook(path: string, plies = Infinity): Promise<OpeningBook> {
  await refuseOther(path, ["pgn", "epd", "zip"], "openings: games in PGN, or one position (EPD) a line");
  const bytes = await readBytes(path);
  const start = new TextDecoder().decode(bytes.subarray(0, 4096));
  const content = (async function* () {
    yield bytes;
  })();
  // A position has its eight ranks in the first word of a line; nothing in a game looks like that.
  if (!/^\S+(\/\S+){7}\s/m.test(start.replace(/^\[.*$/gm, ""))) return readPgnBook(content, path, plies);
  const lines: string[] = [];
  for await (const line of readLines(content, path)) lines.push(line);
  return parseEpdBook(lines, path);
}

async function readPgnBook(bytes: AsyncIterable<Uint8Array>, path: string, plies: number): Promise<OpeningBook> {
  const openings: Opening[] = [];
  for await (const game of readGames(bytes, { source: path })) {
    if (game.unsupportedVariant !== undefined) {
      throw new UserError(
        "BOOK_VARIANT",
        `${path}: game ${game.number} is ${game.unsupportedVariant}, which is not played here.`,
      );
    }
    const { start } = game;
    openings.push({ fen: formatFen(start), moves: [...game.moves.subarray(0, plies)], chess960: start.chess960 });
  }
  if (openings.length === 0) {
    throw new UserError(
      "BOOK_EMPTY",
      `${path}: no opening in it; expected games in PGN, or one position (EPD) a line.`,
    );
  }
  return { length: openings.length, at: (index) => openings[index] };
}
