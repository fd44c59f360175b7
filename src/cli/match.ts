import type { MatchState } from "#arena";
import { UserError } from "#base";
import { command } from "./command.js";
import {
  buildSpec,
  CONTEST_OPTIONS,
  conditionPart,
  describeFaults,
  openingPart,
  playWithProgress,
  SPRT_OPTIONS,
  sprtPart,
} from "./contest.js";

export default command({
  name: "match",
  summary: "Play a match between two players: which is stronger, and how certain is that?",
  details:
    "Every opening is played twice, with both colours. A test (--sprt) stops by itself once it is decided.\n" +
    "docs/measuring.md explains how many games are needed for how many Elo.",
  examples: [
    "tabiya match random uci:stockfish --games 10 --nodes 100",
    "tabiya match uci:./new uci:./old --games 20000 --tc 8+0.08 --openings book.epd.zip --sprt 0,5 --concurrency 2 --pgn test.pgn",
    'tabiya match "uci:stockfish?UCI_LimitStrength=true&UCI_Elo=1700" "uci:stockfish?UCI_LimitStrength=true&UCI_Elo=1350" --games 200 --tc 1+0.01 --json',
    "tabiya match --spec match.json --pgn games.pgn",
    "tabiya match --pgn games.pgn --resume",
  ],
  arguments: {
    a: { optional: true, help: "player: NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&..." },
    b: { optional: true, help: "the other player" },
  },
  options: {
    games: {
      type: "integer",
      minimum: 1,
      help: "total number of games; by default 100, or with --sprt enough for 99 of 100 tests",
    },
    ...CONTEST_OPTIONS,
    ...SPRT_OPTIONS,
  },

  async run(values, io) {
    const { a, b, games } = values;
    if ((a === undefined) !== (b === undefined))
      throw new UserError("PLAYERS_FEW", "a match needs two players: tabiya match A B, or a file with --spec.");
    const players = a === undefined || b === undefined ? undefined : [a, b];
    const parts = [conditionPart(values), openingPart(values), sprtPart(values)];
    const spec = await buildSpec(values, ["match"], { players, games }, ...parts);
    const result = await playWithProgress(spec, values, io, (state) => formatState(state as MatchState));
    const match = result as MatchState;

    io.print(`${result.names[0]} against ${result.names[1]}: ${formatState(match)}`);
    if (match.normalized !== null && match.normalizedError !== null)
      io.print(`normalised Elo ${match.normalized.toFixed(1)} +- ${match.normalizedError.toFixed(1)}`);
    io.print(`pairs by points 0, 1/2, 1, 3/2, 2: ${match.pentanomial.join(", ")}`);
    if (match.sprt && spec.sprt) {
      const meaning = { H1: "passed", H0: "failed", undecided: "undecided" }[match.sprt.result];
      io.print(`test of ${spec.sprt.elo0} .. ${spec.sprt.elo1} Elo: ${meaning}`);
    }
    for (const line of describeFaults(result.faults)) io.print(line);
    return result;
  },
});

/** `+12 =5 -3, Elo 120.4 +- 90.1, LOS 98.1 %, draws 25 %`, and where the test stands. */
function formatState({ wins, draws, losses, elo, error, los, drawRate, score, sprt }: MatchState): string {
  const number = (value: number | null) => (value === null ? "?" : value.toFixed(1));
  const strength = elo === null ? `Elo ${score > 0.5 ? "+" : "-"}infinite` : `Elo ${number(elo)} +- ${number(error)}`;
  const parts = [
    `+${wins} =${draws} -${losses}`,
    strength,
    `LOS ${(los * 100).toFixed(1)} %`,
    `draws ${(drawRate * 100).toFixed(0)} %`,
  ];
  if (sprt) parts.push(`LLR ${sprt.llr.toFixed(2)} (${sprt.lower.toFixed(2)}, ${sprt.upper.toFixed(2)})`);
  return parts.join(", ");
}
