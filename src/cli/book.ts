import { type OpeningBook, parseEpdBook } from "#arena";
import { openBytes, readLines } from "#base";

/** Reads a book of openings: EPD or FEN lines, or games. */
export async function loadBook(path: string, _plies: number | undefined): Promise<OpeningBook> {
  const lines: string[] = [];
  for await (const line of readLines(await openBytes(path), path)) lines.push(line);
  return parseEpdBook(lines, path);
}
