/**
 * Networks of Leela Chess Zero and Maia, as their files have them: residual blocks, with squeeze and excitation or
 * without, batch norms folded into the convolutions. They see eight positions of the game and number moves as lc0 does.
 * They are played, not trained.
 */

import * as z from "zod";
import type { Random } from "#base";
import { LC0_PLANES, Lc0Batch, MOVE_TABLES } from "#encodings";
import { LC0_CHANNELS, type Lc0Convolution, type Lc0Dense, type Lc0Weights } from "#formats";
import {
  type Conv3x3,
  constant,
  conv3x3,
  full,
  input,
  type Linear,
  linear,
  type Parameter,
  parameter,
  parametersOf,
  type Tensor,
  toPlanes,
  toSquares,
} from "#tensor";
import { convolutionAdds, copyTo, defineFamily, type Inference, newFloats } from "./family.js";
import { positionKey } from "./position-key.js";
import { LC0_POLICY_LOGITS } from "./regroup-moves.js";

/** The shape of a network of lc0. */
export interface Lc0Config {
  width: number; // channels of the trunk
  blocks: number; // residual blocks, two convolutions each
  squeeze: number; // units of the squeeze and excitation of each block; 0 for none
  activation: "relu" | "mish";
  policyHead: "classical" | "convolution"; // a dense layer over all moves, or planes of from-squares
  policyWidth: number; // channels that the head begins with
  valueHead: "classical" | "wdl"; // one number from -1 to 1, or win, draw and loss
  valueWidth: number; // channels that the head begins with
  valueHidden: number; // units between them and the value
}

const some = z.int().min(0).max(LC0_CHANNELS);
const count = some.min(1);

const SCHEMA = z.strictObject({
  width: count,
  blocks: some,
  squeeze: some,
  activation: z.enum(["relu", "mish"]),
  policyHead: z.enum(["classical", "convolution"]),
  policyWidth: count,
  valueHead: z.enum(["classical", "wdl"]),
  valueWidth: count,
  valueHidden: count,
});

const POLICY_PLANES = 80; // 73 name moves, as AlphaZero's, the rest is there to make the number even

/** Planes [n, in, 8, 8] -> [n, out, 8, 8], 3x3 or 1x1. */
class Convolution {
  readonly conv: Conv3x3 | Linear;
  readonly bias: Parameter;

  constructor(inputs: number, outputs: number, size: 1 | 3, random: Random) {
    this.conv = size === 3 ? conv3x3(inputs, outputs, random) : linear(inputs, outputs, random, { bias: false });
    this.bias = parameter([outputs], full(0));
  }

  apply = (x: Tensor): Tensor => toPlanes(this.conv.apply(toSquares(x)).add(this.bias));

  fill({ weights, biases }: Lc0Convolution): void {
    const { shape, data } = this.conv.weight;
    const [inputs, outputs] = shape.slice(-2) as [number, number];
    const taps = data.length / (inputs * outputs);
    for (let o = 0, from = 0; o < outputs; o++)
      for (let i = 0; i < inputs; i++)
        for (let tap = 0; tap < taps; tap++) data[(tap * inputs + i) * outputs + o] = weights[from++];
    this.bias.data.set(biases);
  }
}

function fillLinear({ weight, bias }: Linear, { weights, biases }: Lc0Dense): void {
  const [inputs, outputs] = weight.shape as [number, number];
  for (let o = 0, from = 0; o < outputs; o++)
    for (let i = 0; i < inputs; i++) weight.data[i * outputs + o] = weights[from++];
  bias!.data.set(biases);
}

class Block {
  readonly conv1: Convolution;
  readonly conv2: Convolution;
  readonly squeeze: Linear | undefined;
  readonly excite: Linear | undefined;

  constructor(
    { width, squeeze }: Lc0Config,
    random: Random,
    private readonly activate: (x: Tensor) => Tensor,
  ) {
    this.conv1 = new Convolution(width, width, 3, random);
    this.conv2 = new Convolution(width, width, 3, random);
    if (squeeze === 0) return;
    this.squeeze = linear(width, squeeze, random);
    this.excite = linear(squeeze, 2 * width, random);
  }

  /** [n, width, 8, 8] -> the same */
  apply(x: Tensor): Tensor {
    let y = this.conv2.apply(this.activate(this.conv1.apply(x)));
    if (this.squeeze && this.excite) {
      const [n, width] = [y.dim(0), y.dim(1) as number];
      const both = this.excite.apply(this.activate(this.squeeze.apply(y.mean([2, 3])))); // [n, 2 * width]
      const [gate, sum] = both.reshape([n, 2 * width, 1, 1]).split(1, [width, width]);
      y = y.mul(gate.sigmoid()).add(sum);
    }
    return this.activate(y.add(x));
  }
}

/** [n, c, 8, 8] -> [n, 64 * c] */
const flat = (x: Tensor): Tensor => x.reshape([x.dim(0), 64 * (x.dim(1) as number)]);

/** A residual network with the layers of lc0. */
export class Lc0 {
  readonly input: Convolution;
  readonly trunk: readonly Block[];
  readonly policy: Convolution; // the first layer of the head, and the second
  readonly moves: Convolution | Linear;
  readonly value: Convolution;
  readonly valueHidden: Linear;
  readonly valueOut: Linear;
  private readonly activate: (x: Tensor) => Tensor;

