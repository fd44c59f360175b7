// Apache Parquet: tables of positions, with the columns of ChessDecoder's data or any others. docs/formats/parquet.md
import type { ColumnMetaData, FileMetaData, RowGroup } from "hyparquet";
import { parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { type BasicType, ByteWriter, ParquetWriter, schemaFromColumnData } from "hyparquet-writer";
import { assert, createOutput, messageOf, type Output, openRandom, type RandomBytes, UserError } from "#base";
import { checkColumn, pageCompressors } from "./parquet-pages.js";
import { badRecord, type DataRecord, type OnBad, type RecordReader, type RecordWriter, throwBad } from "./record.js";
import { explainShard, shardPaths } from "./shards.js";
import { formatSidecar, readSidecar, withSidecar } from "./sidecar.js";

const GROUP_ROWS = 65_536; // rows held in memory before they are written
const MOST_VALUES = 1 << 26; // of one column in one group of rows, all of which is in memory at once

/** Columns that are whole numbers; other numbers are doubles. */
const INTEGERS = new Set(["ply", "score", "result", "visits", "plies_left", "move_index"]);

interface Table {
  path: string;
  file: RandomBytes;
  metadata: FileMetaData;
  columns: string[];
}

const asyncBuffer = (file: RandomBytes) => ({
  byteLength: file.size,
  slice: (start: number, end = file.size) => file.read(start, end - start).buffer as ArrayBuffer,
});

async function openTable(path: string, file: RandomBytes): Promise<Table> {
  let problem: string | undefined;
  try {
    const metadata = await parquetMetadataAsync(asyncBuffer(file));
    problem = problemOf(file, metadata);
    if (problem === undefined) return { path, file, metadata, columns: columnsOf(metadata) };
  } catch (error) {
    problem = messageOf(error);
  }
  file.close();
  throw new UserError("PARQUET_FILE", `${path}: not a whole Parquet file (${problem}).`);
}

const columnsOf = (metadata: FileMetaData): string[] => {
  const names: string[] = [];
  // The tree stands as a list, parents before children; the columns are the root's children.
  let at = 1;
  const skip = (): void => {
    const children = metadata.schema[at++].num_children ?? 0;
    for (let i = 0; i < children; i++) skip();
  };
  while (at < metadata.schema.length) {
    names.push(metadata.schema[at].name);
    skip();
  }
  return names;
};

/**
 * A cell as JSON has it. A whole number that a double cannot hold becomes its digits; NaN, by which tables of numbers say
 * that there is none, is an empty cell; bytes are a list.
 */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === "number") return Number.isNaN(value) ? undefined : value;
  if (typeof value !== "object" || value === null || value instanceof Date) return value ?? undefined;
  if (Array.isArray(value) || ArrayBuffer.isView(value))
    return Array.from(value as ArrayLike<unknown>, (item) => plain(item) ?? null);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item) ?? null]));
}

/** Where the pages of a column stand in the file. */
function bytesOf(chunk: ColumnMetaData): { start: number; end: number } {
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  return { start, end: start + Number(chunk.total_compressed_size) };
}

/** What a footer says that cannot be: a damaged one would make the reader look for rows that nobody has. */
function problemOf(file: RandomBytes, metadata: FileMetaData): string | undefined {
  const rows = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  if (rows !== Number(metadata.num_rows)) return `its groups have ${rows} rows, but it says ${metadata.num_rows}`;
  for (const [index, group] of metadata.row_groups.entries()) {
    if (!(group.num_rows >= 0)) return `group ${index} has ${group.num_rows} rows`;
    for (const { meta_data: chunk } of group.columns) {
      if (!chunk) return `group ${index} has a column without a description`;
      const { start, end } = bytesOf(chunk);
      if (!(start >= 4 && end > start && end <= file.size))
        return `the column ${chunk.path_in_schema.join(".")} of group ${index} lies at bytes ${start} to ${end} of ${file.size}`;
      const values = Number(chunk.num_values);
      if (!(values >= 0 && values <= MOST_VALUES))
        return `the column ${chunk.path_in_schema.join(".")} of group ${index} has ${values} values; expected up to ${MOST_VALUES}, write it in smaller groups of rows`;
      if (chunk.path_in_schema.length === 1 && values !== Number(group.num_rows))
        return `the column ${chunk.path_in_schema[0]} of group ${index} has ${values} values for ${group.num_rows} rows`;
    }
  }
  return undefined;
}

/** Opens a table, or several by `name@N.parquet`; one that lacks "fen" or another of `columns` is refused. */
export async function openParquet(
  path: string,
  { columns = [], onBad = throwBad }: { columns?: readonly string[]; onBad?: OnBad } = {},
): Promise<RecordReader> {
  const paths = shardPaths(path);
  const tables: Table[] = [];
  for (const [i, shard] of paths.entries()) {
    const file = await openRandom(shard).catch((error: unknown) => {
      throw explainShard(error, path, i, paths);
    });
    const table = await openTable(shard, file);
    tables.push(table);
    const missing = ["fen", ...columns].filter((name) => !table.columns.includes(name));
    if (missing.length > 0) {
      for (const opened of tables) opened.file.close();
      throw new UserError(
        "PARQUET_COLUMN",
        `${shard}: the column${missing.length > 1 ? "s" : ""} ${missing.join(", ")} ${missing.length > 1 ? "are" : "is"} missing. It has: ${table.columns.join(", ")}.`,
      );
    }
  }
  const moves = await readSidecar(path);
  let done = 0;
  return {
    path,
    format: "parquet",
    moves,
    records: tables.reduce((sum, { metadata }) => sum + Number(metadata.num_rows), 0),
    size: tables.reduce((sum, { file }) => sum + file.size, 0),
    get bytesRead() {
      return done;
    },
    async *[Symbol.asyncIterator]() {
      let record = 0;
      try {
        for (const { path: shard, file, metadata } of tables) {
          let rowStart = 0;
          for (const group of metadata.row_groups) {
            const rows = await readRows(shard, file, metadata, group, rowStart);
            const records: DataRecord[] = [];
            for (const row of rows) {
              const entries = Object.entries(row).map(([name, value]) => [name, plain(value)] as const);
              const found = Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as DataRecord;
              if (typeof found.fen === "string") records.push(found);
              else onBad(badRecord("PARQUET_ROW", { path: shard, record }, '"fen" is empty, expected a text.'));
              record++;
            }
            done += Number(group.total_byte_size);
            rowStart += Number(group.num_rows);
            yield records;
          }
        }
      } finally {
        for (const { file } of tables) file.close();
      }
    },
  };
}

