import { UserError } from "#base";
import { canConvert, convertRecord, findMoveTable } from "#data";
import {
  BAG_KINDS,
  badRecord,
  createRecords,
  type DataRecord,
  formatOf,
  kindOf,
  kindsOf,
  openRecords,
  type RecordFormat,
  type RecordKind,
} from "#formats";
import { BadRecords } from "../bad-records.js";
import { command } from "../command.js";

/** The kind of record to write: what is asked for, or what the records are if the format can hold it. */
function kindFor(found: RecordKind, wanted: RecordKind | undefined, format: RecordFormat, output: string): RecordKind {
  const kinds = kindsOf(format);
  const kind =
    wanted ?? (kinds === undefined || kinds.includes(found) ? found : kinds.length === 1 ? kinds[0] : undefined);
  if (kind === undefined) {
    throw new UserError(
      "CONVERT_KIND",
      `${output}: a ${format} file holds ${kinds!.join(", ")} records; these are of the kind ${found}.\nSay with --kind which to make of them.`,
    );
  }
  if (kinds !== undefined && !kinds.includes(kind)) {
    throw new UserError("CONVERT_KIND", `${output}: a ${format} file cannot hold ${kind} records.`);
  }
  if (!canConvert(found, kind)) {
    throw new UserError("CONVERT_KIND", `${output}: ${found} records do not hold what ${kind} records need.`);
  }
  return kind;
}

export default command({
  name: "data convert",
  summary: "Turn a data file into another format that can hold its content.",
  details:
    "Formats are recognised by the file name: .jsonl (readable, and can hold them all), .bin, .binpack, .plain, .bag, .bagz, .parquet; .bf and\n" +
    "puzzles of Lichess (.csv) are only read; name@3.bagz is three shards; .jsonl.zst and the like are compressed. Bad records are left out, counted and reported.",
  examples: [
    "tabiya data convert train.binpack -o train.bin",
    "tabiya data convert action_value@3.bagz values.jsonl",
    "tabiya data convert all-moves.jsonl.zst -o moves@4.bagz --kind action_value",
    "tabiya data convert all-moves.jsonl.zst -o policies.jsonl --kind policy",
    "tabiya data convert omegazero.jsonl -o cloning.bag --kind behavioral_cloning --moves omegazero4672",
  ],
  arguments: {
    input: { help: "a data file" },
    target: { help: "the file to write, if not given with -o", optional: true },
  },
  options: {
    output: { short: "o", help: "the file to write" },
    kind: { choices: [...BAG_KINDS, "policy"], help: "the kind of records to make" },
    moves: { help: "move table that numbers in a .jsonl file refer to" },
  },

  async run({ input, target, output: named, kind: wanted, moves }, io) {
    const output = named ?? target;
    if (output === undefined) throw new UserError("OPTION_MISSING", "Say where to write, with -o FILE.");
    const format = formatOf(output);
    const start = performance.now();
    const bad = new BadRecords(io);
    const reader = await openRecords(input, { moves, onBad: bad.add });
    const table = reader.moves === undefined ? undefined : findMoveTable(reader.moves);
    const writer = await createRecords(output, {
      kind: BAG_KINDS.find((kind) => kind === wanted),
      moves: wanted === "policy" ? (reader.moves ?? "moves4672") : reader.moves,
      onBad: bad.add,
    });
    let kind: RecordKind | undefined;
    let read = 0;
    try {
      for await (const records of reader) {
        io.signal.throwIfAborted();
        const converted: DataRecord[] = [];
        for (const record of records) {
          const found = kindOf(record);
          kind ??= kindFor(found, wanted as RecordKind | undefined, format!, output);
          try {
            // A format that holds anything keeps what it is given, unless a kind is asked for.
            if (wanted === undefined && kindsOf(format!) === undefined) converted.push(record);
            else converted.push(...convertRecord(record, found, kind, table));
          } catch (error) {
            if (!(error instanceof UserError)) throw error;
            bad.add(badRecord(error.code, { path: input, record: read }, error.message));
          }
          read++;
        }
        await writer.write(converted);
        const share = reader.size ? ` (${Math.floor((100 * reader.bytesRead) / reader.size)} %)` : "";
        const rate = Math.round(read / ((performance.now() - start) / 1000));
        io.progress(`${read} records${share}, ${rate} a second`);
      }
      if (writer.records === 0)
        throw (
          bad.first ?? new UserError("CONVERT_EMPTY", `${input}: there is no record in it, so nothing was written.`)
        );
      await writer.commit();
    } catch (error) {
      await writer.abort();
      throw error;
    }
    bad.report();
    const seconds = (performance.now() - start) / 1000;
    io.print(`${output}: ${writer.records} records in ${seconds.toFixed(1)} s`);
    return { records: writer.records, bad: bad.count, seconds };
  },
});