  constructor(
    readonly config: Lc0Config,
    random: Random,
  ) {
    const { width, blocks, activation, policyHead, policyWidth, valueHead, valueWidth, valueHidden } = config;
    this.activate = activation === "mish" ? (x) => x.mish() : (x) => x.relu();
    this.input = new Convolution(LC0_PLANES, width, 3, random);
    this.trunk = Array.from({ length: blocks }, () => new Block(config, random, this.activate));
    const isPlanes = policyHead === "convolution";
    this.policy = new Convolution(width, policyWidth, isPlanes ? 3 : 1, random);
    this.moves = isPlanes
      ? new Convolution(policyWidth, POLICY_PLANES, 3, random)
      : linear(64 * policyWidth, MOVE_TABLES.moves1858.size, random);
    this.value = new Convolution(width, valueWidth, 1, random);
    this.valueHidden = linear(64 * valueWidth, valueHidden, random);
    this.valueOut = linear(valueHidden, valueHead === "wdl" ? 3 : 1, random);
    parametersOf(this); // names them
  }

  /** The network of a file. */
  static of(weights: Lc0Weights, random: Random): Lc0 {
    const { width, activation, blocks, policy, value } = weights;
    const opening = policy.kind === "convolution" ? policy.hidden : policy.narrow;
    const network = new Lc0(
      LC0.parse({
        width,
        blocks: blocks.length,
        squeeze: blocks[0]?.squeeze?.first.biases.length ?? 0,
        activation,
        policyHead: policy.kind,
        policyWidth: opening.biases.length,
        valueHead: value.kind,
        valueWidth: value.narrow.biases.length,
        valueHidden: value.hidden.biases.length,
      }),
      random,
    );
    network.input.fill(weights.input);
    for (const [i, { conv1, conv2, squeeze, excite }] of network.trunk.entries()) {
      const block = blocks[i];
      conv1.fill(block.conv1);
      conv2.fill(block.conv2);
      if (squeeze && block.squeeze) fillLinear(squeeze, block.squeeze.first);
      if (excite && block.squeeze) fillLinear(excite, block.squeeze.second);
    }
    network.policy.fill(opening);
    if (network.moves instanceof Convolution) network.moves.fill((policy as { planes: Lc0Convolution }).planes);
    else fillLinear(network.moves, (policy as { moves: Lc0Dense }).moves);
    network.value.fill(value.narrow);
    fillLinear(network.valueHidden, value.hidden);
    fillLinear(network.valueOut, value.out);
    return network;
  }

  /** planes [n, 112, 8, 8] -> logits of moves [n, 1858], value [n], and shares of win, draw and loss [n, 3] */
  forward(planes: Tensor): { policy: Tensor; value: Tensor; wdl?: Tensor } {
    const n = planes.dim(0);
    let x = this.activate(this.input.apply(planes)); // [n, width, 8, 8], through the whole trunk
    for (const block of this.trunk) x = block.apply(x);
    const head = this.activate(this.policy.apply(x));
    const policy = this.moves instanceof Convolution ? pickMoves(this.moves.apply(head)) : this.moves.apply(flat(head));
    const hidden = this.activate(this.valueHidden.apply(flat(this.activate(this.value.apply(x)))));
    const out = this.valueOut.apply(hidden);
    if (this.config.valueHead === "classical") return { policy, value: out.reshape([n]).tanh() };
    const wdl = out.softmax();
    const [win, , loss] = wdl.split(-1, [1, 1, 1]);
    return { policy, value: win.sub(loss).reshape([n]), wdl };
  }
}

/** Planes of from-squares [n, 80, 8, 8] -> [n, 1858] */
function pickMoves(planes: Tensor): Tensor {
  const logits = constant(LC0_POLICY_LOGITS, [LC0_POLICY_LOGITS.length], "int32");
  return flat(planes).transpose([1, 0]).gather(logits).transpose([1, 0]);
}

const AT_ONCE = 64; // positions

function lc0Inference(network: Lc0): Inference {
  return {
    moves: "moves1858",
    // As in lc0, the way here is left out: transpositions share an answer, though their history planes differ.
    keyOf: (position) => positionKey(position, ["repetitions", "halfmoves"]),
    outputs: network.forward(input("planes", ["n", LC0_PLANES, 8, 8])),
    feeds: (positions, room = newFloats) =>
      Array.from({ length: Math.ceil(positions.length / AT_ONCE) }, (_, i) => {
        encoder ??= new Lc0Batch(AT_ONCE);
        const planes = encoder.encode(positions.slice(i * AT_ONCE, (i + 1) * AT_ONCE));
        return { planes: copyTo(room(planes.length), planes) };
      }),
  };
}

let encoder: Lc0Batch | undefined; // one for all: the core's memory is never given back

function multiplyAdds(config: Lc0Config): number {
  const { width, blocks, squeeze, policyWidth, valueWidth, valueHidden } = config;
  const block = 2 * convolutionAdds(width, width, 9) + 3 * width * squeeze;
  const policy =
    config.policyHead === "convolution"
      ? convolutionAdds(width, policyWidth, 9) + convolutionAdds(policyWidth, POLICY_PLANES, 9)
      : convolutionAdds(width, policyWidth, 1) + 64 * policyWidth * MOVE_TABLES.moves1858.size;
  const out = config.valueHead === "wdl" ? 3 : 1;
  const value = convolutionAdds(width, valueWidth, 1) + (64 * valueWidth + out) * valueHidden;
  return convolutionAdds(LC0_PLANES, width, 9) + blocks * block + policy + value;
}

/** The family of lc0's and Maia's networks, which are read and not trained. */
export const LC0 = defineFamily<Lc0Config, Lc0>({
  sizes: {},
  schema: SCHEMA,
  network: Lc0,
  multiplyAdds,
  inference: lc0Inference,
  suffixes: [".pb.gz", ".pb"],
});
