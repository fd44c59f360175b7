import { openBytes, UserError } from "#base";
import { type DistilGamesOptions, distilGames, distilRecords } from "#data";
import { loadNnue } from "#engine";
import { formatOf, refuseOther } from "#formats";
import { command, type Io } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

export default command({
  name: "data distil",
  summary: "Label positions with what one network knows, for another to learn.",
  details:
    "From records (.bin, .binpack) with an NNUE: values of quiet positions, and of positions one or two random moves away, without\n" +
    "a search. Positions in check, or with material to be won at once, are left out; varied positions have no move.\n" +
    "From games (.pgn) with a network that has a policy: for every position the policy, mixed with the move played, the value and\n" +
    "the result, as .jsonl or .parquet, to train residual networks and decoders. After Ctrl-C or a kill, run the same command\n" +
    "to continue.",
  examples: [
    "tabiya data distil games.bin -o more.bin --net nn-82215d0fd0df.nnue",
    "tabiya data distil games.bin -o more.bin --net big.nnue --share 0.4 --varied 0.4 --scale 0.78",
    "tabiya data distil games.pgn.zst -o taught.jsonl --net runs/large --played 0.3 --limit 2000000",
  ],
  arguments: { file: { help: ".bin or .binpack file, or games (.pgn)" } },
  options: {
    out: { short: "o", help: "file to write: .bin or .binpack of records, .jsonl or .parquet of games" },
    net: { help: "the network to learn from: an NNUE for records, one with a policy for games" },
    share: {
      type: "number",
      minimum: 0,
      default: 1,
      help: "records: share of the positions that are kept as they are",
    },
    varied: { type: "number", minimum: 0, default: 0.5, help: "records: share of the positions that are varied" },
    scale: { type: "number", minimum: 0, default: 1, help: "records: multiplies the centipawns, to match other data" },
    played: { type: "number", minimum: 0, default: 0.3, help: "games: weight of the played move in the policy" },
    validation: {
      type: "number",
      minimum: 0,
      default: 0,
      help: "games: leave out those that data import --validation sets aside (same share and seed)",
    },
    limit: { type: "integer", minimum: 1, help: "positions to read at most" },
    seed: {
      type: "integer",
      default: 1,
      help: "records: decides what is kept and played; games: seed for --validation",
    },
  },

  async run({ file, out, net, share, varied, scale, played, validation, limit, seed }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    if (net === undefined) throw new UserError("OPTION_MISSING", "Say which network: --net FILE");
    if (/\.pgn(\.(gz|zst|bz2))?$/i.test(file))
      return fromGames({ file, out, net, played, validation, seed, limit }, io);
    const format = formatOf(file);
    await openBytes(file); // missing, or a folder
    await refuseOther(file, format === undefined ? [] : [format], "records (.bin, .binpack) or games (.pgn)", {
      binary: true,
    });
    if (format !== "bin" && format !== "binpack")
      throw new UserError(
        "DATA_FORM",
        `${file}: expected records (.bin, .binpack) or games (.pgn); see tabiya data convert.`,
      );
    const seconds = stopwatch();
    const bar = new ProgressBar(io, "positions");
    const result = await distilRecords(file, out, await loadNnue(net), {
      share,
      varied,
      scale,
      limit,
      seed,
      signal: io.signal,
      onProgress: ({ positions, done, total }) => bar.show(positions, done, total),
    });
    const took = seconds();
    io.print(
      `${out}: ${result.written} records of ${result.positions} positions in ${took.toFixed(1)} s; ${result.restless} were not quiet`,
    );
    return { ...result, seconds: took };
  },
});

async function fromGames(
  {
    file,
    out,
    net,
    ...options
  }: { file: string; out: string; net: string } & Omit<DistilGamesOptions, "signal" | "onProgress">,
  io: Io,
) {
  if (!/\.(jsonl|parquet)$/i.test(out))
    throw new UserError("DISTIL_OUTPUT", `${out}: policies of games are written as .jsonl or .parquet.`);
  if (options.played > 1)
    throw new UserError("OPTION_VALUE", `--played is a share, from 0 to 1, and not ${options.played}.`);
  const seconds = stopwatch();
  const result = await distilGames(file, out, net, {
    ...options,
    signal: io.signal,
    onProgress: (positions, games) =>
      io.progress(`${positions} positions of ${games} games, ${Math.round(positions / seconds())} a second`),
  }).catch((error: unknown) => {
    if (io.signal.aborted) io.note("interrupted; run the same command to continue from here.");
    throw error;
  });
  const took = seconds();
  io.print(
    `${out}: ${result.positions} positions of ${result.games} games in ${took.toFixed(1)} s; ` +
      `${result.known} games were there from before, ${result.bad} could not be read`,
  );
  return { ...result, seconds: took };
}
