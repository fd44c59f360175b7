// Checks the pages of a Parquet column before hyparquet decodes them: every length against the bytes that are there, every
// count against the values that follow. https://parquet.apache.org/docs/file-format/data-pages/
import type { ColumnMetaData, SchemaElement } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { type ColumnValues, left, type Span, take, uint32, walkRuns, walkValues } from "./parquet-values.js";
import { ThriftReader, type ThriftStruct } from "./thrift.js";
import { decompressFrames } from "./zstd-frame.js";

const PAGES = ["data", "index", "dictionary", "data v2"];
const ENCODINGS = [
  "PLAIN", "GROUP_VAR_INT", "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY",
  "DELTA_BYTE_ARRAY", "RLE_DICTIONARY", "BYTE_STREAM_SPLIT",
]; // biome-ignore format: numbered

/** The most a byte can become: a copy of 64 bytes takes 3, a run of 255 one, deflate's longest match 2 bits; see each format. */
const LARGEST_GAIN: Record<string, number> = {
  UNCOMPRESSED: 1, SNAPPY: 22, GZIP: 1032, LZ4: 255, LZ4_RAW: 255, ZSTD: 1 << 15, BROTLI: 1 << 15,
}; // biome-ignore format: a row

/** Decompressors that take no more memory than the page could need. */
export const pageCompressors: typeof compressors = { ...compressors, ZSTD: (input) => decompressFrames(input) };

/** A column as the tree of the file's schema has it: how deep its values may be nested. */
interface Leaf {
  element: SchemaElement;
  definitions: number; // levels that may be empty
  repetitions: number; // levels that may hold several
  flat: boolean;
}

/** Finds the column by its names; the tree stands as a list, parents before children. */
function leafOf(schema: readonly SchemaElement[], path: readonly string[]): Leaf {
  let at = 0;
  let definitions = 0;
  let repetitions = 0;
  const skip = (index: number): number => {
    let next = index + 1;
    const children = schema[index]?.num_children ?? 0;
    for (let i = 0; i < children && next < schema.length; i++) next = skip(next);
    return next;
  };
  for (const name of path) {
    let child = at + 1;
    let children = schema[at].num_children ?? 0;
    while (children > 0 && child < schema.length && schema[child].name !== name) {
      child = skip(child);
      children--;
    }
    if (children <= 0 || child >= schema.length) throw new Error(`no ${path.join(".")} among its columns`);
    at = child;
    if (schema[at].repetition_type !== "REQUIRED") definitions++;
    if (schema[at].repetition_type === "REPEATED") repetitions++;
  }
  const flat = path.length === 1 && repetitions === 0;
  if ((schema[at].num_children ?? 0) > 0 || schema[at].type === undefined)
    throw new Error(`no type of ${path.join(".")}`);
  return { element: schema[at], definitions, repetitions, flat };
}

function numberIn(struct: ThriftStruct, field: number, what: string): number {
  const value = struct[field];
  if (typeof value !== "number" || !(value >= 0 && value < 2 ** 31)) throw new Error(`${String(value)} as ${what}`);
  return value;
}

function structIn(header: ThriftStruct, field: number): ThriftStruct {
  const value = header[field];
  if (typeof value !== "object") throw new Error("a page without a description");
  return value;
}

const bitWidth = (largest: number): number => 32 - Math.clz32(largest);

/** How many of `count` definition levels say that there is a value. */
function countDefined(span: Span, definitions: number, count: number): number {
  let defined = 0;
  walkRuns(span, bitWidth(definitions), count, (value, times) => {
    if (value === definitions) defined += times;
  });
  return defined;
}

class ColumnCheck {
  private readonly values: ColumnValues;
  private readonly leaf: Leaf;

  constructor(
    schema: readonly SchemaElement[],
    private readonly chunk: ColumnMetaData,
  ) {
    this.leaf = leafOf(schema, chunk.path_in_schema);
    const { type, type_length: typeLength } = this.leaf.element;
    if (type !== chunk.type) throw new Error(`type ${chunk.type} where the schema says ${type}`);
    this.values = { type: chunk.type, typeLength, dictionary: undefined };
  }

  run(bytes: Uint8Array): void {
    const expected = Number(this.chunk.num_values);
    let seen = 0;
    for (let at = 0; at < bytes.length - 1 && !(this.leaf.flat && seen >= expected); ) {
      const reader = new ThriftReader(bytes, at, bytes.length);
      const header = reader.struct();
      const stored = numberIn(header, 3, "the size of a page");
      if (stored > bytes.length - reader.at) throw new Error(`a page of ${stored} bytes where ${bytes.length - reader.at} are left`); // biome-ignore format: one thought
      at = reader.at + stored;
      seen += this.page(header, { bytes, at: reader.at, end: at });
      if (seen > expected) throw new Error(`${seen} values or more where the footer says ${expected}`);
    }
    if (seen !== expected) throw new Error(`${seen} values where the footer says ${expected}`);
  }

