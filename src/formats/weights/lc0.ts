// Networks of Leela Chess Zero, and Maia's, which are the same: a protobuf message, usually compressed with gzip (.pb.gz).
// Field numbers and formats: lczero-common's net.proto; what they mean: lc0's neural/loader.cc and weights_adapter.cc.
// Read are the convolutional networks of 112 classical planes; those with attention are refused by name.
import { UserError } from "#base";
import { Message } from "./protobuf.js";

const MAGIC = 0x1c0;
const PLANES = 112;
const POLICY_PLANES = 80; // of a convolutional policy; 73 are used
const MOVES = 1858;

/** No layer has more outputs than that, and no network more blocks. */
export const LC0_CHANNELS = 4096;

const EPSILON = Math.fround(1e-5); // of the batch norms
const round = Math.fround; // numbers are rounded where lc0 rounds them: a raw count of 98 plies makes a last bit matter

/** A convolution with the batch norm that followed it folded in: weights [out][in][size][size], biases [out]. */
export interface Lc0Convolution {
  weights: Float32Array;
  biases: Float32Array;
}

/** weights [out][in], biases [out] */
export interface Lc0Dense {
  weights: Float32Array;
  biases: Float32Array;
}

export interface Lc0Block {
  conv1: Lc0Convolution;
  conv2: Lc0Convolution;
  squeeze?: { first: Lc0Dense; second: Lc0Dense }; // to `squeeze` units, and on to a gate and a sum for each channel
}

/** The layers of a network of lc0, in floats. */
export interface Lc0Weights {
  width: number; // channels of the trunk
  activation: "relu" | "mish";
  input: Lc0Convolution;
  blocks: Lc0Block[];
  policy:
    | { kind: "classical"; narrow: Lc0Convolution; moves: Lc0Dense }
    | { kind: "convolution"; hidden: Lc0Convolution; planes: Lc0Convolution };
  value: { kind: "classical" | "wdl"; narrow: Lc0Convolution; hidden: Lc0Dense; out: Lc0Dense };
}

/** Whether (unpacked) bytes begin as such a file does: with its magic number as the first field. */
export const isLc0 = (bytes: Uint8Array): boolean =>
  [0x0d, MAGIC & 255, MAGIC >> 8, 0, 0].every((byte, i) => bytes[i] === byte);

/** Reads the unpacked bytes of a network. */
export function readLc0(bytes: Uint8Array, file: string): Lc0Weights {
  const net = new Message(bytes, file, "network");
  const magic = net.fixed32(1);
  if (magic !== MAGIC) {
    throw new UserError(
      "LC0_MAGIC",
      `${file}: no network of lc0: its magic number is ${magic === undefined ? "missing" : `0x${magic.toString(16)}`}, expected 0x1c0.`,
    );
  }
  const formats = readFormats(net);
  const weights = net.message(10, "weights");
  if (!weights) throw net.fail(net.at, "the weights are missing");
  return new Reader(weights, formats).read();
}

const STRUCTURES = ["classical", "classical", "classical", "classical", "classical"]; // 0..4, with and without SE
const REFUSED_STRUCTURES: Readonly<Record<number, string>> = {
  5: "an ONNX model inside an lc0 file",
  6: "an attention body",
  7: "an attention body with several heads",
  134: "an attention body with several heads (legacy)",
};
const INPUTS: Readonly<Record<number, string>> = {
  2: "112 planes with rooks for castling",
  3: "112 planes with canonicalization",
  4: "112 planes with canonicalization (hectoplies)",
  5: "112 planes with canonicalization v2",
  132: "112 planes with canonicalization (hectoplies, armageddon)",
  133: "112 planes with canonicalization v2 (armageddon)",
};

interface Formats {
  policy: "classical" | "convolution";
  value: "classical" | "wdl";
  activation: "relu" | "mish";
  encoding: number; // of layers that do not say theirs
}

