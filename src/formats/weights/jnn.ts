// Jomfish's .jnn, in two dialects: Stockfish's layout under another version, and one with its own marks ("JOMF", then
// u32 version, u32 length and text, "FITX" and the transformer, "LAYE" and the layers). The program that wrote them swapped
// the scales of the hidden layers and of the output; we read and write Stockfish 12's scales (docs/decisions).
import { UserError } from "#base";
import { Cursor, joinLittle, u32 } from "./cursor.js";
import type { HalfKpWeights } from "./halfkp.js";
import {
  layerParts,
  readLayers,
  readStockfishBody,
  readTransformer,
  refuse,
  transformerParts,
  writeStockfish,
} from "./nnue.js";

const STOCKFISH_VERSION = 0x7af32f17;
const JOMF = 0x4a4f4d46;
const JOMF_VERSION = 0x00010001;
const TRANSFORMER = 0x46495458; // "FITX"
const LAYERS = 0x4c415945; // "LAYE"

/** The two layouts that .jnn files have. */
export const JNN_DIALECTS = ["stockfish", "jomf"] as const;
/** A layout of .jnn files. */
export type JnnDialect = (typeof JNN_DIALECTS)[number];

/** Whether a file begins like a .jnn. */
export const isJnn = (bytes: Uint8Array): boolean => dialectOf(bytes) !== undefined;

/** Which of the two dialects a file is, by how it begins. */
export function dialectOf(bytes: Uint8Array): JnnDialect | undefined {
  const version = new Cursor(bytes, "").peek(0);
  return version === STOCKFISH_VERSION ? "stockfish" : version === JOMF ? "jomf" : undefined;
}

/** Reads a .jnn of either dialect; `file` is for messages. */
export function readJnn(bytes: Uint8Array, file: string): HalfKpWeights {
  const cursor = new Cursor(bytes, file);
  const dialect = dialectOf(bytes);
  const start = cursor.u32("header");
  if (dialect === "stockfish") return readStockfishBody(cursor);
  if (dialect === undefined) throw refuse(file, `no .jnn: it begins with 0x${start.toString(16)}`);
  expect(cursor, "version", JOMF_VERSION);
  const description = cursor.text(cursor.u32("header"), "description");
  expect(cursor, "mark of the transformer", TRANSFORMER);
  const transformer = readTransformer(cursor);
  expect(cursor, "mark of the layers", LAYERS);
  return { kind: "halfkp", description, ...transformer, ...readLayers(cursor) };
}

/** The bytes of a .jnn. */
export function writeJnn(weights: HalfKpWeights, dialect: JnnDialect): Uint8Array {
  if (dialect === "stockfish") return writeStockfish(weights, STOCKFISH_VERSION);
  const text = new TextEncoder().encode(weights.description);
  return joinLittle([
    u32(JOMF, JOMF_VERSION, text.length),
    text,
    u32(TRANSFORMER),
    ...transformerParts(weights),
    u32(LAYERS),
    ...layerParts(weights),
  ]);
}

function expect(cursor: Cursor, what: string, value: number): void {
  const at = cursor.at;
  const found = cursor.u32(what);
  if (found === value) return;
  throw new UserError(
    "NNUE_CORRUPT",
    `${cursor.file}: byte ${at}: the ${what} should be 0x${value.toString(16)}, found 0x${found.toString(16)}. The file is damaged.`,
  );
}
