import { UserError } from "#base";
import { type Color, opposite, type Position, ROLES } from "#chess";
import { encodeHalfKp } from "#encodings";
import { type NnueWeights, readNnueNetwork, writeJnn, writeNnue, writeRawWide, writeWide } from "#formats";
import type { Exported } from "./family.js";
import { NnueEvaluator, PAWN_OF_STOCKFISH_12 } from "./nnue.js";
import type { Nnue } from "./nnue-network.js";
import { quantiseNnue } from "./nnue-quantise.js";

/** The inputs that are on for a colour. */
function inputsOf(network: Nnue, position: Position, color: Color): number[] {
  const { inputs, kingBuckets, mirrored } = network.config;
  if (inputs === "halfkp") {
    const indices = new Int32Array(32);
    const count = encodeHalfKp(position, color, indices);
    return [...indices.subarray(0, count)];
  }
  const pieces = [...position.pieces()];
  const turned = color === "white" ? 0 : 56;
  const king = pieces.find((piece) => piece.role === "king" && piece.color === color)!.square ^ turned;
  const flip = turned ^ (mirrored && (king & 7) >= 4 ? 7 : 0);
  const bucket = kingBuckets[king ^ (flip & 7)] ?? 0;
  return pieces.map(
    (piece) =>
      bucket * 768 + (ROLES.indexOf(piece.role) + (piece.color === color ? 0 : 6)) * 64 + (piece.square ^ flip),
  );
}

const clip = (x: number) => Math.max(0, Math.min(1, x));

/** The network's output for a position, for the mover, in floats: slow and plain, to measure others by. */
export function nnueOutput(network: Nnue, position: Position): number {
  const { hidden, outputs } = network.config;
  const { kinds } = network.shape;
  const { features, shared, bias, first, second, output } = network;
  const sums = [position.turn, opposite(position.turn)].flatMap((color) => {
    const sum = Float64Array.from(bias.data);
    for (const input of inputsOf(network, position, color)) {
      for (let i = 0; i < hidden; i++) {
        sum[i] += features.data[input * hidden + i];
        if (shared) sum[i] += shared.data[(input % kinds) * hidden + i];
      }
    }
    return [...sum];
  });
  if (!first || !second) {
    const pieces = [...position.pieces()].length;
    const chosen = Math.floor((pieces - 2) / Math.floor((31 + outputs) / outputs));
    const weights = output.weight.data.subarray(chosen * 2 * hidden);
    return sums.reduce((total, x, i) => total + clip(x) ** 2 * weights[i], output.bias.data[chosen]);
  }
  let x = sums;
  for (const { weight, bias: biases } of [first, second, output]) {
    const width = biases.data.length;
    x = Array.from(biases.data, (b, o) => x.reduce((total, v, i) => total + clip(v) * weight.data[i * width + o], b));
  }
  return x[0];
}

/** How far the quantised network is from the floats it was made of, in centipawns over some positions. */
export function quantisationError(
  network: Nnue,
  weights: NnueWeights,
  positions: readonly Position[],
): { mean: number; max: number } {
  const evaluator = new NnueEvaluator(weights);
  const unit = weights.kind === "halfkp" ? 100 / PAWN_OF_STOCKFISH_12 : 1;
  const errors = positions.map((position) =>
    Math.abs(evaluator.evaluate(position) * unit - nnueOutput(network, position) * network.centipawns),
  );
  return { mean: errors.reduce((a, b) => a + b, 0) / errors.length, max: Math.max(...errors) };
}

/** The files a network of this family plays from. */
export const NNUE_FORMATS = {
  nnue: "a HalfKP network as Stockfish 12 reads it",
  jnn: "the same as Jomfish reads it",
  tnn: "a network of 768 inputs, in our own format",
  raw: "the same as plain integers, for engines of your own (docs/formats/raw.md, include/tabiya-nnue.h)",
} as const;

/** Writes a network; the differences are those of its values in centipawns, the largest and the mean. */
export function exportNnue(network: Nnue, format: string, positions: readonly Position[]): Exported {
  checkFormat(network.config.inputs === "halfkp" ? "halfkp" : "wide", format, ", or safetensors");
  const weights = quantiseNnue(network);
  const { max, mean } = quantisationError(network, weights, positions);
  return { bytes: nnueFile(weights, format), differences: { centipawns: max, meanCentipawns: mean } };
}

/** What the files of each architecture are called. */
const FILES_OF: Record<NnueWeights["kind"], readonly string[]> = { halfkp: ["nnue", "jnn"], wide: ["tnn", "raw"] };

function checkFormat(kind: NnueWeights["kind"], format: string, more = ""): void {
  if (FILES_OF[kind].includes(format)) return;
  throw new UserError(
    "EXPORT_FORMAT",
    `A network of the family nnue with ${kind === "halfkp" ? "halfkp" : "768"} inputs cannot be written as ${format}: it can be ${FILES_OF[kind].join(" or ")}${more}.`,
  );
}

/** How the names of files with quantised networks end. */
export const NNUE_SUFFIXES = Object.keys(NNUE_FORMATS).map((format) => `.${format}`);

/** Whether a file's name ends like that of a network for the alpha-beta search. */
export const isNnueFile = (path: string): boolean =>
  NNUE_SUFFIXES.some((suffix) => path.toLowerCase().endsWith(suffix));

/** A network that is quantised already, in another file of the same integers. */
export function rewriteNnue(bytes: Uint8Array, path: string, format: string): Uint8Array {
  const weights = readNnueNetwork(bytes, path);
  checkFormat(weights.kind, format);
  return nnueFile(weights, format);
}

function nnueFile(weights: NnueWeights, format: string): Uint8Array {
  if (weights.kind === "wide") return format === "raw" ? writeRawWide(weights) : writeWide(weights);
  return format === "nnue" ? writeNnue(weights) : writeJnn(weights, "stockfish");
}
