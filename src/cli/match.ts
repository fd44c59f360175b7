import {
  distinctNames,
  ELO_MODELS,
  type EloModel,
  type Estimate,
  estimate,
  listGames,
  parseSprt,
  roundRobin,
  type SprtState,
  sprt,
  Tally,
} from "#arena";
import { command } from "./command.js";
import { CONTEST_OPTIONS, describeFaults, runContest } from "./contest.js";

const MANY = 1_000_000; // games a test may take that nobody gave a number

export default command({
  name: "match",
  summary: "Play two players against each other and say which is stronger, and how sure that is.",
  details:
    "Every opening is played twice, with both colours. A test (--sprt) ends by itself when the question is decided.\n" +
    "docs/measuring.md tells how many games are needed for how many Elo.",
  examples: [
    "tabiya match random uci:stockfish --games 10 --nodes 100",
    "tabiya match uci:./new uci:./old --games 20000 --tc 8+0.08 --openings book.epd.zip --sprt 0,5 --concurrency 2 --pgn test.pgn",
    'tabiya match "uci:stockfish?UCI_LimitStrength=true&UCI_Elo=1700" "uci:stockfish?UCI_LimitStrength=true&UCI_Elo=1350" --games 200 --tc 1+0.01 --json',
  ],
  arguments: {
    a: { help: "player: NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&..." },
    b: { help: "the other player" },
  },
  options: {
    games: {
      type: "integer",
      minimum: 1,
      help: "games in all, both colours counted; 100 if not said, or what the test takes",
    },
    ...CONTEST_OPTIONS,
    sprt: { help: "elo0,elo1: stop when it is clear whether A gains elo1 rather than elo0, as 0,5" },
    alpha: { type: "number", default: 0.05, help: "how often the test may pass what gains only elo0" },
    beta: { type: "number", default: 0.05, help: "how often the test may fail what gains elo1" },
    eloModel: { choices: ELO_MODELS, default: "logistic", help: "what Elo means in --sprt" },
  },

  async run(values, io) {
    const { a, b, alpha, beta } = values;
    const test = values.sprt && parseSprt(values.sprt, { alpha, beta, model: values.eloModel as EloModel });
    const count = values.games ?? (test ? MANY : 100);
    const names = distinctNames([a, b]);
    const tally = new Tally();
    const judge = () => (test ? sprt(tally.pairs, test) : undefined);
    const state = () => formatState(tally, estimate(tally.games, tally.pairs), judge());

    const { faults, seconds } = await runContest(
      {
        event: "Tabiya match",
        players: [a, b],
        names,
        games: listGames(roundRobin(2, Math.ceil(count / 2)), count),
        onGame({ game, points }) {
          tally.add(game.pair, game.white === 0 ? points : 1 - points);
          const result = judge()?.result;
          return result === "H0" || result === "H1" ? "stop" : undefined;
        },
        state,
      },
      values,
      io,
    );

    const result = estimate(tally.games, tally.pairs);
    const verdict = judge();
    io.print(`${names[0]} against ${names[1]}: ${state()}`);
    io.print(`pairs by points 0, 1/2, 1, 3/2, 2: ${tally.pairs.join(", ")}`);
    if (verdict && values.sprt) {
      const meaning = { H1: "passed", H0: "failed", undecided: "undecided" }[verdict.result];
      io.print(`test of ${values.sprt.replace(",", " .. ")} Elo: ${meaning}`);
    }
    for (const line of describeFaults(faults)) io.print(line);
    return {
      ...tally.games,
      elo: result.elo,
      error: result.error,
      los: result.los,
      drawRate: result.drawRate,
      pentanomial: tally.pairs,
      sprt: verdict ?? null,
      faults,
      seconds,
    };
  },
});

/** `+12 =5 -3, Elo 120.4 +- 90.1, LOS 98.1 %, draws 25 %`, and where the test stands. */
function formatState({ games }: Tally, { elo, error, los, drawRate, score }: Estimate, test?: SprtState): string {
  const { wins, draws, losses } = games;
  const number = (value: number | null) => (value === null ? "?" : value.toFixed(1));
  const strength = elo === null ? `Elo ${score > 0.5 ? "+" : "-"}infinite` : `Elo ${number(elo)} +- ${number(error)}`;
  const parts = [
    `+${wins} =${draws} -${losses}`,
    strength,
    `LOS ${(los * 100).toFixed(1)} %`,
    `draws ${(drawRate * 100).toFixed(0)} %`,
  ];
  if (test) parts.push(`LLR ${test.llr.toFixed(2)} (${test.lower.toFixed(2)}, ${test.upper.toFixed(2)})`);
  return parts.join(", ");
}
