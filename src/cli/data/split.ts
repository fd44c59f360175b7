import { UserError } from "#base";
import { SPLIT_BY, splitRecords, validationPath } from "#data";
import { command } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

export default command({
  name: "data split",
  summary: "Split a file into training and validation, keeping games whole.",
  details:
    "Games are recognised by a column game_id, or by plies and results if the records are in the order of the games.\n" +
    "It is better to split when importing: tabiya data import --validation. Where games cannot be recognised, --by pawns\n" +
    "keeps positions with the same pawn structure together: neighbours in a game, unless a pawn moved between them.",
  examples: [
    "tabiya data split games.bin -o train.bin --share 0.05",
    "tabiya data split all_moves.jsonl.zst -o moves.jsonl --by pawns --share 0.02",
  ],
  arguments: { file: { help: "file of records: .bin, .binpack, .plain, .jsonl, .parquet" } },
  options: {
    out: { short: "o", help: "file for training" },
    validationOut: { help: "file for validation (default: OUT.validation)" },
    by: { default: "games", choices: SPLIT_BY, help: "what stays together" },
    share: { type: "number", minimum: 0, default: 0.05, help: "share that goes to validation" },
    seed: { type: "integer", default: 1, help: "decides which" },
  },

  async run({ file, out, validationOut, by, share, seed }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    if (share >= 1) throw new UserError("OPTION_VALUE", `--share ${share}: expected a share below 1.`);
    const other = validationOut ?? validationPath(out);
    const seconds = stopwatch();
    const bar = new ProgressBar(io, "records");
    const result = await splitRecords(file, out, other, {
      by: by as (typeof SPLIT_BY)[number],
      share,
      seed,
      signal: io.signal,
      onProgress: ({ done, total, records }) => bar.show(records, done, total),
    });
    const took = seconds();
    io.print(
      `${result.records} records of ${result.games} ${by === "pawns" ? "pawn structures" : "games"}: ${result.training} to ${out}, ${result.validation} to ${other}`,
    );
    return { ...result, validationFile: other, seconds: took };
  },
});