/** What the file says of its kind; what it does not say is classical, as files of 2018 were. */
function readFormats(net: Message): Formats {
  const format = net.message(4, "format");
  const network = format?.message(2, "network format");
  const named = (number: number, names: readonly (string | undefined)[], refused: Readonly<Record<number, string>>) => {
    const value = network?.integer(number) ?? 0;
    if (names[value] !== undefined) return names[value];
    throw new UserError(
      "LC0_FORMAT",
      `${net.file}: this network has ${refused[value] ?? `a format unknown here (field ${number}: ${value})`}.\n` +
        "Read are convolutional networks of classical planes with a classical or convolutional policy and a classical or WDL value, as Maia's.",
    );
  };
  named(1, ["classical", "classical"], INPUTS);
  named(3, STRUCTURES, REFUSED_STRUCTURES);
  const hasHeadFormats = (network?.integer(3) ?? 0) >= 3; // older files have classical heads and do not say so
  const policy = named(4, ["classical", "classical", "convolution"], { 3: "an attention policy" });
  const value = named(5, ["classical", "classical", "wdl"], { 3: "a parametric value" });
  return {
    policy: hasHeadFormats && policy === "convolution" ? "convolution" : "classical",
    value: hasHeadFormats && value === "wdl" ? "wdl" : "classical",
    activation: named(7, ["relu", "mish"], {}) === "mish" ? "mish" : "relu",
    encoding: format?.integer(1) || 1,
  };
}

/** How the numbers of a layer are stored: bytes each, and their values, given the layer's smallest and largest. */
const ENCODINGS: Readonly<
  Record<number, { size: number; decode(view: DataView, at: number, min: number, max: number): number }>
> = {
  1: {
    size: 2, // LINEAR16
    decode(view, at, min, max) {
      const share = round(view.getUint16(at, true) / 65535);
      return round(min * round(1 - share)) + round(max * share);
    },
  },
  2: { size: 2, decode: (view, at) => halfToFloat(view.getUint16(at, true)) },
  3: { size: 2, decode: (view, at) => bitsToFloat(view.getUint16(at, true) * 65536) }, // BFLOAT16
  4: { size: 4, decode: (view, at) => view.getFloat32(at, true) },
};

const bits = new DataView(new ArrayBuffer(4));

function bitsToFloat(value: number): number {
  bits.setUint32(0, value);
  return bits.getFloat32(0);
}

function halfToFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

class Reader {
  constructor(
    private readonly weights: Message,
    private readonly formats: Formats,
  ) {}

  read(): Lc0Weights {
    const { weights, formats } = this;
    const input = this.convolution(weights, 1, "input", PLANES, 3);
    const width = input.biases.length;
    const residuals = weights.messages(2, (i) => `residual block ${i}`);
    if (residuals.length > LC0_CHANNELS) throw weights.fail(weights.at, `${residuals.length} residual blocks`);
    let units: number | undefined; // of the squeeze, the same in all blocks
    const blocks = residuals.map((block): Lc0Block => {
      const conv1 = this.convolution(block, 1, "first convolution", width, 3, width);
      const conv2 = this.convolution(block, 2, "second convolution", width, 3, width);
      const unit = block.message(3, `${block.name}, squeeze and excitation`);
      if (!unit !== !residuals[0].has(3)) throw block.fail(block.at, "only some blocks have squeeze and excitation");
      if (!unit) return { conv1, conv2 };
      const first = this.dense(unit, 1, "first layer", width, units);
      units = first.biases.length;
      return {
        conv1,
        conv2,
        squeeze: { first, second: this.dense(unit, 3, "second layer", first.biases.length, 2 * width) },
      };
    });
    return {
      width,
      activation: formats.activation,
      input,
      blocks,
      policy: this.policy(width),
      value: this.value(width),
    };
  }