  /** Returns how many values the page has, empty ones counted. */
  private page(header: ThriftStruct, stored: Span): number {
    const kind = PAGES[numberIn(header, 1, "the kind of a page")];
    const size = numberIn(header, 2, "the size of a page");
    const gain = LARGEST_GAIN[this.chunk.codec];
    if (gain === undefined) throw new Error(`compressed by ${this.chunk.codec}`);
    if (size > left(stored) * gain + 64)
      throw new Error(`a page of ${size} bytes, more than ${left(stored)} can become`);
    if (kind === "dictionary") this.dictionary(structIn(header, 7), this.unpack(stored, size));
    else if (kind === "data") return this.data(structIn(header, 5), this.unpack(stored, size));
    else if (kind === "data v2") return this.dataV2(structIn(header, 8), stored, size);
    else throw new Error(`a page of kind ${kind ?? "unknown"}`);
    return 0;
  }

  private unpack({ bytes, at, end }: Span, size: number): Span {
    const { codec } = this.chunk;
    const page = codec === "UNCOMPRESSED" ? bytes.subarray(at, end) : pageCompressors[codec]?.(bytes.subarray(at, end), size); // biome-ignore format: one thought
    if (page?.length !== size) throw new Error(`a page of ${page?.length} bytes where ${size} are expected`);
    return { bytes: page, at: 0, end: size };
  }

  private dictionary(header: ThriftStruct, page: Span): void {
    if (this.values.dictionary !== undefined) throw new Error("a second dictionary");
    const count = numberIn(header, 1, "the number of values");
    walkValues(page, "PLAIN", this.values, count);
    this.values.dictionary = count;
  }

  private encodingOf(header: ThriftStruct, field: number): string {
    return ENCODINGS[numberIn(header, field, "the encoding")] ?? "an unknown encoding";
  }

  private data(header: ThriftStruct, page: Span): number {
    const count = this.count(header);
    const { repetitions, definitions } = this.leaf;
    if (repetitions > 0)
      walkRuns(take(page, uint32(page, "a length"), "levels"), bitWidth(repetitions), count, () => {});
    const defined = definitions === 0 ? count : countDefined(take(page, uint32(page, "a length"), "levels"), definitions, count); // biome-ignore format: one thought
    walkValues(page, this.encodingOf(header, 2), this.values, defined);
    return count;
  }

  private dataV2(header: ThriftStruct, stored: Span, size: number): number {
    const count = this.count(header);
    const { repetitions, definitions } = this.leaf;
    const levels = (field: number, depth: number) => {
      const bytes = numberIn(header, field, "the size of the levels");
      if (depth === 0 && bytes > 0) throw new Error(`${bytes} bytes of levels that the column does not have`);
      return take(stored, bytes, "levels");
    };
    // They stand before the compressed part, the repetition levels first, whose size is the later field.
    const repeated = levels(6, repetitions);
    const empty = levels(5, definitions);
    if (repetitions > 0) walkRuns({ ...repeated }, bitWidth(repetitions), count, () => {});
    const defined = definitions === 0 ? count : countDefined({ ...empty }, definitions, count);
    const nulls = numberIn(header, 2, "the number of empty values");
    if (nulls !== count - defined) throw new Error(`${nulls} empty values where the levels say ${count - defined}`);
    const rest = size - (repeated.end - repeated.at) - (empty.end - empty.at);
    const page = header[7] === false ? stored : this.unpack(stored, rest);
    walkValues(page, this.encodingOf(header, 4), this.values, defined, 2);
    return count;
  }

  private count(header: ThriftStruct): number {
    const count = numberIn(header, 1, "the number of values");
    const expected = Number(this.chunk.num_values);
    if (count > expected) throw new Error(`a page of ${count} values where the column has ${expected}`);
    return count;
  }
}

/** Throws, with what is wrong, unless the bytes of a column hold the values that the footer says. */
export function checkColumn(schema: readonly SchemaElement[], chunk: ColumnMetaData, bytes: Uint8Array): void {
  try {
    new ColumnCheck(schema, chunk).run(bytes);
  } catch (error) {
    throw new Error(`the column ${chunk.path_in_schema.join(".")} has ${(error as Error).message}`, { cause: error });
  }
}
