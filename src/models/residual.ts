/**
 * Residual convolutional networks with a policy and a value head, as in AlphaZero (Silver et al. 2018). The two
 * published designs differ in what they see and in how they number moves: 13 planes from White's side and 4288 moves,
 * or 18 planes from the mover's side and 4672. Leela's 112 planes and 1858 moves are the third choice; as records know
 * nothing of earlier positions, the history in them is always that of a position alone, in play too.
 */

import * as z from "zod";
import type { Random } from "#base";
import { EncoderBatch, MOVE_TABLES, ROW_LENGTHS } from "#encodings";
import {
  type BatchNorm,
  batchNorm,
  type Conv3x3,
  conv3x3,
  input,
  type Linear,
  linear,
  parametersOf,
  type Tensor,
  toPlanes,
  toSquares,
} from "#tensor";
import { convolutionAdds, copyTo, defineFamily, type Inference, newFloats } from "./family.js";
import { pickMoves } from "./pick-moves.js";
import { positionKey } from "./position-key.js";
import { regroupMoves, selectMoves } from "./regroup-moves.js";

/** What a network can see: planes, how moves are numbered with them, and what they show besides the position itself. */
export const BOARDS = {
  planes13: { moves: "moves4288", planes: ROW_LENGTHS.planes13 / 64, shows: [] },
  planes18: { moves: "moves4672", planes: ROW_LENGTHS.planes18 / 64, shows: ["repetitions"] },
  "lc0-112": { moves: "moves1858", planes: ROW_LENGTHS["lc0-112"] / 64, shows: ["halfmoves"] },
} as const;

export const POLICY_HEADS = ["conv", "dense"] as const;
export const VALUE_HEADS = ["tanh", "wdl"] as const;

/** The shape of a residual network. */
export interface ResidualConfig {
  board: keyof typeof BOARDS;
  repetitions: boolean;
  width: number;
  blocks: number;
  policyHead: (typeof POLICY_HEADS)[number];
  valueHead: (typeof VALUE_HEADS)[number];
  headWidth: number;
  valueHidden: number;
  squeeze: number;
}

const count = z.int().min(0).max(4096);

const SCHEMA = z.strictObject({
  board: z
    .enum(Object.keys(BOARDS) as (keyof typeof BOARDS)[])
    .describe("what the net sees, and with it how moves are numbered"),
  repetitions: z
    .boolean()
    .default(false) // files of weights from before it existed lack it
    .describe("planes18 shows how often the position occurred; if not, always as the first time"),
  width: count.min(1).describe("channels in every layer of the trunk"),
  blocks: count.describe("residual blocks, two convolutions each"),
  policyHead: z.enum(POLICY_HEADS).describe("73 planes of from-squares, or one dense layer over all moves"),
  valueHead: z.enum(VALUE_HEADS).describe("one number from -1 to 1, or win, draw and loss"),
  headWidth: count
    .min(1)
    .describe("channels of the 1x1 convolutions that open the value head and the dense policy head"),
  valueHidden: count.describe("units between the squares and the value; 0 averages over the squares, as published"),
  squeeze: count.describe("units of the squeeze-excitation of each block (Hu et al. 2018); 0 for none"),
});

const PUBLISHED: ResidualConfig = {
  board: "planes13",
  repetitions: false,
  width: 64,
  blocks: 4,
  policyHead: "dense",
  valueHead: "tanh",
  headWidth: 32,
  valueHidden: 0,
  squeeze: 0,
};

const OURS: ResidualConfig = {
  ...PUBLISHED,
  board: "planes18",
  policyHead: "conv",
  valueHead: "wdl",
  headWidth: 16,
  valueHidden: 64,
};

/** Sizes of residual networks by name. */
export const RESIDUAL_SIZES = {
  tiny: { ...OURS, width: 16, blocks: 2, headWidth: 8, valueHidden: 16 }, // for tests: trains in seconds on one core
  base: OURS, // 64x4 with convolutional heads: some 2,000 positions a second on two cores
  published: PUBLISHED, // of rl_chess_agent: 9.1 million parameters, nearly all of them in the dense policy
} satisfies Record<string, ResidualConfig>;

const TILE = 8; // the whole board in one Winograd tile: faster than 4, a little less exact, and it learns well (docs/log/tensor.md)

class Block {
  readonly conv1: Conv3x3;
  readonly norm1: BatchNorm;
  readonly conv2: Conv3x3;
  readonly norm2: BatchNorm;
  readonly squeeze: Linear | undefined;
  readonly excite: Linear | undefined;

