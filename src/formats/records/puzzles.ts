// Puzzles of Lichess as records: every position in which the solver is to move, with the move that solves it.
import { openBytes, readLines, UserError } from "#base";
import { formatFen, parseFen, parseUci, winProbability } from "#chess";
import { type Puzzle, readPuzzles } from "../puzzles.js";
import { badRecord, type DataRecord, type OnBad, type RecordReader, throwBad } from "./record.js";

/** What the solver gets, in centipawns, by the themes that Lichess gives a puzzle; a mate is certain. */
const WORTH: Readonly<Record<string, number>> = { crushing: 600, advantage: 300, equality: 0 };

function winProbabilityOf({ themes }: Puzzle): number | undefined {
  if (themes.includes("mate")) return 1;
  const theme = themes.find((name) => name in WORTH);
  return theme === undefined ? undefined : winProbability(WORTH[theme]);
}

/** Positions of a puzzle with their solution, and what it is worth if the themes say so. */
function recordsOf(puzzle: Puzzle): DataRecord[] {
  const position = parseFen(puzzle.fen);
  const probability = winProbabilityOf(puzzle);
  const worth = probability === undefined ? {} : { win_prob: probability };
  return puzzle.moves.flatMap((move, i) => {
    const found = parseUci(position, move);
    if (found === undefined) {
      throw new UserError(
        "PUZZLE_MOVE",
        `the move ${move} of puzzle ${puzzle.id} is not legal in ${formatFen(position)}.`,
      );
    }
    const fen = formatFen(position);
    position.play(found);
    return i % 2 === 1 ? [{ fen, move, ...worth }] : []; // the first move, and every other one, is the opponent's
  });
}

const GROUP = 1024; // puzzles a batch

export async function openPuzzles(path: string, onBad: OnBad = throwBad): Promise<RecordReader> {
  const source = await openBytes(path);
  return {
    path,
    format: "puzzles",
    records: undefined,
    size: source.size,
    get bytesRead() {
      return source.bytesRead;
    },
    async *[Symbol.asyncIterator]() {
      let records: DataRecord[] = [];
      let read = 0;
      for await (const puzzle of readPuzzles(readLines(source, path), path)) {
        try {
          records.push(...recordsOf(puzzle));
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          onBad(badRecord(error.code, { path, line: puzzle.line }, error.message));
        }
        if (++read % GROUP !== 0) continue;
        yield records;
        records = [];
      }
      yield records;
    },
  };
}
