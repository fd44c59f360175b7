import { Agreement, askAbout, examine, type Labelled, parseMoveLabels } from "#arena";
import { openBytes, Random, readLines, UserError } from "#base";
import { resolvePlayer } from "#engine";
import { type Game, NO_EVAL, readGames, refuseOther } from "#formats";
import { command } from "./command.js";
import { readLimits, THINKING_OPTIONS } from "./thinking.js";

export default command({
  name: "agreement",
  summary: "Measure how well a player agrees with games or labels it has not seen: moves, values, win probabilities.",
  details:
    "From games (PGN): how often it plays the game's move, how far its value is from [%eval], and how well its\n" +
    'expected scores are calibrated. From lines {"fen", "moves": {uci: cp}} (JSONL): whether it finds a best move, what its choice\n' +
    "loses, and Kendall's tau between its ranking of all moves and the labels'.",
  examples: [
    "tabiya agreement uci:stockfish games.pgn.zst --nodes 1000 --limit 2000 --top 3",
    "tabiya agreement maia-1500.pb.gz@none lichess.pgn.zst --json",
  ],
  arguments: {
    player: { help: "NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&..." },
    file: { help: "games (PGN) or valued moves (JSONL), plain or compressed" },
  },
  options: {
    limit: { type: "integer", minimum: 1, default: 1000, help: "positions" },
    perGame: { type: "integer", minimum: 1, default: 4, help: "positions drawn from a game" },
    skip: { type: "integer", minimum: 0, default: 10, help: "plies to skip at the start of each game" },
    top: { type: "integer", minimum: 1, default: 1, help: "also count how often the move is among its N best" },
    seed: { type: "integer", default: 1, help: "seed for drawing positions" },
    ...THINKING_OPTIONS,
  },

  async run({ player, file, limit, perGame, skip, top, seed, concurrency, ...rest }, io) {
    const limits = readLimits(player, rest);
    await refuseOther(file, ["pgn", "jsonl", "zip"], "games (PGN) or valued moves (JSONL)");
    const agreement = new Agreement(top);
    let faults = 0;
    const bad: string[] = [];

    async function* drawn(): AsyncGenerator<Labelled> {
      const random = new Random(seed);
      const source = { source: file, onBad: (error: Error) => void bad.push(error.message) };
      for await (const game of readGames(await openBytes(file), source))
        yield* drawPositions(game, perGame, skip, random);
    }
    async function* labelled(): AsyncGenerator<Labelled> {
      let number = 0;
      for await (const line of readLines(await openBytes(file), file)) {
        number++;
        if (line.trim() !== "") yield parseMoveLabels(line, `${file}, line ${number}`);
      }
    }
    async function* questions() {
      let count = 0;
      for await (const label of /\.jsonl(\.|$)/.test(file) ? labelled() : drawn()) {
        yield label;
        if (++count >= limit) return;
      }
    }
    const start = performance.now();
    await examine({
      questions: questions(),
      create: () => resolvePlayer(player, { steady: true }),
      ask: (solver, label) => askAbout(solver, label, limits, top),
      onAnswer(label, choice, fault) {
        if (choice) agreement.add(label, choice);
        if (fault) {
          faults++;
          io.note(fault.message);
        }
        io.progress(`${agreement.positions} of ${limit} positions`);
      },
      concurrency,
      signal: io.signal,
    });
    if (agreement.positions === 0) {
      throw new UserError("AGREEMENT_NONE", `${file}: no position to ask about${bad[0] ? ` (${bad[0]})` : ""}.`);
    }
    if (bad.length > 0) io.note(`${bad.length} games could not be read; the first: ${bad[0]}`);

    const report = agreement.report();
    const percent = (share: number | null) => (share === null ? "-" : `${(share * 100).toFixed(1)} %`);
    io.print(`${report.positions} positions`);
    if (report.moveMatch !== null) {
      io.print(`top-1: ${percent(report.moveMatch)} (95 % interval ${percent(report.low)} .. ${percent(report.high)})`);
      if (top > 1) io.print(`among the best ${top}: ${percent(report.topMatch)}`);
    }
    if (report.valueMae !== null) {
      io.print(
        `value error: ${report.valueMae.toFixed(3)} mean, ${report.valueRmse?.toFixed(3)} root mean square (of -1 .. 1)`,
      );
    }
    if (report.regret !== null) io.print(`given away by its choice: ${percent(report.regret)} of a point on average`);
    if (report.kendallTau !== null) io.print(`Kendall's tau over the moves: ${report.kendallTau.toFixed(3)}`);
    if (report.calibrationError !== null) {
      io.print(`calibration error (expected score against the result): ${percent(report.calibrationError)}`);
      for (const { expected, actual, count } of report.calibration) {
        io.print(`  expected ${percent(expected).padStart(7)}  came ${percent(actual).padStart(7)}  (${count})`);
      }
    }
    return { ...report, badGames: bad.length, faults, seconds: (performance.now() - start) / 1000 };
  },
});

/** A few positions of a game, each with the move, the eval and the result that followed. */
function* drawPositions(game: Game, count: number, skip: number, random: Random): Generator<Labelled> {
  const { moves, evals, result } = game;
  const plies = random.shuffle(Array.from({ length: Math.max(0, moves.length - skip) }, (_, i) => skip + i));
  const chosen = new Set(plies.slice(0, count));
  const white = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5, "*": undefined }[result];
  const position = game.start;
  for (const [ply, move] of moves.entries()) {
    if (chosen.has(ply)) {
      const sign = position.turn === "white" ? 1 : -1;
      yield {
        position: position.clone(),
        played: move,
        scoreCp: evals[ply] === NO_EVAL ? undefined : sign * evals[ply],
        result: white === undefined ? undefined : sign === 1 ? white : 1 - white,
      };
    }
    position.play(move);
  }
}
