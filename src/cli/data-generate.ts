import { distinctNames } from "#arena";
import { UserError } from "#base";
import { randomOpenings } from "#data";
import { command } from "./command.js";
import { CONTEST_OPTIONS, describeFaults, runContest } from "./contest.js";

const { openings: _openings, plies: _plies, shuffle: _shuffle, pgn: _pgn, ...OPTIONS } = CONTEST_OPTIONS;

export default command({
  name: "data generate",
  summary: "Let players play games from random openings, as PGN with evaluations: raw material for training.",
  details:
    "One player plays itself; of two, each opening is played with both colours. A game is in the file whole or not at all;\n" +
    "after Ctrl-C or a kill, the same command with --resume plays the games that are missing.",
  examples: [
    "tabiya data generate uci:stockfish -o games.pgn --games 1000 --nodes 1000 --concurrency 2",
    "tabiya data generate uci:stockfish random -o games.pgn --games 100 --nodes 500 --random-plies 4 --resume",
  ],
  arguments: { players: { type: "strings", help: "one or two players: random, or uci:COMMAND?Option=Value&..." } },
  options: {
    out: { short: "o", help: "PGN file to write" },
    games: { type: "integer", minimum: 1, default: 100, help: "games in all" },
    randomPlies: { type: "integer", minimum: 0, default: 8, help: "random moves (half) at the start, or one more" },
    ...OPTIONS,
  },

  async run(values, io) {
    const { players, out, games: count, randomPlies, seed } = values;
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o games.pgn");
    if (players.length > 2)
      throw new UserError("PLAYERS_MANY", `one or two players generate games, not ${players.length}.`);
    const both = players.length === 2 ? players : [players[0], players[0]];
    const alone = players.length === 1;
    const counts = { white: 0, draws: 0, black: 0 };
    let played = 0;
    const { faults, seconds } = await runContest(
      {
        event: "Tabiya data generate",
        players: both,
        names: distinctNames(both),
        games: Array.from({ length: count }, (_, index) => {
          const white = alone ? 0 : index % 2;
          return { index, pair: index >> 1, round: alone ? index : index >> 1, white, black: 1 - white };
        }),
        book: randomOpenings(count, randomPlies, seed),
        settings: [`random-plies=${randomPlies}`],
        onGame({ points }) {
          played++;
          counts[points === 1 ? "white" : points === 0 ? "black" : "draws"]++;
          return undefined;
        },
        state: () => `${counts.white} won by White, ${counts.black} by Black, ${counts.draws} drawn`,
      },
      { ...values, openings: undefined, plies: undefined, shuffle: false, pgn: out },
      io,
    );
    for (const line of describeFaults(faults)) io.note(line);
    io.print(`${out}: ${played} games, ${counts.white} won by White, ${counts.black} by Black, ${counts.draws} drawn`);
    return { games: played, ...counts, faults, seconds };
  },
});