  constructor({ width, squeeze }: ResidualConfig, random: Random) {
    this.conv1 = conv3x3(width, width, random, TILE);
    this.norm1 = batchNorm(width);
    this.conv2 = conv3x3(width, width, random, TILE);
    this.norm2 = batchNorm(width);
    if (squeeze === 0) return;
    this.squeeze = linear(width, squeeze, random);
    this.excite = linear(squeeze, width, random);
  }

  /** [8, 8, n, width] -> the same */
  apply(x: Tensor): Tensor {
    const inner = this.norm1.apply(this.conv1.apply(x)).relu();
    let y = this.norm2.apply(this.conv2.apply(inner));
    if (this.squeeze && this.excite) {
      const gate = this.excite.apply(this.squeeze.apply(y.mean([0, 1])).relu()).sigmoid(); // [n, width]
      y = y.mul(gate);
    }
    return y.add(x).relu();
  }
}

/** A 1x1 convolution, a norm and a ReLU: how each head narrows the trunk. */
class Narrow {
  readonly conv: Linear;
  readonly norm: BatchNorm;

  constructor(inputs: number, outputs: number, random: Random) {
    this.conv = linear(inputs, outputs, random, { bias: false });
    this.norm = batchNorm(outputs);
  }

  apply = (x: Tensor): Tensor => this.norm.apply(this.conv.apply(x)).relu();
}

/** Logits of all moves, [n, moves], and of the moves asked for, indices [n, k] -> [n, k]. */
interface Policy {
  all: Tensor;
  of(moves: Tensor): Tensor;
}

const policyOf = (all: Tensor): Policy => ({ all, of: (moves) => all.take(moves) });

class ConvPolicy {
  readonly conv: Conv3x3;
  readonly norm: BatchNorm;
  readonly moves: Linear;

  constructor(
    { width, board }: ResidualConfig,
    random: Random,
    private readonly table = BOARDS[board].moves,
  ) {
    this.conv = conv3x3(width, width, random, TILE);
    this.norm = batchNorm(width);
    this.moves = linear(width, 73, random);
  }

  /** [8, 8, n, width] -> [n, moves] */
  apply(x: Tensor): Policy {
    const squares = this.moves.apply(this.norm.apply(this.conv.apply(x)).relu()); // [8, 8, n, 73]
    const n = squares.dim(2);
    const { table } = this;
    if (table === "moves4288") return policyOf(regroupMoves(squares));
    const all =
      table === "moves1858" ? selectMoves(squares) : toPlanes(squares).reshape([n, MOVE_TABLES.moves4672.size]);
    return typeof n === "string" ? policyOf(all) : { all, of: (moves) => pickMoves(squares, moves, table) };
  }
}

class DensePolicy {
  readonly narrow: Narrow;
  readonly moves: Linear;

  constructor({ width, headWidth, board }: ResidualConfig, random: Random) {
    this.narrow = new Narrow(width, headWidth, random);
    this.moves = linear(64 * headWidth, MOVE_TABLES[BOARDS[board].moves].size, random);
  }

  /** [8, 8, n, width] -> [n, moves] */
  apply = (x: Tensor): Policy => policyOf(this.moves.apply(flat(this.narrow.apply(x))));
}

class Value {
  readonly narrow: Narrow;
  readonly hidden: Linear | undefined;
  readonly out: Linear;

  constructor({ width, headWidth, valueHidden, valueHead }: ResidualConfig, random: Random) {
    this.narrow = new Narrow(width, headWidth, random);
    if (valueHidden > 0) this.hidden = linear(64 * headWidth, valueHidden, random);
    this.out = linear(valueHidden || headWidth, valueHead === "wdl" ? 3 : 1, random);
  }

  /** [8, 8, n, width] -> [n, 1 or 3] */
  apply(x: Tensor): Tensor {
    const narrow = this.narrow.apply(x); // [8, 8, n, headWidth]
    return this.out.apply(this.hidden ? this.hidden.apply(flat(narrow)).relu() : narrow.mean([0, 1]));
  }
}

/** [8, 8, n, c] -> [n, 64 * c] */
const flat = (x: Tensor): Tensor => x.transpose([2, 0, 1, 3]).reshape([x.dim(2), 64 * (x.dim(-1) as number)]);

