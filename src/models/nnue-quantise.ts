import { UserError } from "#base";
import { HALFKP_DESCRIPTION, HALFKP_SHAPE, type HalfKpWeights, type NnueWeights, type WideWeights } from "#formats";
import type { Parameter } from "#tensor";
import { FEATURE_SCALE, type Nnue, OUTPUT_SCALE, wideArchitecture } from "./nnue-network.js";

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

/**
 * The finest scale at which every output weight still fits a byte, and their sum, each neuron full, 32 bits: at a fixed 64
 * the weights of our first network lost 6 centipawns on average, so 2.
 */
function outputScaleOf(weights: Float32Array, perOutput: number): number {
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-3);
  let scale = Math.max(OUTPUT_SCALE, Math.min(1024, Math.floor(127 / largest)));
  for (let start = 0; start < weights.length; start += perOutput) {
    const total = weights.subarray(start, start + perOutput).reduce((sum, weight) => sum + Math.abs(weight), 0);
    scale = Math.min(scale, Math.floor((2 ** 31 - 1) / FEATURE_SCALE ** 2 / (total + perOutput / scale)));
  }
  return Math.max(1, scale);
}

function quantiseWide(network: Nnue, description: string): WideWeights {
  const { bias, output, config } = network;
  const outputScale = outputScaleOf(output.weight.data, 2 * config.hidden);
  return {
    kind: "wide",
    description,
    ...wideArchitecture(config),
    outputScale,
    featureBias: int16(bias.data, FEATURE_SCALE),
    featureWeights: int16(foldFeatures(network), FEATURE_SCALE),
    outputBias: int32(output.bias.data, FEATURE_SCALE * outputScale),
    outputWeights: Int16Array.from(int8(output.weight.data, outputScale)),
  };
}
