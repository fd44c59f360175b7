// Stockfish 12's .nnue (nnue/evaluate_nnue.cpp and nnue/architectures/halfkp_256x2-32-32.h of that version):
//   u32 version, u32 hash of the architecture, u32 length and text of a description;
//   u32 hash of the transformer, 256 i16, 41024 x 256 i16;
//   u32 hash of the layers, 32 i32, 32 x 512 i8, 32 i32, 32 x 32 i8, 1 i32, 32 i8. All little-endian.
import { UserError } from "#base";
import { Cursor, joinLittle, u32 } from "./cursor.js";
import { HALFKP_SHAPE, type HalfKpWeights } from "./halfkp.js";

const VERSION = 0x7af32f16;
const VERSION_SINCE_14 = 0x7af32f20;
const ARCHITECTURE = 0x3e5aa6ee;
const TRANSFORMER = 0x5d69d7b8;
const LAYERS = 0x63337156;

/** Feature sets of Stockfish; a file names its own by this hash, mixed (xor) with twice the width of the first layer. */
const FEATURE_SETS: Readonly<Record<number, string>> = {
  1567217080: "HalfKP",
  1595100344: "HalfKA",
  1596148920: "HalfKAv2 of Stockfish 14",
  2133019832: "HalfKAv2_hm of Stockfish 15 and later",
  2401455288: "Full_Threats of recent Stockfish versions",
};
const WIDTHS = [32, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 2560, 3072, 4096];

/** Reads a network of Stockfish 12 (or 13: it is the same). Another architecture is refused by name. */
export function readNnue(bytes: Uint8Array, file: string): HalfKpWeights {
  const cursor = new Cursor(bytes, file);
  const version = cursor.u32("header");
  if (version === VERSION_SINCE_14) throw refuse(file, describe(cursor) ?? "a network of Stockfish 14 or later");
  if (version !== VERSION) throw refuse(file, foreign(bytes, version));
  return readStockfishBody(cursor);
}

/** What follows the version: the hash, the description and the weights. */
export function readStockfishBody(cursor: Cursor): HalfKpWeights {
  const architecture = cursor.u32("header");
  if (architecture !== ARCHITECTURE) {
    cursor.at -= 4;
    throw refuse(cursor.file, describe(cursor) ?? `an architecture with the hash ${hex(architecture)}`);
  }
  const description = cursor.text(cursor.u32("header"), "description");
  expect(cursor, "feature transformer", TRANSFORMER);
  const transformer = readTransformer(cursor);
  expect(cursor, "layers", LAYERS);
  return { kind: "halfkp", description, ...transformer, ...readLayers(cursor) };
}

export function readTransformer(cursor: Cursor): Pick<HalfKpWeights, "featureBias" | "featureWeights"> {
  const { inputs, hidden } = HALFKP_SHAPE;
  return {
    featureBias: cursor.i16(hidden, "biases of the feature transformer"),
    featureWeights: cursor.i16(inputs * hidden, "weights of the feature transformer"),
  };
}

/** The three layers at the end of the file. */
export function readLayers(
  cursor: Cursor,
): Omit<HalfKpWeights, keyof ReturnType<typeof readTransformer> | "description" | "kind"> {
  const { hidden, first, second } = HALFKP_SHAPE;
  const layers = {
    firstBias: cursor.i32(first, "biases of the first layer"),
    firstWeights: cursor.i8(first * hidden * 2, "weights of the first layer"),
    secondBias: cursor.i32(second, "biases of the second layer"),
    secondWeights: cursor.i8(second * first, "weights of the second layer"),
    outputBias: cursor.i32(1, "bias of the output"),
    outputWeights: cursor.i8(second, "weights of the output"),
  };
  cursor.end();
  return layers;
}

/** The file, byte for byte as Stockfish 12 would write it. */
export const writeNnue = (weights: HalfKpWeights): Uint8Array => writeStockfish(weights, VERSION);

/** Stockfish's layout under a version of one's choice. */
export function writeStockfish(weights: HalfKpWeights, version: number): Uint8Array {
  const text = new TextEncoder().encode(weights.description);
  return joinLittle([
    u32(version, ARCHITECTURE, text.length),
    text,
    u32(TRANSFORMER),
    ...transformerParts(weights),
    u32(LAYERS),
    ...layerParts(weights),
  ]);
}

export const transformerParts = ({ featureBias, featureWeights }: HalfKpWeights) => [featureBias, featureWeights];

export const layerParts = (w: HalfKpWeights) => [
  w.firstBias,
  w.firstWeights,
  w.secondBias,
  w.secondWeights,
  w.outputBias,
  w.outputWeights,
];

const hex = (value: number) => `0x${value.toString(16).padStart(8, "0")}`;

export const refuse = (file: string, what: string) =>
  new UserError(
    "NNUE_ARCHITECTURE",
    `${file}: this is ${what}. Expected HalfKP 256x2-32-32-1, the architecture of Stockfish 12 (and of .jnn files).`,
  );

/** Names the feature set and width from the hash of the transformer, which follows the description. */
function describe(cursor: Cursor): string | undefined {
  const length = cursor.peek(4);
  const hash = length === undefined ? undefined : cursor.peek(8 + length);
  if (hash === undefined) return undefined;
  for (const width of WIDTHS) {
    const name = FEATURE_SETS[(hash ^ (width * 2)) >>> 0];
    if (name) return `${name}, with a first layer of ${width}`;
  }
  return undefined;
}

/** A guess at what a file is that does not begin with a version of Stockfish. */
function foreign(bytes: Uint8Array, version: number): string {
  const start = [...bytes.subarray(0, 2)];
  if (start[0] === 0x1f && start[1] === 0x8b) return "a gzip file (lc0 and Maia networks come so)";
  if (start[0] === 0x50 && start[1] === 0x4b) return "a zip archive";
  return `no network of Stockfish 12: it begins with ${hex(version)}`;
}

function expect(cursor: Cursor, part: string, hash: number): void {
  const at = cursor.at;
  const found = cursor.u32(part);
  if (found === hash) return;
  throw new UserError(
    "NNUE_CORRUPT",
    `${cursor.file}: byte ${at}: the ${part} should begin with ${hex(hash)}, found ${hex(found)}. The file is damaged.`,
  );
}
