import { UserError } from "#base";
import { distilRecords } from "#data";
import { loadNnue } from "#engine";
import { command } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

export default command({
  name: "data distil",
  summary:
    "Let a network value the quiet positions of a file, and others a random move or two off them, without a search.",
  details:
    "The cheapest labels there are: what a large network knows, for a smaller one to learn. Positions in check, or with\n" +
    "something to win at once, are left out. Records of positions off the file's have no move.",
  examples: [
    "tabiya data distil games.bin -o more.bin --net nn-82215d0fd0df.nnue",
    "tabiya data distil games.bin -o more.bin --net big.nnue --share 0.4 --varied 0.4 --scale 0.78",
  ],
  arguments: { file: { help: ".bin or .binpack file" } },
  options: {
    out: { short: "o", help: "file to write, .bin or .binpack" },
    net: { help: "network that values: .nnue, .jnn, .tnn, or a checkpoint" },
    share: { type: "number", minimum: 0, default: 1, help: "of the positions, how many are kept as they are" },
    varied: { type: "number", minimum: 0, default: 0.5, help: "of the positions, how many become another" },
    scale: { type: "number", minimum: 0, default: 1, help: "multiplies the centipawns, to match other data" },
    limit: { type: "integer", minimum: 1, help: "positions to read at most" },
    seed: { type: "integer", default: 1, help: "decides what is kept and played" },
  },

  async run({ file, out, net, share, varied, scale, limit, seed }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    if (net === undefined) throw new UserError("OPTION_MISSING", "Say which network: --net FILE");
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
