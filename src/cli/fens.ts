// What the commands share that show something of positions: which ones.
import { atPlace, openBytes, readLines, UserError } from "#base";
import { type Position, parseFen } from "#chess";
import { refuseOther } from "#formats";

export const FEN_OPTIONS = {
  fen: { help: "one position" },
  fens: { help: "a file with one FEN per line; - is standard input" },
  chess960: { type: "boolean", help: "positions are of Chess960: castling is king takes rook" },
} as const;

interface FenValues {
  fen: string | undefined;
  fens: string | undefined;
  chess960: boolean;
}

/** A position as it was given. */
interface Given {
  text: string;
  position: Position;
}

/** The position of --fen, or those of the file of --fens; a bad line is named by its number. */
export async function* readFens({ fen, fens, chess960 }: FenValues): AsyncGenerator<Given> {
  if (fen !== undefined && fens === undefined) {
    yield { text: fen, position: parseFen(fen, { chess960 }) };
    return;
  }
  if (fens === undefined || fen !== undefined)
    throw new UserError("OPTION_MISSING", "Give one position with --fen, or a file of them with --fens.");
  await refuseOther(fens, ["epd", "fen", "txt"], "one FEN per line");
  let number = 0;
  let found = false;
  for await (const line of readLines(await openBytes(fens), fens)) {
    number++;
    const text = line.trim();
    if (text === "") continue;
    found = true;
    yield { text, position: atPlace(`${fens}, line ${number}`, () => parseFen(text, { chess960 })) };
  }
  if (!found) throw new UserError("FEN_NONE", `${fens}: no position in it; expected one FEN per line.`);
}
