import { type DataRecord, kindOf, openRecords } from "#formats";
import { BadRecords } from "../bad-records.js";
import { command } from "../command.js";

export default command({
  name: "data info",
  summary: "Say what a data file holds: format, number of records, and the first of them.",
  details:
    "Formats are known by their names: .jsonl, .bin, .binpack, .plain, .bf, .bag, .bagz, .parquet; name@3.bagz is three shards.",
  examples: ["tabiya data info train.binpack", "tabiya data info action_value@3.bagz --first 5 --json"],
  arguments: { file: { help: "a data file" } },
  options: {
    first: { type: "integer", default: 1, minimum: 0, help: "how many records to show" },
    moves: { help: "table of moves that numbers in a .jsonl refer to" },
  },

  async run({ file, first: wanted, moves }, io) {
    const bad = new BadRecords(io);
    const reader = await openRecords(file, { moves, onBad: bad.add });
    const first: DataRecord[] = [];
    let records = 0;
    for await (const batch of reader) {
      io.signal.throwIfAborted();
      records += batch.length;
      if (first.length < wanted) first.push(...batch.slice(0, wanted - first.length));
      if (reader.records !== undefined && first.length >= wanted && records > 0) break;
      io.progress(`${records} records`);
    }
    const result = {
      format: reader.format,
      records: reader.records ?? records,
      bytes: reader.size,
      ...(first.length > 0 ? { kind: kindOf(first[0]) } : {}),
      ...(reader.moves !== undefined ? { moves: reader.moves } : {}),
      ...(bad.count > 0 ? { bad: bad.count } : {}),
      first,
    };
    io.print(`${file}: ${result.format}, ${result.records} records, ${result.bytes ?? "unknown"} bytes`);
    for (const record of first) io.print(JSON.stringify(record));
    bad.report();
    return result;
  },
});
