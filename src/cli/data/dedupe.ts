import { UserError } from "#base";
import { dedupeRecords } from "#data";
import { command } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

export default command({
  name: "data dedupe",
  summary: "Keep only the first record of each position, in order, even of a file larger than memory.",
  details:
    "Positions are compared without their clocks; records that value a single move also by that move.\n" +
    "Needs 20 bytes of disk space and one bit of memory per record, besides --memory.",
  examples: ["tabiya data dedupe train.bin -o unique.bin"],
  arguments: { file: { help: "file of records" } },
  options: {
    out: { short: "o", help: "file to write, of the same kind" },
    memory: { type: "integer", minimum: 1, default: 256, help: "megabytes for keys compared at once" },
  },

  async run({ file, out, memory }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    const seconds = stopwatch();
    const bars = { read: new ProgressBar(io, "records read"), write: undefined as ProgressBar | undefined };
    const { records, kept } = await dedupeRecords(file, out, {
      memoryBytes: memory * 2 ** 20,
      signal: io.signal,
      onProgress({ stage, done, total, records: count }) {
        if (stage === "write") bars.write ??= new ProgressBar(io, "records compared");
        bars[stage]?.show(count, done, total);
      },
    });
    const took = seconds();
    io.print(
      `${out}: ${kept} of ${records} records kept, ${records - kept} repeated a position, in ${took.toFixed(1)} s`,
    );
    return { records, written: kept, duplicates: records - kept, seconds: took };
  },
});
