import type { TournamentState } from "#arena";
import { command } from "./command.js";
import { buildSpec, CONTEST_OPTIONS, conditionPart, describeFaults, openingPart, playWithProgress } from "./contest.js";

export default command({
  name: "tournament",
  summary: "Play many players against each other and rate them.",
  details:
    "Everyone plays everyone (with --gauntlet, the first player plays all others) with both colours in each round.\n" +
    "Ratings are maximum-likelihood estimates with average 0; errors are 95 % intervals.",
  examples: [
    "tabiya tournament random uci:stockfish uci:glaurung --rounds 10 --nodes 500",
    "tabiya tournament nnue@ab uci:stockfish uci:glaurung --gauntlet --tc 5+0.05 --concurrency 2 --pgn cup.pgn --json",
    "tabiya tournament --spec cup.json --pgn cup.pgn",
    "tabiya tournament --pgn cup.pgn --resume",
  ],
  arguments: {
    players: {
      type: "strings",
      optional: true,
      help: "NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&...",
    },
  },
  options: {
    gauntlet: { type: "boolean", help: "the first player against each of the others" },
    rounds: {
      type: "integer",
      minimum: 1,
      help: "openings for each pair of players, two games each; 5 by default",
    },
    ...CONTEST_OPTIONS,
  },

  async run(values, io) {
    const { rounds, gauntlet } = values;
    const players = values.players?.length ? values.players : undefined;
    const named = { kind: gauntlet ? ("gauntlet" as const) : undefined, players, rounds };
    const parts = [named, conditionPart(values), openingPart(values)];
    const spec = await buildSpec(values, ["tournament", "gauntlet"], ...parts);
    const result = await playWithProgress(spec, values, io, (state) => formatLeaders(state as TournamentState));
    for (const line of formatTables(result as TournamentState)) io.print(line);
    for (const line of describeFaults(result.faults)) io.print(line);
    return result;
  },
});

const formatLeaders = ({ players }: TournamentState): string =>
  players
    .slice(0, 3)
    .map(({ name, rating }) => `${name} ${rating.toFixed(0)}`)
    .join(", ");

/** Ratings, and who scored how much against whom, as Markdown. */
function formatTables({ players, bounded, crossTable }: TournamentState): string[] {
  const lines = ["| rank | player | rating | error | games | score |", "|---|---|---|---|---|---|"];
  players.forEach(({ name, rating, error, games, score }, i) => {
    const errorText = error === null ? "?" : error.toFixed(0);
    lines.push(`| ${i + 1} | ${name} | ${rating.toFixed(0)} | ${errorText} | ${games} | ${score} |`);
  });
  if (bounded) {
    lines.push(
      "\nSomebody won or lost everything: one drawn game with an average player was added for each, to keep ratings finite.",
    );
  }
  lines.push(`\n| + = - | ${players.map((_, i) => i + 1).join(" | ")} |`, `|---|${players.map(() => "---|").join("")}`);
  players.forEach(({ name }, rank) => {
    const cells = crossTable[rank].map((games) => (games ? `${games.wins} ${games.draws} ${games.losses}` : ""));
    lines.push(`| ${rank + 1} ${name} | ${cells.join(" | ")} |`);
  });
  return lines;
}
