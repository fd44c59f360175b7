import {
  checkPlayers,
  distinctNames,
  type Encounter,
  gauntlet,
  listGames,
  type Ratings,
  ratePlayers,
  roundRobin,
  Tally,
} from "#arena";
import { command } from "./command.js";
import { CONTEST_OPTIONS, describeFaults, runContest } from "./contest.js";

export default command({
  name: "tournament",
  summary: "Play many players against each other and rate them.",
  details:
    "Everybody meets everybody (or, with --gauntlet, the first meets all others) in each round with both colours.\n" +
    "Ratings are the likeliest ones, their average is 0, and their errors hold 95 %.",
  examples: [
    "tabiya tournament random uci:stockfish uci:glaurung --rounds 10 --nodes 500",
    "tabiya tournament nnue@ab uci:stockfish uci:glaurung --gauntlet --tc 5+0.05 --concurrency 2 --pgn cup.pgn --json",
  ],
  arguments: { players: { type: "strings", help: "NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&..." } },
  options: {
    gauntlet: { type: "boolean", help: "the first player against each of the others" },
    rounds: { type: "integer", minimum: 1, default: 5, help: "openings for each two players, two games each" },
    ...CONTEST_OPTIONS,
  },

  async run(values, io) {
    const { players, rounds } = values;
    checkPlayers(players);
    const names = distinctNames(players);
    const pairings = (values.gauntlet ? gauntlet : roundRobin)(players.length, rounds);
    const tallies = new Map<string, { first: number; second: number; tally: Tally }>();
    for (const { first, second } of pairings) tallies.set(`${first}-${second}`, { first, second, tally: new Tally() });
    const rate = () =>
      ratePlayers(
        players.length,
        [...tallies.values()].map(({ first, second, tally }): Encounter => ({ first, second, ...tally })),
      );
    const order = (ratings: Ratings) =>
      names.map((name, i) => ({ name, i, ...ratings.players[i] })).sort((a, b) => b.rating - a.rating);

    const { faults, seconds } = await runContest(
      {
        event: "Tabiya tournament",
        players,
        names,
        games: listGames(pairings),
        settings: values.gauntlet ? ["gauntlet"] : [],
        onGame({ game, points }) {
          const [first, second] = [game.white, game.black].sort((a, b) => a - b);
          tallies.get(`${first}-${second}`)?.tally.add(game.pair, game.white === first ? points : 1 - points);
          return undefined;
        },
        state: () =>
          order(rate())
            .slice(0, 3)
            .map(({ name, rating }) => `${name} ${rating.toFixed(0)}`)
            .join(", "),
      },
      values,
      io,
    );

    const ratings = rate();
    const ranked = order(ratings);
    const between = (row: number, column: number) => {
      const found = tallies.get(`${Math.min(row, column)}-${Math.max(row, column)}`);
      if (!found || row === column) return undefined;
      const { wins, draws, losses } = found.tally.games;
      return row === found.first ? { wins, draws, losses } : { wins: losses, draws, losses: wins };
    };
    io.print("| rank | player | rating | error | games | score |\n|---|---|---|---|---|---|");
    ranked.forEach(({ name, rating, error, games, score }, i) => {
      const errorText = error === null ? "?" : error.toFixed(0);
      io.print(`| ${i + 1} | ${name} | ${rating.toFixed(0)} | ${errorText} | ${games} | ${score} |`);
    });
    if (ratings.bounded) {
      io.print(
        "\nSomebody won or lost everything: one drawn game with an average player was added for each, to keep ratings finite.",
      );
    }
    io.print(`\n| + = - | ${ranked.map((_, i) => i + 1).join(" | ")} |\n|---|${ranked.map(() => "---|").join("")}`);
    ranked.forEach(({ name, i }, rank) => {
      const cells = ranked.map((other) => {
        const games = between(i, other.i);
        return games ? `${games.wins} ${games.draws} ${games.losses}` : "";
      });
      io.print(`| ${rank + 1} ${name} | ${cells.join(" | ")} |`);
    });
    for (const line of describeFaults(faults)) io.print(line);
    return {
      players: ranked.map(({ name, rating, error, games, score }) => ({ name, rating, error, games, score })),
      bounded: ratings.bounded,
      crossTable: ranked.map(({ i }) => ranked.map((other) => between(i, other.i) ?? null)),
      faults,
      seconds,
    };
  },
});