  private policy(width: number): Lc0Weights["policy"] {
    const { weights, formats } = this;
    if (formats.policy === "convolution") {
      const hidden = this.convolution(weights, 11, "policy head, first convolution", width, 3);
      const planes = this.convolution(weights, 3, "policy head", hidden.biases.length, 3, POLICY_PLANES);
      return { kind: "convolution", hidden, planes };
    }
    const narrow = this.convolution(weights, 3, "policy head", width, 1);
    return { kind: "classical", narrow, moves: this.dense(weights, 4, "policy head, moves", 64 * narrow.biases.length, MOVES) }; // biome-ignore format: one head
  }

  private value(width: number): Lc0Weights["value"] {
    const { weights, formats } = this;
    const narrow = this.convolution(weights, 6, "value head", width, 1);
    const hidden = this.dense(weights, 7, "value head, first layer", 64 * narrow.biases.length);
    const outputs = formats.value === "wdl" ? 3 : 1;
    return { kind: formats.value, narrow, hidden, out: this.dense(weights, 9, "value head, second layer", hidden.biases.length, outputs) }; // biome-ignore format: one head
  }

  /** A convolution and its batch norm, if it has one, in one. */
  private convolution(owner: Message, field: number, name: string, inputs: number, size: number, outputs?: number) {
    const block = owner.message(field, `${owner.name}, ${name}`);
    if (!block) throw owner.fail(owner.at, `the ${name} is missing`);
    const each = inputs * size * size;
    const weights = this.layer(block, 1, "weights", outputs === undefined ? undefined : outputs * each, each);
    const channels = weights.length / each;
    const optional = (number: number, what: string, otherwise: number) =>
      block.has(number) ? this.layer(block, number, what, channels) : new Float32Array(channels).fill(otherwise);
    const biases = optional(2, "biases", 0);
    if (!block.has(3)) return { weights, biases };
    const means = optional(3, "means", 0);
    const variances = this.layer(block, 4, "variances", channels); // called bn_stddivs, but variances they are
    const gammas = optional(5, "gammas", 1);
    const betas = optional(6, "betas", 0);
    for (let channel = 0; channel < channels; channel++) {
      const scale = round(gammas[channel] / round(Math.sqrt(round(variances[channel] + EPSILON))));
      for (let i = channel * each; i < (channel + 1) * each; i++) weights[i] *= scale;
      biases[channel] = betas[channel] - round(scale * round(means[channel] - biases[channel]));
    }
    return { weights, biases };
  }

  /** Two layers that stand one after the other: weights and biases. */
  private dense(owner: Message, field: number, name: string, inputs: number, outputs?: number): Lc0Dense {
    const count = outputs === undefined ? undefined : outputs * inputs;
    const weights = this.layer(owner, field, `${name}, weights`, count, inputs);
    return { weights, biases: this.layer(owner, field + 1, `${name}, biases`, weights.length / inputs) };
  }

  /** The numbers of a layer: as many as are expected, or some whole number of rows. */
  private layer(owner: Message, field: number, name: string, count: number | undefined, row = 1): Float32Array {
    const layer = owner.message(field, `${owner.name}, ${name}`);
    const data = layer?.data(3);
    if (!layer || !data) throw owner.fail(owner.at, `the ${name} are missing`);
    const number = layer.integer(4) || this.formats.encoding;
    const encoding = ENCODINGS[number];
    if (!encoding) throw layer.fail(layer.at, `there is no encoding ${number} of weights`);
    const found = data.bytes.length / encoding.size;
    const rows = found / row;
    const isRight = count === undefined ? rows > 0 && rows <= LC0_CHANNELS && Number.isInteger(rows) : found === count;
    if (!isRight) {
      throw layer.fail(
        data.at,
        `${found} numbers found, expected ${count ?? `a multiple of ${row}, at most ${LC0_CHANNELS} times`}`,
      );
    }
    const view = new DataView(data.bytes.buffer, data.bytes.byteOffset, data.bytes.byteLength);
    const [min, max] = [layer.float(1) ?? 0, layer.float(2) ?? 0];
    const values = new Float32Array(found);
    for (let i = 0; i < found; i++) values[i] = encoding.decode(view, i * encoding.size, min, max);
    return values;
  }
}
