import { availableParallelism } from "node:os";
import { UserError } from "#base";
import {
  IMPORT_KINDS,
  type ImportResult,
  importGames,
  parseChoices,
  parseResults,
  TIME_CLASSES,
  validationPath,
} from "#data";
import { MOVE_TABLE_NAMES, type MoveTableName } from "#encodings";
import { VARIANTS } from "#formats";
import { command } from "../command.js";
import { formatCount, ProgressBar, stopwatch } from "../progress.js";

const BAD_SHOWN = 5; // broken games whose error is shown; the rest is counted

export default command({
  name: "data import",
  summary: "Turn games into training records: filters, labels from [%eval] comments or results, moves as policies.",
  details:
    "The format follows from the name of the output: .bin, .binpack, .plain, .jsonl, .bag, .bagz, .parquet.\n" +
    "A position's score is the [%eval] after the move that leads to it, from the mover's point of view; mates are\n" +
    "+-(32000 - plies). Positions without one are left out, unless --value result; then scores are 0 and the result counts.",
  examples: [
    "tabiya data import games.pgn.zst -o train.bin --min-rating 2400 --validation 0.05",
    "tabiya data import a.pgn b.pgn -o moves.jsonl --value result --time-class rapid,classical --per-game 10",
    'tabiya data import mine.pgn -o mine.bin --player "My Name" --value result --validation 0.1',
    "tabiya data import lichess.pgn.zst -o values.bagz --kind state_value --dedupe",
  ],
  arguments: { games: { type: "strings", help: 'PGN files, plain or .zst .gz .bz2; "-" is standard input' } },
  options: {
    out: { short: "o", help: "file to write" },
    player: { help: "only games of this player, and only positions where this player is to move" },
    minRating: { type: "integer", minimum: 0, help: "lowest rating of both players" },
    timeClass: { help: `some of ${TIME_CLASSES.join(", ")}` },
    variant: { help: `some of ${VARIANTS.join(", ")} (default: standard,from-position)` },
    result: { help: "some of white, black, draw, decisive" },
    minPlies: { type: "integer", minimum: 0, help: "games shorter than this are left out" },
    maxPlies: { type: "integer", minimum: 0, help: "games longer than this are left out" },
    fromPly: { type: "integer", minimum: 0, default: 0, help: "plies to skip at the start of each game" },
    perGame: { type: "integer", minimum: 1, help: "most positions of a game, drawn at random" },
    maxPositions: { type: "integer", minimum: 1, help: "stop after N positions" },
    limit: { type: "integer", minimum: 1, help: "stop after keeping N games" },
    dedupe: {
      type: "boolean",
      help: "write each position only once, the first time (about 40 bytes of memory each)",
    },
    value: { choices: ["eval", "result"], default: "eval", help: "what a position is worth" },
    policy: {
      choices: ["played", "best"],
      default: "played",
      help: "the move played, or only if it was the best by the evaluations (lost no more than 20 centipawns)",
    },
    validation: { type: "number", minimum: 0, default: 0, help: "share of the games to write to OUT.validation" },
    kind: { choices: IMPORT_KINDS, help: "kind of the records; needed for .bag and .bagz" },
    moves: { choices: MOVE_TABLE_NAMES, help: "table for records of the kind move_index" },
    seed: { type: "integer", default: 1, help: "seed for --per-game and --validation" },
    threads: { type: "integer", minimum: 1, help: "workers (default: one for each core)" },
  },

  async run(values, io) {
    const { games, out, validation } = values;
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE.bin");
    if (validation >= 1) {
      throw new UserError(
        "OPTION_VALUE",
        `--validation ${validation}: expected a share of the games below 1, as 0.05.`,
      );
    }
    const kind = values.kind as (typeof IMPORT_KINDS)[number] | undefined;
    const bar = new ProgressBar(io, "positions");
    const seconds = stopwatch();
    let bad = 0;
    const advice = "Games without [%eval] comments teach moves and results: add --value result.";
    const result = await importGames(games, out, {
      games: {
        minRating: values.minRating,
        player: values.player,
        timeClasses:
          values.timeClass === undefined ? undefined : parseChoices("time-class", values.timeClass, TIME_CLASSES),
        variants:
          values.variant === undefined
            ? ["standard", "from-position"]
            : parseChoices("variant", values.variant, VARIANTS),
        results: values.result === undefined ? undefined : parseResults(values.result),
        minPlies: values.minPlies,
        maxPlies: values.maxPlies,
      },
      positions: {
        value: values.value as "eval" | "result",
        policy: values.policy as "played" | "best",
        needsEvalAfter: kind === "action_value",
        fromPly: values.fromPly,
        perGame: values.perGame,
      },
      validation,
      seed: values.seed,
      kind: kind ?? (values.moves === undefined ? undefined : "move_index"),
      moves: values.moves as MoveTableName | undefined,
      dedupe: values.dedupe,
      limitGames: values.limit,
      maxPositions: values.maxPositions,
      threads: values.threads ?? availableParallelism(),
      signal: io.signal,
      onBad(error) {
        if (++bad <= BAD_SHOWN) io.note(error.message);
        else if (bad === BAD_SHOWN + 1) io.note("(further broken games are only counted)");
      },
      onNoEvals: (read) => io.note(`the first ${read} games have no evaluations. ${advice}`),
      onProgress: ({ done, total, games: read, positions }) =>
        bar.show(positions, done, total, `, ${formatCount(read)} games`),
    }).catch((error: unknown) => {
      const lacksEvals = error instanceof UserError && error.code === "IMPORT_EMPTY" && /no eval/.test(error.message);
      throw lacksEvals ? new UserError(error.code, `${error.message}\n${advice}`) : error;
    });
    const took = seconds();
    describe(result, out, took, io.print);
    if (result.validation && result.validation.positions === 0) {
      io.note(`${validationPath(out)}: no game fell into the validation share; it is empty.`);
    }
    return { ...result, seconds: took };
  },
});

function describe(result: ImportResult, out: string, seconds: number, print: (text: string) => void): void {
  const { games, kept, positions, skipped, skippedPositions, validation } = result;
  const rate = formatCount(positions / seconds);
  print(`${out}: ${positions} positions of ${kept} games, of ${games} read, in ${seconds.toFixed(1)} s (${rate}/s)`);
  if (validation)
    print(`  of these ${validation.positions} positions of ${validation.games} games in ${validation.path}`);
  const list = (counts: Record<string, number>, of: string) => {
    const entries = Object.entries(counts).sort(([, a], [, b]) => b - a);
    for (const [reason, count] of entries) print(`  ${String(count).padStart(10)} ${of} left out: ${reason}`);
  };
  list(skipped, "games");
  list(skippedPositions, "positions");
}
