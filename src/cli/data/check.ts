import { UserError } from "#base";
import { RecordChecker } from "#data";
import { openRecords } from "#formats";
import { command } from "../command.js";
import { ProgressBar } from "../progress.js";

const SHOWN = 5;

export default command({
  name: "data check",
  summary: "Check every record of a file: possible positions, legal moves, policies that add up to 1, values in range.",
  details:
    "Records of self-play are followed game by game: plies go up, sides take turns, a position recorded one ply after\n" +
    "another is reached by a legal move, and the result is the same for White in all records of a game, each of which has\n" +
    "it for its mover. Ends with exit code 1 if anything is wrong, or if there are no records.",
  examples: ["tabiya data check games.jsonl", "tabiya data check train.bin --json"],
  arguments: { file: { help: "a data file" } },
  options: { moves: { help: "move table that numbers in a .jsonl file refer to" } },

  async run({ file, moves }, io) {
    const problems: string[] = [];
    const add = (error: UserError) => {
      if (problems.push(error.message) <= SHOWN) io.note(error.message);
    };
    const reader = await openRecords(file, { moves, onBad: add });
    const checker = new RecordChecker(file, reader.moves, add);
    const { counts } = checker;
    const bar = new ProgressBar(io, "records");
    for await (const batch of reader) {
      io.signal.throwIfAborted();
      for (const record of batch) checker.add(record);
      bar.show(counts.records, reader.bytesRead, reader.size);
    }
    if (problems.length > 0)
      throw new UserError(
        "DATA_UNSOUND",
        `${file}: ${problems.length} of ${counts.records} records are not sound. First: ${problems[0]}`,
      );
    if (counts.records === 0)
      throw new UserError("DATA_EMPTY", `${file}: holds no records, so there is nothing to check. Was it written to the end?`); // biome-ignore format: one thought
    const games =
      counts.games > 0 ? ` of ${counts.games} games, ${counts.linked} of them a legal move after the one before` : "";
    io.print(`${file}: all ${counts.records} records${games} are sound`);
    return counts;
  },
});
