import { openBytes, UserError } from "#base";
import { refuseOther } from "../recognise.js";
import { BAG_KINDS, type BagKind, createBag, openBag } from "./bag-record.js";
import { createBinpack, openBinpack } from "./binpack.js";
import { createBullet, openBullet } from "./bullet.js";
import { createJsonl, openJsonl } from "./jsonl.js";
import { createPacked, openPacked } from "./packed-sfen.js";
import { createPlain, openPlain } from "./plain.js";
import { openPuzzles } from "./puzzles.js";
import type { OnBad, RecordKind, RecordReader, RecordWriter } from "./record.js";

/** How names tell formats. A compressed stream of any but the last two may end in .zst, .gz or .bz2. */
const EXTENSIONS = {
  jsonl: ["jsonl", "ndjson"],
  bin: ["bin"],
  binpack: ["binpack"],
  plain: ["plain"],
  bullet: ["bf", "bullet", "data"],
  bag: ["bag"],
  bagz: ["bagz"],
  parquet: ["parquet"],
  puzzles: ["csv"],
} as const;
/** The name of a format of records. */
export type RecordFormat = keyof typeof EXTENSIONS;
/** The formats of records that are read and written. */
export const RECORD_FORMATS = Object.keys(EXTENSIONS) as RecordFormat[];

/** Parquet brings large libraries along, which are loaded only for a table. */
const parquet = () => import("./parquet.js");

/** Opens a table, or several by `name@N.parquet`; one that lacks "fen" or another of `columns` is refused. */
export const openParquet = async (
  path: string,
  options?: { columns?: readonly string[]; onBad?: OnBad },
): Promise<RecordReader> => (await parquet()).openParquet(path, options);

/** The format a file's name promises, or undefined. */
export function formatOf(path: string): RecordFormat | undefined {
  const extension = path.toLowerCase().replace(/\.(zst|gz|bz2)$/, "").match(/\.([a-z]+)$/)?.[1] ?? ""; // biome-ignore format: one thought
  return RECORD_FORMATS.find((format) => (EXTENSIONS[format] as readonly string[]).includes(extension));
}

function formatOrFail(path: string): RecordFormat {
  const format = formatOf(path);
  if (format !== undefined) return format;
  const known = Object.values(EXTENSIONS).map((names) => `.${names[0]}`);
  throw new UserError(
    "FORMAT_UNKNOWN",
    `${path}: its name does not say what it is. Known are ${known.join(", ")} (also compressed: .jsonl.zst, .bin.gz), and name@N.bagz for N shards.`,
  );
}

/** The same for a file that is there, of which more can be said. */
async function formatOrSurprise(path: string): Promise<RecordFormat> {
  if (formatOf(path) === undefined) {
    await openBytes(path); // that it is missing, or a folder, comes before what its name says
    await refuseOther(path, [], "a file of records");
  }
  return formatOrFail(path);
}

/** A .bag may hold nothing but texts; the formats that are not listed begin with bytes that no text has. */
const TEXTS: readonly RecordFormat[] = ["jsonl", "plain", "puzzles", "bag"];

/** Refuses a file that is empty, or plainly holds no records of the format its name promises. */
export const refuseOtherRecords = (path: string, format: RecordFormat): Promise<void> =>
  refuseOther(path, EXTENSIONS[format], `records of the format ${format}`, { binary: !TEXTS.includes(format) });

/** Opens a file of records of any format, by its name. */
export async function openRecords(
  path: string,
  options: { format?: RecordFormat; moves?: string; onBad?: OnBad } = {},
): Promise<RecordReader> {
  const { moves, onBad } = options;
  const format = options.format ?? (await formatOrSurprise(path));
  await refuseOtherRecords(path, format);
  switch (format) {
    case "jsonl":
      return openJsonl(path, { moves, onBad });
    case "bin":
      return openPacked(path, onBad);
    case "binpack":
      return openBinpack(path, onBad);
    case "plain":
      return openPlain(path, onBad);
    case "bullet":
      return openBullet(path, onBad);
    case "bag":
    case "bagz":
      return openBag(path, onBad);
    case "parquet":
      return openParquet(path, { onBad });
    case "puzzles":
      return openPuzzles(path, onBad);
  }
}

/** The kinds of records a format can hold; undefined means any. */
export function kindsOf(format: RecordFormat): readonly RecordKind[] | undefined {
  if (format === "jsonl" || format === "parquet") return undefined;
  if (format === "bag" || format === "bagz") return BAG_KINDS;
  return format === "bullet" ? ["scored", "bullet"] : ["scored"];
}

/** Starts a file of records of any format we write, by its name. */
export async function createRecords(
  path: string,
  options: { format?: RecordFormat; kind?: BagKind; moves?: string; onBad?: OnBad } = {},
): Promise<RecordWriter> {
  const { kind, moves, onBad } = options;
  switch (options.format ?? formatOrFail(path)) {
    case "jsonl":
      return createJsonl(path, moves);
    case "bin":
      return createPacked(path, onBad);
    case "binpack":
      return createBinpack(path, onBad);
    case "plain":
      return createPlain(path, onBad);
    case "bag":
    case "bagz":
      return createBag(path, kind, onBad);
    case "parquet":
      return (await parquet()).createParquet(path, onBad, moves);
    case "bullet":
      return createBullet(path, onBad);
    case "puzzles":
      throw new UserError(
        "FORMAT_READ_ONLY",
        `${path}: puzzles are read, not written. Name a file of records, as .jsonl.`,
      );
  }
}
