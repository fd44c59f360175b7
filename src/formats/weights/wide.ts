// Our own file for networks with one wide layer: u32 "TNN2", u32 length and JSON of the architecture, then i16 feature
// weights [buckets * 768, hidden], i16 feature biases [hidden], i16 output weights [outputs, 2 * hidden], i32 output biases
// [outputs]. All little-endian. The architecture is data: see docs/formats/tnn.md.
import { UserError } from "#base";
import { Cursor, joinLittle, u32 } from "./cursor.js";

const MAGIC = 0x324e4e54; // "TNN2"
const FIRST_VERSION = 0x314e4e54; // "TNN1", whose output weights were bytes

/**
 * 768 inputs (the mover's and the other's six roles on 64 squares) -> one layer for each side, shared -> squared
 * clipped ReLU -> one output, chosen by how many pieces are on the board.
 */
export interface WideArchitecture {
  hidden: number; // a multiple of 32, at most 2048
  kingBuckets: readonly number[]; // 64 numbers from 0: which weights a king on the square uses; all 0 if there is one set
  mirrored: boolean; // turn the board left to right when the own king stands on the files e to h
  outputs: number; // output buckets, 1 to 32
  featureScale: number; // quantisation of the first layer: a neuron is full at this value, at most 181
  outputScale: number; // quantisation of the output weights, at most 32767
  centipawns: number; // the output 1.0 in centipawns
}

export interface WideWeights extends WideArchitecture {
  kind: "wide";
  description: string;
  featureBias: Int16Array; // [hidden], times 8 * featureScale, and half of 8 more for the shift to round
  featureWeights: Int16Array; // [buckets * 768, hidden], times 8 * featureScale
  outputBias: Int32Array; // [outputs], times featureScale^2 * outputScale
  outputWeights: Int16Array; // [outputs, 2 * hidden], times outputScale, the mover's half first
}

/** Whether a file begins like a .tnn, of this version or the first. */
export const isWide = (bytes: Uint8Array): boolean => {
  const magic = new Cursor(bytes, "").peek(0);
  return magic === MAGIC || magic === FIRST_VERSION;
};

/** How many buckets the squares of the king fall into. */
export const bucketCount = ({ kingBuckets }: Pick<WideArchitecture, "kingBuckets">): number =>
  Math.max(...kingBuckets) + 1;

/** What a unit of the sum before the output stands for, in 2^-32 centipawns: a multiplication and a shift are all there is to do. */
export const wideFactor = (a: Pick<WideArchitecture, "centipawns" | "featureScale" | "outputScale">): number =>
  Math.round((a.centipawns * 2 ** 32) / (a.featureScale ** 2 * a.outputScale));

/** What is wrong with an architecture, or undefined. */
function complaint(a: Partial<WideArchitecture>): string | undefined {
  const integer = (value: unknown, from: number, to: number) =>
    Number.isInteger(value) && (value as number) >= from && (value as number) <= to;
  if (!integer(a.hidden, 32, 2048) || (a.hidden as number) % 32 !== 0)
    return "hidden must be a multiple of 32 up to 2048";
  if (!Array.isArray(a.kingBuckets) || a.kingBuckets.length !== 64 || !a.kingBuckets.every((b) => integer(b, 0, 63)))
    return "kingBuckets must be 64 numbers from 0 to 63";
  if (typeof a.mirrored !== "boolean") return "mirrored must be true or false";
  if (!integer(a.outputs, 1, 32)) return "outputs must be 1 to 32";
  if (!integer(a.featureScale, 1, 181)) return "featureScale must be 1 to 181";
  if (!integer(a.outputScale, 1, 32_767)) return "outputScale must be 1 to 32767";
  if (!integer(a.centipawns, 1, 10_000)) return "centipawns must be 1 to 10000";
  if (wideFactor(a as WideArchitecture) > 2 ** 31 - 1)
    return "featureScale and outputScale are too small for centipawns";
  return undefined;
}

/** Refuses an architecture that no file of ours can have; `more` may find fault with one that is possible. */
export function checkArchitecture(
  file: string,
  architecture: Partial<WideArchitecture>,
  more: () => string | undefined = () => undefined,
): void {
  const wrong = complaint(architecture) ?? more();
  if (wrong) throw new UserError("NNUE_ARCHITECTURE", `${file}: the architecture in the header is wrong: ${wrong}.`);
}

/** Reads a .tnn; `file` is for messages. */
export function readWide(bytes: Uint8Array, file: string): WideWeights {
  const cursor = new Cursor(bytes, file);
  if (cursor.u32("header") === FIRST_VERSION)
    throw new UserError(
      "NNUE_VERSION",
      `${file}: this is a .tnn of the first version (TNN1), which had coarser weights; expected TNN2.\n` +
        "Export it again from its run or checkpoint.",
    );
  const text = cursor.text(cursor.u32("header"), "description");
  let parsed: Partial<WideWeights>;
  try {
    parsed = JSON.parse(text) as Partial<WideWeights>;
  } catch {
    throw new UserError("NNUE_CORRUPT", `${file}: the description is not JSON. The file is damaged.`);
  }
  checkArchitecture(file, parsed);
  const { hidden, kingBuckets, mirrored, outputs, featureScale, outputScale, centipawns } = parsed as WideWeights;
  const architecture = { hidden, kingBuckets, mirrored, outputs, featureScale, outputScale, centipawns };
  return readWideArrays(cursor, String(parsed.description ?? ""), architecture);
}

/** The arrays, which end the file. */
export function readWideArrays(cursor: Cursor, description: string, architecture: WideArchitecture): WideWeights {
  const { hidden, outputs } = architecture;
  const weights: WideWeights = {
    kind: "wide",
    description,
    ...architecture,
    featureWeights: cursor.i16(bucketCount(architecture) * 768 * hidden, "feature weights"),
    featureBias: cursor.i16(hidden, "feature biases"),
    outputWeights: cursor.i16(outputs * 2 * hidden, "output weights"),
    outputBias: cursor.i32(outputs, "output biases"),
  };
  cursor.end();
  return weights;
}

/** The bytes of a .tnn: docs/formats/tnn.md. */
export function writeWide(w: WideWeights): Uint8Array {
  const { description, hidden, kingBuckets, mirrored, outputs, featureScale, outputScale, centipawns } = w;
  const header = { description, hidden, kingBuckets, mirrored, outputs, featureScale, outputScale, centipawns };
  const text = new TextEncoder().encode(JSON.stringify(header));
  return joinLittle([u32(MAGIC, text.length), text, w.featureWeights, w.featureBias, w.outputWeights, w.outputBias]);
}