async function readRows(
  path: string,
  file: RandomBytes,
  metadata: FileMetaData,
  group: RowGroup,
  rowStart: number,
): Promise<Record<string, unknown>[]> {
  const rowEnd = rowStart + Number(group.num_rows);
  try {
    for (const { meta_data: chunk } of group.columns) {
      assert(chunk, "a footer is checked when it is opened");
      const { start, end } = bytesOf(chunk);
      checkColumn(metadata.schema, chunk, file.read(start, end - start));
    }
    return await parquetReadObjects({ file: asyncBuffer(file), metadata, compressors: pageCompressors, rowStart, rowEnd }); // biome-ignore format: one thought
  } catch (error) {
    const problem = `rows ${rowStart} to ${rowEnd} cannot be read (${messageOf(error)}).`;
    throw new UserError("PARQUET_FILE", `${path}: ${problem}`, { cause: error });
  }
}

const isWhole = (name: string, values: readonly unknown[]) =>
  INTEGERS.has(name) &&
  values.every((value) => value === undefined || value === null || (value as number) === ((value as number) | 0));

function typeOf(name: string, values: readonly unknown[]): BasicType {
  const kind = typeof values.find((value) => value !== undefined && value !== null);
  if (kind === "number") return isWhole(name, values) ? "INT32" : "DOUBLE";
  if (kind === "undefined" && INTEGERS.has(name)) return "INT32"; // empty so far
  if (kind === "boolean") return "BOOLEAN";
  return kind === "object" ? "JSON" : "STRING";
}

interface Column {
  name: string;
  type: BasicType;
}

/** The columns of some rows. */
function columnsFor(rows: readonly DataRecord[]): Column[] {
  const names = new Set(["fen", ...rows.flatMap((row) => Object.keys(row))]);
  return [...names].map((name) => ({ name, type: name === "fen" ? "STRING" : typeOf(name, rows.map((row) => row[name])) })); // biome-ignore format: one thought
}

/** One file, written a group of rows at a time. */
class TableWriter {
  private readonly writer = new ByteWriter(1 << 20);
  private readonly table: ParquetWriter;

  constructor(
    private readonly output: Output,
    private readonly columns: readonly Column[],
  ) {
    const columnData = columns.map((column) => ({ ...column, data: [], nullable: column.name !== "fen" }));
    this.table = new ParquetWriter({ writer: this.writer, schema: schemaFromColumnData({ columnData }) });
  }

  async write(rows: readonly DataRecord[]): Promise<void> {
    const columnData = this.columns.map(({ name }) => ({ name, data: rows.map((row) => row[name] ?? undefined) }));
    await this.table.write({ columnData, rowGroupSize: GROUP_ROWS });
    await this.drain();
  }

  private async drain(): Promise<void> {
    await this.output.write(this.writer.getBytes());
    this.writer.index = 0;
  }

  async finish(): Promise<void> {
    this.table.finish();
    await this.drain();
  }
}

/**
 * Writes tables with the columns of the first rows. The shards of `name@N.parquet` take groups of rows in turn. `moves`
 * names the table of move indices in them, and is kept in a sidecar.
 */
export async function createParquet(path: string, onBad: OnBad = throwBad, moves?: string): Promise<RecordWriter> {
  const outputs: Output[] = [];
  for (const shard of shardPaths(path)) outputs.push(await createOutput(shard));
  let columns: Column[] | undefined;
  let tables: TableWriter[] = [];
  let rows: DataRecord[] = [];
  let groups = 0;
  let written = 0;
  const flush = async () => {
    if (columns === undefined) {
      const fixed = columnsFor(rows);
      columns = fixed;
      tables = outputs.map((output) => new TableWriter(output, fixed));
    }
    if (rows.length > 0) await tables[groups++ % tables.length].write(rows);
    rows = [];
  };
  const files = withSidecar(path, outputs, () => (moves === undefined ? undefined : formatSidecar(moves)));
  let finished = false;
  const finish = async () => {
    if (finished) return;
    try {
      await flush();
      for (const table of tables) await table.finish();
      await files.finish();
    } catch (error) {
      await files.abort();
      throw error;
    }
    finished = true;
  };
  const strayColumn = (row: DataRecord): string | undefined => {
    const extra = columns && Object.keys(row).find((name) => !columns?.some((column) => column.name === name));
    return extra && `the column "${extra}" appears only here, after the first rows were written.`;
  };
  return {
    get records() {
      return written;
    },
    async write(records) {
      for (const record of records) {
        const problem = strayColumn(record);
        if (problem !== undefined) {
          onBad(badRecord("PARQUET_ROW", { path, record: written }, problem));
          continue;
        }
        rows.push(record);
        written++;
        if (rows.length === GROUP_ROWS) await flush();
      }
    },
    finish,
    async commit() {
      await finish();
      await files.commit();
    },
    abort: files.abort,
  };
}
