import { UserError } from "#base";
import { playByJobs } from "#cluster";
import { runSelfPlay, type SelfPlayCounts } from "#data";
import { CLUSTER_OPTIONS, withTransport } from "./cluster.js";
import { command } from "./command.js";
import { ADJUDICATION_OPTIONS, parseRule } from "./contest.js";
import { formatCount, ProgressBar } from "./progress.js";

export default command({
  name: "selfplay",
  summary: "Let a network play against itself and save the games as training data.",
  details:
    "NET@mcts writes sparse policies with values (.jsonl, .parquet), NET@ab moves with scores (.bin, .binpack); both write\n" +
    "games with evaluations (.pgn). Search options follow a question mark: NET@mcts?root=puct. Finished\n" +
    "games are kept next to the output: after Ctrl-C or a kill, the same command plays the missing ones. The same seed\n" +
    "gives the same games. docs/learn.md explains how to learn from them.",
  examples: [
    "tabiya selfplay runs/a@mcts -o games.jsonl --games 1000 --nodes 64",
    "tabiya selfplay runs/a@mcts?root=puct -o games.parquet --games 1000 --nodes 400 --full-share 1 --openings book.epd",
    "tabiya selfplay nnue@ab -o games.bin --games 10000 --nodes 5000 --draw 40,8,10 --json",
    "tabiya selfplay runs/a@mcts -o games.jsonl --games 100000 --nodes 64 --cluster redis://localhost:6379",
  ],
  arguments: { player: { help: "NET@mcts or NET@ab, with search options after a question mark" } },
  options: {
    out: { short: "o", help: "file to write: .jsonl, .parquet, .bin, .binpack, .plain or .pgn" },
    games: { type: "integer", minimum: 1, default: 100, help: "games in all" },
    nodes: { type: "integer", minimum: 1, help: "simulations or nodes for a move that is recorded" },
    seed: { type: "integer", help: "random seed; 1 by default" },
    openings: { help: "opening book, EPD or PGN; each game draws one" },
    randomPlies: {
      type: "integer",
      minimum: 0,
      help: "random moves at the start, or one more; 8 by default, 0 after a book",
    },
    endgames: {
      type: "number",
      minimum: 0,
      help: "share of the games that begin with 4 to 10 pieces on random squares",
    },
    fullShare: {
      type: "number",
      minimum: 0,
      help: "share of a tree's moves that are searched fully and recorded; 0.25 by default",
    },
    cheapNodes: { type: "integer", minimum: 1, help: "simulations of its other moves; a fifth of --nodes by default" },
    ...ADJUDICATION_OPTIONS,
    playOn: {
      type: "number",
      minimum: 0,
      help: "share of the games played to the end despite --resign, --draw and --material, to count wrong adjudications; 0.1 by default",
    },
    maxMoves: { type: "integer", minimum: 1, help: "moves after which a game is cut off; 200 by default" },
    ...CLUSTER_OPTIONS,
  },

  async run(values, io) {
    const { player, out, games, nodes, seed, openings, randomPlies, endgames, fullShare, cheapNodes } = values;
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o games.jsonl");
    const written = /:(\d+)(\?|$)/.exec(player.slice(player.lastIndexOf("@")))?.[1];
    if (nodes === undefined && written === undefined)
      throw new UserError("OPTION_MISSING", "How long may each move be searched? Give --nodes 64.");
    const spec = {
      player,
      games,
      nodes: nodes ?? Number(written),
      seed,
      fullShare,
      cheapNodes,
      openings: { file: openings, randomPlies, endgameShare: endgames },
      adjudication: { ...rulesOf(values), maxMoves: values.maxMoves },
    };
    const start = performance.now();
    let bar: ProgressBar | undefined;
    let first: SelfPlayCounts | undefined;
    const result = await withTransport(values, io, (transport) =>
      runSelfPlay(spec, out, {
        signal: io.signal,
        play: playByJobs(transport),
        onProgress(counts, before) {
          if (before > 0 && !first) io.note(`${out}: ${before} games were played before.`);
          first ??= { ...counts };
          bar ??= new ProgressBar(io, "games", before);
          const rate = (counts.positions - first.positions) / ((performance.now() - start) / 1000);
          bar.show(counts.games, counts.games, games, `, ${formatCount(rate)} positions/s`);
        },
      }),
    ).catch((error: unknown) => {
      if (io.signal.aborted) io.note("interrupted; the same command plays the games that are missing.");
      throw error;
    });
    const { wins, draws, losses, positions, cut, adjudications, seconds } = result;
    io.print(
      `${out}: ${result.games} games (+${wins} =${draws} -${losses} for White, ${cut} cut off), ${positions} positions, ${seconds.toFixed(1)} s`,
    );
    const { right, wrong } = adjudications;
    if (right + wrong > 0)
      io.print(`of ${right + wrong} games played on that would have been adjudicated, ${wrong} ended otherwise`);
    return result;
  },
});

interface RuleValues {
  resign: string | undefined;
  playOn: number | undefined;
  draw: string | undefined;
  material: string | undefined;
}

function rulesOf({ resign, playOn, draw, material }: RuleValues) {
  const rule = (name: string, text: string | undefined, names: readonly string[], example: string) =>
    text === undefined ? undefined : parseRule(name, text, names, example);
  const resigns = rule("resign", resign, ["moves", "centipawns"], "3,600");
  const draws = rule("draw", draw, ["from", "moves", "centipawns"], "40,8,10");
  const points = rule("material", material, ["points", "moves"], "9,10");
  return {
    resign: resigns && { moves: resigns[0], scoreCp: resigns[1] },
    draw: draws && { from: draws[0], moves: draws[1], scoreCp: draws[2] },
    material: points && { points: points[0], moves: points[1] },
    playOn,
  };
}
