import { FactReader, formatHistogram, formatKingSquares, Histograms } from "#data";
import { type DataRecord, kindOf, openRawRecords, openRecords } from "#formats";
import { BadRecords } from "../bad-records.js";
import { command, type Io } from "../command.js";
import { ProgressBar } from "../progress.js";

export default command({
  name: "data info",
  summary: "Show what a data file contains: format, number of records, and the first few.",
  details:
    "Formats are recognised by the file name: .jsonl, .bin, .binpack, .plain, .bf, .bag, .bagz, .parquet; name@3.bagz is three " +
    "shards. Exits 1 if there is no record that could be read.",
  examples: [
    "tabiya data info train.binpack",
    "tabiya data info train.bin --histograms",
    "tabiya data info action_value@3.bagz --first 5 --json",
  ],
  arguments: { file: { help: "a data file" } },
  options: {
    first: { type: "integer", default: 1, minimum: 0, help: "how many records to show" },
    moves: { help: "move table that numbers in a .jsonl file refer to" },
    histograms: {
      type: "boolean",
      help: "read the whole file and show histograms of scores, plies, pieces, results and king squares",
    },
  },

  async run({ file, first: wanted, moves, histograms: whole }, io) {
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
    if (result.records === 0) io.fail();
    io.print(`${file}: ${result.format}, ${result.records} records, ${result.bytes ?? "unknown"} bytes`);
    for (const record of first) io.print(JSON.stringify(record));
    if (!whole) {
      bad.report();
      return result;
    }
    const histograms = await countFacts(file, new BadRecords(io), io);
    for (const line of describeHistograms(histograms)) io.print(line);
    return { ...result, histograms };
  },
});

async function countFacts(file: string, bad: BadRecords, io: Io): Promise<Histograms> {
  const reader = await openRawRecords(file);
  const facts = new FactReader(file, reader.form, bad.add);
  const histograms = new Histograms();
  const bar = new ProgressBar(io, "records");
  for await (const batch of reader) {
    io.signal.throwIfAborted();
    for (const fact of facts.read(batch)) if (fact) histograms.add(fact);
    bar.show(histograms.records, reader.progress, reader.size);
  }
  bad.report();
  return histograms;
}

function describeHistograms({ records, score, ply, pieces, result, kingSquare, inCheck, moves }: Histograms): string[] {
  const percent = (count: number, of: number) => `${((100 * count) / Math.max(1, of)).toFixed(1)} %`;
  const moved = Object.values(moves).reduce((sum, count) => sum + count, 0);
  const kinds = Object.entries(moves).map(([kind, count]) => `${kind} ${percent(count, moved)}`);
  return [
    ...formatHistogram("score in centipawns, for the side to move", score),
    ...formatHistogram("ply", ply),
    ...formatHistogram("pieces", pieces),
    ...formatHistogram("result, for the side to move", result, ["lost", "drawn", "won"]),
    ...formatKingSquares(kingSquare),
    `in check: ${percent(inCheck, records)}${moved > 0 ? `; moves: ${kinds.join(", ")}` : ""}`,
  ];
}