/** What a policy and value network says of positions, for the side to move. */
export interface PolicyValue {
  policy: Tensor; // [n, moves], logits of all moves, legal or not
  policyOf(moves: Tensor): Tensor; // indices [n, k] -> logits [n, k]; an index of -1 gives any number
  value: Tensor; // [n], from -1 (lost) to 1 (won)
  wdl: Tensor | undefined; // [n, 3], logits of win, draw and loss, where the net tells them apart
}

/** A residual network with a policy and probabilities of win, draw and loss. */
export class Residual {
  readonly stem: Conv3x3;
  readonly stemNorm: BatchNorm;
  readonly trunk: readonly Block[];
  readonly policy: ConvPolicy | DensePolicy;
  readonly value: Value;
  scoreScale?: number;

  constructor(
    readonly config: ResidualConfig,
    random: Random,
  ) {
    const { board, width, blocks, policyHead } = config;
    this.stem = conv3x3(BOARDS[board].planes, width, random, TILE);
    this.stemNorm = batchNorm(width);
    this.trunk = Array.from({ length: blocks }, () => new Block(config, random));
    this.policy = policyHead === "conv" ? new ConvPolicy(config, random) : new DensePolicy(config, random);
    this.value = new Value(config, random);
    parametersOf(this); // names them
  }

  /** planes [n, planes, 8, 8] */
  forward(planes: Tensor): PolicyValue {
    let x = this.stemNorm.apply(this.stem.apply(toSquares(planes))).relu(); // [8, 8, n, width], through the whole trunk
    for (const block of this.trunk) x = block.apply(x);
    const { all: policy, of: policyOf } = this.policy.apply(x);
    const out = this.value.apply(x);
    const n = planes.dim(0);
    if (this.config.valueHead === "tanh") return { policy, policyOf, value: out.reshape([n]).tanh(), wdl: undefined };
    const [win, , loss] = out.softmax().split(-1, [1, 1, 1]);
    return { policy, policyOf, value: win.sub(loss).reshape([n]), wdl: out };
  }
}

const AT_ONCE = 64; // positions

/** planes [n, planes, 8, 8] -> policy [n, moves] (logits), value [n], and wdl [n, 3] (probabilities) if the net has them. */
export function residualInference(network: Residual): Inference {
  const { board, repetitions } = network.config;
  const { moves, planes } = BOARDS[board];
  const shows = BOARDS[board].shows.filter((fact) => repetitions || fact !== "repetitions");
  const { policy, value, wdl } = network.forward(input("planes", ["n", planes, 8, 8]));
  return {
    input: `planes [n, ${planes}, 8, 8]: the position as ${board}; policy indices by ${moves}`,
    moves,
    keyOf: (position) => positionKey(position, shows),
    outputs: { policy, value, ...(wdl && { wdl: wdl.softmax() }) },
    feeds: (positions, room = newFloats) =>
      Array.from({ length: Math.ceil(positions.length / AT_ONCE) }, (_, i) => {
        const some = positions.slice(i * AT_ONCE, (i + 1) * AT_ONCE);
        encoder ??= new EncoderBatch(AT_ONCE);
        for (const [k, position] of some.entries()) encoder.put(k, position, repetitions ? position.repetitions() : 0);
        const planes = encoder.planes(board, some.length);
        return { planes: copyTo(room(planes.length), planes) };
      }),
  };
}

let encoder: EncoderBatch | undefined; // one for all: the core's memory is never given back

function multiplyAdds(config: ResidualConfig): number {
  const { board, width, blocks, squeeze, headWidth, valueHidden } = config;
  const { planes, moves } = BOARDS[board];
  const block = 2 * convolutionAdds(width, width, 9) + 2 * width * squeeze;
  const narrow = convolutionAdds(width, headWidth, 1);
  const policy =
    config.policyHead === "conv"
      ? convolutionAdds(width, width, 9) + convolutionAdds(width, 73, 1)
      : narrow + 64 * headWidth * MOVE_TABLES[moves].size;
  const out = config.valueHead === "wdl" ? 3 : 1;
  const value = narrow + (valueHidden > 0 ? (64 * headWidth + out) * valueHidden : headWidth * out);
  return convolutionAdds(planes, width, 9) + blocks * block + policy + value;
}

/** The family of residual networks with a policy and a value. */
export const RESIDUAL = defineFamily<ResidualConfig, Residual>({
  sizes: RESIDUAL_SIZES,
  schema: SCHEMA,
  network: Residual,
  multiplyAdds,
  inference: residualInference,
});
