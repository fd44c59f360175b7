import { UserError } from "#base";
import { HALFKP_DESCRIPTION, HALFKP_SHAPE, type HalfKpWeights, type NnueWeights, type WideWeights } from "#formats";
import type { Parameter } from "#tensor";
import { type Nnue, wideShape } from "./nnue-network.js";

// Stockfish 12's scales (docs/decisions/070-jnn-scales.md): activations x127 and weights x64 in the hidden layers, so sums
// x8128; the output x9600, of which 16 are one unit.
const ACTIVATION = 127;
const WEIGHT = 64;
const OUTPUT = 9600;

type Integers = Int8Array<ArrayBuffer> | Int16Array<ArrayBuffer> | Int32Array<ArrayBuffer>;

/** Scaled, rounded to the nearest, and kept within what the array holds. */
function scaled<T extends Integers>(values: Float32Array, scale: number, into: T): T {
  const most = 2 ** (8 * into.BYTES_PER_ELEMENT - 1) - 1;
  for (let i = 0; i < values.length; i++) into[i] = Math.max(-most, Math.min(most, Math.round(values[i] * scale)));
  return into;
}

const int8 = (values: Float32Array, scale: number) => scaled(values, scale, new Int8Array(values.length));
const int16 = (values: Float32Array, scale: number) => scaled(values, scale, new Int16Array(values.length));
const int32 = (values: Float32Array, scale: number) => scaled(values, scale, new Int32Array(values.length));

/** Sums are shifted right by 6 in play, which rounds down; half a unit more makes it the nearest. */
const halfUp = (biases: Int32Array<ArrayBuffer>) => biases.map((bias) => bias + WEIGHT / 2);

/** The weights of the first layer as they play: what all kings share is added to each king's own. */
export function foldFeatures({ features, shared, config: { hidden } }: Nnue): Float32Array {
  if (!shared) return features.data;
  const period = shared.data.length;
  const folded = new Float32Array(features.data.length);
  for (let start = 0; start < folded.length; start += hidden) {
    const from = start % period;
    for (let i = 0; i < hidden; i++) folded[start + i] = features.data[start + i] + shared.data[from + i];
  }
  return folded;
}

/** [inputs, outputs] to [outputs, inputs]. */
function transposed({ data, shape }: Parameter): Float32Array {
  const [inputs, outputs] = shape as readonly number[];
  const result = new Float32Array(data.length);
  for (let i = 0; i < inputs; i++) for (let o = 0; o < outputs; o++) result[o * inputs + i] = data[i * outputs + o];
  return result;
}

/** The network in the integers it plays with; `description` is kept in the file where it has room for one. */
export function quantiseNnue(network: Nnue, description = ""): NnueWeights {
  return network.config.inputs === "halfkp" ? quantiseHalfKp(network) : quantiseWide(network, description);
}

function quantiseHalfKp(network: Nnue): HalfKpWeights {
  const { first, second, output, bias, config } = network;
  if (!first || !second || config.hidden !== HALFKP_SHAPE.hidden)
    throw new UserError(
      "NNUE_ARCHITECTURE",
      `This network has ${config.hidden} neurons for each side; .nnue and .jnn files hold ${HALFKP_SHAPE.hidden}.`,
    );
  return {
    kind: "halfkp",
    description: HALFKP_DESCRIPTION,
    featureBias: int16(bias.data, ACTIVATION),
    featureWeights: int16(foldFeatures(network), ACTIVATION),
    firstBias: halfUp(int32(first.bias.data, ACTIVATION * WEIGHT)),
    firstWeights: int8(transposed(first.weight), WEIGHT),
    secondBias: halfUp(int32(second.bias.data, ACTIVATION * WEIGHT)),
    secondWeights: int8(transposed(second.weight), WEIGHT),
    outputBias: int32(output.bias.data, OUTPUT),
    outputWeights: int8(output.weight.data, OUTPUT / ACTIVATION),
  };
}

const MOST = 32_767; // what 16 bits hold
const FINEST_NEURON = 181; // its square still fits 16 bits
const EIGHTHS = 8; // sums of the first layer are this much finer than its neurons
const PIECES = 16; // of a side, one of them the king

/**
 * How far from zero a neuron of the first layer can get in any position: its bias, and for each side a king and the fifteen
 * pieces that add the most, each on a square of its own. No position reaches it.
 */
export function reachOf(weights: Float32Array, bias: Float32Array): number {
  const hidden = bias.length;
  let most = 0;
  for (let set = 0; set < weights.length; set += 768 * hidden) {
    for (let neuron = 0; neuron < hidden; neuron++) {
      const at = (role: number, square: number) => weights[set + (role * 64 + square) * hidden + neuron];
      for (const sign of [1, -1]) {
        let sum = sign * bias[neuron];
        for (const side of [0, 6]) {
          const pieces = new Float64Array(64); // the best on each square
          let king = -Infinity;
          for (let square = 0; square < 64; square++) {
            for (let role = side; role < side + 5; role++)
              pieces[square] = Math.max(pieces[square], sign * at(role, square));
            king = Math.max(king, sign * at(side + 5, square));
          }
          sum += pieces.sort().subarray(64 - (PIECES - 1)).reduce((a, b) => a + b, king); // biome-ignore format: a sum
        }
        most = Math.max(most, sum);
      }
    }
  }
  return most;
}

/** The finest scale at which every output weight fits 16 bits and an output with all its neurons full 32. */
function outputScaleOf(weights: Float32Array, biases: Float32Array, featureScale: number): number {
  const perOutput = weights.length / biases.length;
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1);
  let scale = Math.floor(MOST / largest);
  biases.forEach((bias, output) => {
    const own = weights.subarray(output * perOutput, (output + 1) * perOutput);
    for (const sign of [1, -1]) {
      const total = own.reduce((sum, weight) => sum + Math.max(0, sign * weight), Math.abs(bias));
      scale = Math.min(scale, Math.floor(((2 ** 31 - 1) / featureScale ** 2 - perOutput) / total));
    }
  });
  return Math.max(1, scale);
}

function quantiseWide(network: Nnue, description: string): WideWeights {
  const { bias, output, config } = network;
  const features = foldFeatures(network);
  // Rounding may add half a unit for each piece and for the bias, and half a neuron's unit is added on purpose.
  const room = (MOST - 2 * PIECES - EIGHTHS) / EIGHTHS;
  const featureScale = Math.max(1, Math.min(FINEST_NEURON, Math.floor(room / reachOf(features, bias.data))));
  const outputScale = outputScaleOf(output.weight.data, output.bias.data, featureScale);
  return {
    kind: "wide",
    description,
    ...wideShape(config),
    featureScale,
    outputScale,
    featureBias: int16(bias.data, EIGHTHS * featureScale).map((x) => x + EIGHTHS / 2),
    featureWeights: int16(features, EIGHTHS * featureScale),
    outputBias: int32(output.bias.data, featureScale ** 2 * outputScale),
    outputWeights: int16(output.weight.data, outputScale),
  };
}
