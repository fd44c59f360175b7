// The safetensors format: eight bytes of header length, a JSON header, then the tensors' bytes without gaps.
// https://huggingface.co/docs/safetensors; the writer lays a file out as the reference implementation does, so that
// the same tensors give the same bytes.

import { assert, concatBytes, readBytes, UserError, writeFile } from "#base";
import { fromBfloat16, fromHalf } from "./halves.js";

/** Our names of the element types, theirs, and the arrays that hold them; in the order of the reference writer. */
const TYPES = {
  bool: { code: "BOOL", array: Uint8Array },
  uint8: { code: "U8", array: Uint8Array },
  int8: { code: "I8", array: Int8Array },
  int16: { code: "I16", array: Int16Array },
  uint16: { code: "U16", array: Uint16Array },
  float16: { code: "F16", array: Uint16Array }, // bits
  bfloat16: { code: "BF16", array: Uint16Array }, // bits
  int32: { code: "I32", array: Int32Array },
  uint32: { code: "U32", array: Uint32Array },
  float32: { code: "F32", array: Float32Array },
  float64: { code: "F64", array: Float64Array },
  int64: { code: "I64", array: BigInt64Array },
  uint64: { code: "U64", array: BigUint64Array },
} as const;

const NAMES = Object.keys(TYPES) as SafetensorsType[];

/** A type of numbers that safetensors files hold. */
export type SafetensorsType = keyof typeof TYPES;
export type SafetensorsArray = InstanceType<(typeof TYPES)[SafetensorsType]["array"]>;

/** A tensor of a safetensors file. */
export interface NamedTensor {
  name: string;
  dtype: SafetensorsType;
  shape: readonly number[];
  data: SafetensorsArray;
}

/** What a safetensors file holds. */
export interface Safetensors {
  tensors: NamedTensor[];
  metadata: Record<string, string>;
}

const HEADER_LIMIT = 100_000_000; // bytes; the reference implementation's
const METADATA = "__metadata__";

const elements = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);

/** The bytes of a file with these tensors and texts. */
export function writeSafetensors(
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const ordered = [...tensors].sort(
    (a, b) => NAMES.indexOf(b.dtype) - NAMES.indexOf(a.dtype) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  const header = new Map<string, object>();
  if (Object.keys(metadata).length > 0) header.set(METADATA, metadata);
  let offset = 0;
  for (const { name, dtype, shape, data } of ordered) {
    assert(name !== METADATA && !header.has(name), `two tensors named ${name}`);
    assert(data instanceof TYPES[dtype].array, `tensor ${name} is ${dtype} but its data is not`);
    assert(elements(shape) === data.length, `tensor ${name}: [${shape.join(", ")}] is not ${data.length} elements`);
    header.set(name, { dtype: TYPES[dtype].code, shape, data_offsets: [offset, offset + data.byteLength] });
    offset += data.byteLength;
  }
  // Written by hand because an object would move names that look like numbers to the front.
  const fields = [...header].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  const text = new TextEncoder().encode(`{${fields.join(",")}}`);
  const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(0x20);
  padded.set(text);
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(padded.length), true);
  return concatBytes([
    length,
    padded,
    ...ordered.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength)),
  ]);
}

/** Reads a whole file, copying the tensors out of it; `file` names it in messages. */
export function readSafetensors(bytes: Uint8Array, file: string): Safetensors {
  const fail = (what: string): never => {
    throw new UserError("SAFETENSORS", `${file}: ${what}\nThe file is damaged or no safetensors file; write it again.`);
  };
  if (bytes.length < 8) fail(`${bytes.length} bytes are too short for a safetensors file, which begins with 8.`);
  const headerLength = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (headerLength > HEADER_LIMIT)
    fail(`its first 8 bytes promise a header of ${headerLength} bytes; at most ${HEADER_LIMIT} are allowed.`);
  const start = 8 + headerLength;
  if (start > bytes.length) fail(`the header should end at byte ${start}, but the file has only ${bytes.length}.`);

  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(8, start)));
  } catch (error) {
    fail(`its header is not JSON (${(error as Error).message}).`);
  }
  if (!isRecord(header)) return fail("its header is not a JSON object.");

  let metadata: Record<string, string> = {};
  const entries: { name: string; dtype: SafetensorsType; shape: number[]; begin: number; end: number }[] = [];
  for (const [name, value] of Object.entries(header)) {
    if (name === METADATA) {
      if (!isRecord(value) || Object.values(value).some((text) => typeof text !== "string"))
        return fail("its metadata is not an object of texts.");
      metadata = value as Record<string, string>;
      continue;
    }
    if (!isRecord(value)) return fail(`the entry of tensor ${name} is not an object.`);
    const dtype = NAMES.find((known) => TYPES[known].code === value.dtype);
    if (!dtype)
      return fail(`tensor ${name} has type ${value.dtype}; known are ${NAMES.map((n) => TYPES[n].code).join(" ")}.`);
    const { shape, data_offsets: range } = value;
    if (!isCounts(shape)) return fail(`tensor ${name} has no proper shape: ${JSON.stringify(shape)}.`);
    if (!isCounts(range) || range.length !== 2 || range[0] > range[1])
      return fail(`tensor ${name} has no proper data_offsets: ${JSON.stringify(range)}.`);
    const [begin, end] = range;
    const needed = elements(shape) * TYPES[dtype].array.BYTES_PER_ELEMENT;
    if (end - begin !== needed)
      return fail(
        `tensor ${name}, ${TYPES[dtype].code} [${shape.join(", ")}], needs ${needed} bytes but has ${end - begin}.`,
      );
    entries.push({ name, dtype, shape, begin, end });
  }

  // Every byte of the data belongs to exactly one tensor.
  let covered = 0;
  let previous = "";
  for (const { name, begin, end } of [...entries].sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < covered) fail(`tensor ${name} begins at byte ${begin} of the data, inside tensor ${previous}.`);
    if (begin > covered) fail(`bytes ${covered} to ${begin} of the data belong to no tensor.`);
    [covered, previous] = [end, name];
  }
  const present = bytes.length - start;
  if (covered > present) fail(`it is cut off: the tensors need ${covered} bytes of data, but only ${present} follow.`);
  if (covered < present) fail(`${present - covered} bytes follow the last tensor.`);

  const tensors = entries.map(({ name, dtype, shape, begin, end }) => {
    const copy = new Uint8Array(bytes.subarray(start + begin, start + end)); // slice() of a Node Buffer would not copy
    return { name, dtype, shape, data: new TYPES[dtype].array(copy.buffer) };
  });
  return { tensors, metadata };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCounts = (value: unknown): value is number[] =>
  Array.isArray(value) && value.every((n) => Number.isSafeInteger(n) && n >= 0);

/** A tensor's numbers as 32-bit floats; its own array if it holds them already. */
export function toFloat32({ name, dtype, data }: NamedTensor): Float32Array {
  switch (dtype) {
    case "float32":
      return data as Float32Array;
    case "float16":
      return fromHalf(data as Uint16Array);
    case "bfloat16":
      return fromBfloat16(data as Uint16Array);
    case "float64":
      return Float32Array.from(data as Float64Array);
    default:
      throw new UserError("SAFETENSORS", `Tensor ${name} holds ${dtype} values where floats were expected.`);
  }
}

/** Reads a safetensors file. */
export const loadSafetensors = async (path: string): Promise<Safetensors> =>
  readSafetensors(await readBytes(path), path);

/** Written under a temporary name and renamed: a file of this name is always whole. */
export const saveSafetensors = (
  path: string,
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> => writeFile(path, writeSafetensors(tensors, metadata));
