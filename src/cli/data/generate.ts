import type { GameCountState } from "#arena";
import { UserError } from "#base";
import { command } from "../command.js";
import { buildSpec, CONDITION_OPTIONS, conditionPart, describeFaults, playWithProgress } from "../contest.js";

export default command({
  name: "data generate",
  summary: "Play games from random openings and save them as PGN with evaluations, to train on.",
  details:
    "One player plays against itself; two players play each opening with both colours. Only complete games are written;\n" +
    "after Ctrl-C or a kill, the same command with --resume plays the games that are missing.",
  examples: [
    "tabiya data generate uci:stockfish -o games.pgn --games 1000 --nodes 1000 --concurrency 2",
    "tabiya data generate nnue@ab -o games.pgn --games 100000 --nodes 5000 --cluster redis://localhost:6379",
    "tabiya data generate uci:stockfish random -o games.pgn --games 100 --nodes 500 --random-plies 4 --resume",
  ],
  arguments: {
    players: {
      type: "strings",
      help: "one or two players: NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&...",
    },
  },
  options: {
    out: { short: "o", help: "PGN file to write" },
    games: { type: "integer", minimum: 1, default: 100, help: "games in all" },
    randomPlies: {
      type: "integer",
      minimum: 0,
      default: 8,
      help: "random plies at the start (or one more, at random)",
    },
    ...CONDITION_OPTIONS,
  },

  async run(values, io) {
    const { players, out, games, randomPlies, resume, cluster, store } = values;
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o games.pgn");
    const named = { players, games, openings: { randomPlies } };
    const spec = await buildSpec({ spec: undefined, pgn: out, resume }, ["games"], named, conditionPart(values));
    const result = await playWithProgress(spec, { pgn: out, resume, cluster, store }, io, (state) =>
      format(state as GameCountState),
    );
    for (const line of describeFaults(result.faults)) io.note(line);
    io.print(`${out}: ${format(result as GameCountState)}`);
    return result;
  },
});

const format = ({ games, white, black, draws }: GameCountState): string =>
  `${games} games, ${white} won by White, ${black} by Black, ${draws} drawn`;
