import { UserError } from "#base";
import { shuffleRecords } from "#data";
import { command } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

export default command({
  name: "data shuffle",
  summary: "Shuffle the records of a file, even one larger than memory.",
  details:
    "Needs disk space for another copy next to the output. The same seed and --memory give the same order.\n" +
    "It uses about four times --memory, however large the file is.",
  examples: [
    "tabiya data shuffle train.bin -o shuffled.bin",
    "tabiya data shuffle a.jsonl.zst -o b.jsonl.zst --seed 7",
  ],
  arguments: { file: { help: "file of records" } },
  options: {
    out: { short: "o", help: "file to write, of the same kind" },
    seed: { type: "integer", default: 1, help: "decides the order" },
    memory: { type: "integer", minimum: 1, default: 128, help: "megabytes shuffled at once" },
  },

  async run({ file, out, seed, memory }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    const seconds = stopwatch();
    const bars = { spread: new ProgressBar(io, "records spread"), gather: undefined as ProgressBar | undefined };
    const { records } = await shuffleRecords(file, out, {
      seed,
      memoryBytes: memory * 2 ** 20,
      signal: io.signal,
      onProgress({ stage, done, total, records: read }) {
        if (stage === "gather") bars.gather ??= new ProgressBar(io, "records shuffled");
        bars[stage]?.show(stage === "spread" ? read : done, done, total);
      },
    });
    const took = seconds();
    io.print(`${out}: ${records} records in ${took.toFixed(1)} s`);
    return { records, written: records, seconds: took };
  },
});
