// Files of records, each format in the ways it is written; what is read back is held to nothing but the reader's promises.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import zlib from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { createRecords, openRecords } from "#formats";
import { fileTarget } from "./reader.mjs";

const GOLDEN = readFileSync(new URL("../test/fixtures/formats/golden.jsonl", import.meta.url), "utf8");
const RECORDS = GOLDEN.trim().split("\n").map((line) => JSON.parse(line)); // biome-ignore format: one thought
const SMALL_WINDOW = { params: { [zlib.constants.BROTLI_PARAM_LGWIN]: 10 } }; // or each page takes 16 MB
const FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/** A few records as a file of this name. */
async function written(name, records = RECORDS.slice(0, 4), options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-fuzz-"));
  const path = join(folder, name);
  const writer = await createRecords(path, options);
  await writer.write(records);
  await writer.commit();
  const bytes = new Uint8Array(readFileSync(path));
  rmSync(folder, { recursive: true });
  return bytes;
}

const bags = (extension) => async () => {
  const kinds = {
    state_value: { fen: FEN, win_prob: 0.5 },
    action_value: { fen: FEN, move: "e2e4", win_prob: 0.5 },
    behavioral_cloning: { fen: FEN, move: "e2e4" },
  };
  const files = [];
  for (const [kind, record] of Object.entries(kinds))
    files.push(await written(`${kind}_data.${extension}`, [record, record, record], { kind }));
  return files;
};

/** Tables as others write them: dictionaries, differences, nested values, empty cells, every compression. */
function tables() {
  const fens = Array.from({ length: 12 }, (_, i) => (i % 3 ? FEN : `${FEN.slice(0, -1)}${i}`));
  const numbers = Array.from({ length: 12 }, (_, i) => i * i - 30);
  const columns = {
    plain: [{ name: "score", data: numbers, type: "INT32", nullable: true }],
    empty: [{ name: "score", data: numbers.map((n) => (n % 2 ? null : n)), type: "INT32", nullable: true }],
    nested: [{ name: "variations", data: numbers.map((n) => [{ moves: ["e2e4", "e7e5"], n }]) }],
    flags: [{ name: "mate", data: numbers.map((n) => n > 0), type: "BOOLEAN", encoding: "RLE" }],
    deltas: [{ name: "score", data: numbers, type: "INT32", encoding: "DELTA_BINARY_PACKED" }, { name: "id", data: numbers.map(BigInt), type: "INT64", encoding: "DELTA_BINARY_PACKED" }], // biome-ignore format: a row
    split: [{ name: "q", data: numbers.map((n) => n / 7), type: "DOUBLE", encoding: "BYTE_STREAM_SPLIT" }],
  };
  const fen = { name: "fen", data: fens, type: "STRING" };
  const write = (columnData, options = {}) => new Uint8Array(parquetWriteBuffer({ columnData, codec: "UNCOMPRESSED", ...options })); // biome-ignore format: one thought
  const compressors = {
    GZIP: (input) => new Uint8Array(zlib.gzipSync(input)),
    BROTLI: (input) => new Uint8Array(zlib.brotliCompressSync(input, SMALL_WINDOW)),
    ...(zlib.zstdCompressSync && { ZSTD: (input) => new Uint8Array(zlib.zstdCompressSync(input)) }),
  };
  return [
    ...Object.values(columns).map((more) => write([fen, ...more])),
    write([{ ...fen, encoding: "DELTA_BYTE_ARRAY" }]),
    write([{ ...fen, encoding: "DELTA_LENGTH_BYTE_ARRAY" }]),
    write([fen, ...columns.plain], { codec: "SNAPPY", rowGroupSize: 5 }),
    ...Object.keys(compressors).map((codec) => write([fen, ...columns.plain], { codec, compressors })),
  ];
}

const CORPORA = {
  bin: async () => [await written("a.bin")],
  binpack: async () => [await written("a.binpack")],
  plain: async () => [await written("a.plain")],
  bullet: async () => [await written("a.bf", RECORDS.filter(({ fen }) => / (KQkq|-) /.test(fen)), { onBad() {} })], // biome-ignore format: a row
  jsonl: async () => [await written("a.jsonl")],
  bag: bags("bag"),
  bagz: bags("bagz"),
  parquet: async () => tables(),
};

const NAMES = { bullet: "x.bf", bag: "action_value_data.bag", bagz: "action_value_data.bagz" };

/** The target of a format: every record is asked for, bad ones are reported and do not stop the reader. */
export const recordTarget = (format) => (random) =>
  fileTarget(random, {
    name: NAMES[format] ?? `x.${format}`,
    corpus: CORPORA[format],
    room: format === "parquet" ? 32 << 20 : undefined, // Brotli's window may be 16 MB
    async read(path) {
      let bad = 0;
      let found = 0;
      const reader = await openRecords(path, { onBad: () => bad++ });
      for await (const records of reader) found += records.length;
      return found > 0 && bad === 0;
    },
  });
