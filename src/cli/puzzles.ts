import { examine, PuzzleScore, shareInterval, solvePuzzle } from "#arena";
import { openBytes, readLines, UserError } from "#base";
import { examineByJobs } from "#cluster";
import { type PlayerFault, resolvePlayer } from "#engine";
import { type Puzzle, readPuzzles, refuseOther } from "#formats";
import { withTransport } from "./cluster.js";
import { command } from "./command.js";
import { readLimits, SPREAD_OPTIONS } from "./thinking.js";

export default command({
  name: "puzzles",
  summary: "Solve Lichess puzzles and count the correct ones, by rating.",
  details:
    "The first move of a puzzle is the opponent's; the player must find every move of the solution, or give mate another way.\n" +
    "The file has Lichess' columns (database.lichess.org, CC0), plain or compressed.",
  examples: [
    "tabiya puzzles uci:stockfish lichess_db_puzzle.csv.zst --limit 2000 --nodes 1000",
    "tabiya puzzles nnue@ab puzzles.csv --rating 1000-1500 --movetime 50 --json",
  ],
  arguments: {
    player: { help: "NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&..." },
    csv: { help: "file of puzzles" },
  },
  options: {
    limit: { type: "integer", minimum: 1, help: "use only the first N (after --rating)" },
    rating: { help: "only puzzles rated from A to B, as 1000-1500" },
    failed: { type: "boolean", help: "list the puzzles that were not solved" },
    ...SPREAD_OPTIONS,
  },

  async run({ player, csv, limit = Infinity, rating, failed, concurrency, cluster, store, ...rest }, io) {
    const limits = readLimits(player, rest);
    const [low, high] = rating === undefined ? [-Infinity, Infinity] : parseRange(rating);
    await refuseOther(csv, ["csv", "zip"], "puzzles in Lichess' columns (CSV)");
    const score = new PuzzleScore();
    const missed: Puzzle[] = [];
    let faults = 0;
    const start = performance.now();

    async function* chosen(): AsyncGenerator<Puzzle> {
      let count = 0;
      for await (const puzzle of readPuzzles(readLines(await openBytes(csv), csv), csv)) {
        if (rating !== undefined && !(puzzle.rating !== undefined && puzzle.rating >= low && puzzle.rating <= high))
          continue;
        yield puzzle;
        if (++count >= limit) return;
      }
    }
    const onAnswer = (puzzle: Puzzle, solved: boolean | undefined, fault: PlayerFault | undefined) => {
      if (fault) {
        faults++;
        io.note(`puzzle ${puzzle.id}: ${fault.message}`);
      }
      score.add(puzzle, solved ?? false);
      if (failed && !solved) missed.push(puzzle);
      io.progress(`${score.total} puzzles, ${percent(score.solved / score.total)} solved`);
    };
    const { signal } = io;
    if (cluster === undefined)
      await examine({
        questions: chosen(),
        create: () => resolvePlayer(player, { steady: true }),
        ask: (solver, puzzle) => solvePuzzle(solver, puzzle, limits),
        onAnswer,
        concurrency,
        signal,
      });
    else {
      const questions: Puzzle[] = [];
      for await (const puzzle of chosen()) questions.push(puzzle);
      const exam = { kind: "puzzles" as const, player, limits, questions, format: JSON.stringify, signal };
      await withTransport({ cluster, store }, io, (transport) => examineByJobs(transport, exam, onAnswer));
    }
    if (score.total === 0) {
      throw new UserError("PUZZLES_NONE", `${csv}: no puzzle in it${rating ? ` rated ${rating}` : ""}.`);
    }

    const { solved, total } = score;
    const accuracy = solved / total;
    const interval = shareInterval(solved, total);
    const byRating = score.byRating();
    io.print(
      `solved ${solved} of ${total}: ${percent(accuracy)} (95 % interval ${percent(interval.low)} .. ${percent(interval.high)})`,
    );
    for (const band of byRating) {
      io.print(
        `  ${String(band.from).padStart(4)}-${band.to}  ${String(band.solved).padStart(6)} of ${String(band.total).padEnd(6)}` +
          ` ${percent(band.accuracy).padStart(7)}  (${percent(band.low)} .. ${percent(band.high)})`,
      );
    }
    const names = missed.sort((a, b) => a.line - b.line).map(({ id }) => id);
    if (failed) io.print(`not solved: ${names.join(", ") || "none"}`);
    const seconds = (performance.now() - start) / 1000;
    return { solved, total, accuracy, ...interval, byRating, ...(failed && { missed: names }), faults, seconds };
  },
});

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function parseRange(text: string): [number, number] {
  const match = /^(\d+)-(\d+)$/.exec(text);
  if (match && Number(match[1]) <= Number(match[2])) return [Number(match[1]), Number(match[2])];
  throw new UserError("RATING_RANGE", `--rating ${text}: expected two ratings, the lower first, as 1000-1500.`);
}
