/**
 * Efficiently updatable networks as they are trained, in floats: HalfKP 41024 -> 256 x 2 -> 32 -> 32 -> 1 with clipped ReLU
 * (Nasu 2018, Stockfish 12), or 768 inputs -> one layer for each side -> squared clipped ReLU -> an output chosen by the
 * number of pieces. The trainer is assembly/train/nnue.ts; what plays is made by `quantiseNnue`.
 */
import * as z from "zod";
import type { Random } from "#base";
import { HALFKP_SHAPE, type WideArchitecture } from "#formats";
import { full, type Parameter, parameter, uniform } from "#tensor";
import { nnueLayout, PAWN_OF_STOCKFISH_12 } from "./nnue.js";

export const NNUE_INPUTS = ["halfkp", "768"] as const;

/** The shape of an NNUE network. */
export interface NnueConfig {
  inputs: (typeof NNUE_INPUTS)[number];
  hidden: number;
  factorised: boolean;
  kingBuckets: number[];
  mirrored: boolean;
  outputs: number;
  centipawns: number;
}

export const NNUE_SCHEMA = z.strictObject({
  inputs: z
    .preprocess((value) => (typeof value === "number" ? String(value) : value), z.enum(NNUE_INPUTS))
    .describe("what the first layer sees, and with it what follows"),
  hidden: z
    .int()
    .min(32)
    .max(2048)
    .multipleOf(32)
    .describe("neurons of the first layer for each side, a multiple of 32; 256 for a HalfKP that others can read"),
  factorised: z.boolean().describe("learn also what a piece is worth wherever the king is, and add it in the end"),
  kingBuckets: z
    .array(z.int().min(0).max(63))
    .refine(({ length }) => length === 0 || length === 64, "It needs 64 numbers, one for each square of the king")
    .describe("of 768: 64 numbers, the set of weights for a king there, seen from its own side; none: one set"),
  mirrored: z.boolean().describe("of 768: turn the board left to right when the own king stands on the files e to h"),
  outputs: z.int().min(1).max(32).describe("of 768: outputs, one of them chosen by the number of pieces"),
  centipawns: z.int().min(1).max(10_000).describe("of 768: what the output 1.0 stands for"),
});

// Files a to d, mirrored: the two sides of the castled king, the centre of the first rank, and the king that came out.
const FOUR_BUCKETS = [
  [0, 0, 1, 1, 1, 1, 0, 0],
  [2, 2, 2, 2, 2, 2, 2, 2],
  ...Array.from({ length: 6 }, () => [3, 3, 3, 3, 3, 3, 3, 3]),
].flat();

// The same, with the files c and d, the two files of a castled king, and how far it came out told apart.
const EIGHT_BUCKETS = [
  [0, 0, 1, 2, 2, 1, 0, 0],
  [3, 3, 4, 4, 4, 4, 3, 3],
  [5, 5, 5, 5, 5, 5, 5, 5],
  ...Array.from({ length: 2 }, () => [6, 6, 6, 6, 6, 6, 6, 6]),
  ...Array.from({ length: 3 }, () => [7, 7, 7, 7, 7, 7, 7, 7]),
].flat();

const BASE: NnueConfig = {
  inputs: "768",
  hidden: 256,
  factorised: true,
  kingBuckets: FOUR_BUCKETS,
  mirrored: true,
  outputs: 8,
  centipawns: 400,
};

/** Sizes of NNUE networks by name. */
export const NNUE_SIZES = {
  tiny: { ...BASE, hidden: 32, factorised: false, kingBuckets: [], mirrored: false, outputs: 1 }, // for tests
  base: BASE,
  wide: { ...BASE, hidden: 384, kingBuckets: EIGHT_BUCKETS },
  halfkp: { ...BASE, inputs: "halfkp", hidden: 256, kingBuckets: [], mirrored: false, outputs: 1 }, // Stockfish 12, Jomfish
} satisfies Record<string, NnueConfig>;

/** The output 1.0 of HalfKP is 600 of its units, of which Stockfish 12 counts 208 to a pawn. */
const HALFKP_CENTIPAWNS = (600 / PAWN_OF_STOCKFISH_12) * 100;

type WideShape = Omit<WideArchitecture, "featureScale" | "outputScale">;

interface Layer {
  weight: Parameter; // [inputs, outputs]
  bias: Parameter; // [outputs]
}

/** An efficiently updatable network for the alpha-beta search. */
export class Nnue {
  readonly config: NnueConfig;
  readonly features: Parameter; // [rows, hidden]
  readonly shared?: Parameter; // [kinds, hidden], added to the features of every king
  readonly bias: Parameter; // [hidden]
  readonly first?: Layer; // HalfKP alone: [2 * hidden, 32]
  readonly second?: Layer; // HalfKP alone: [32, 32]
  readonly output: Layer; // HalfKP: [32, 1]; 768: [outputs, 2 * hidden], by output

  constructor(config: NnueConfig, random: Random) {
    const { hidden, outputs } = config;
    this.config = config;
    const { rows, kinds } = this.shape;
    // Some thirty weights are added up: so neurons begin between empty and full.
    const spread = uniform(0.1, random);
    const factorised = config.factorised && rows > kinds;
    this.features = parameter([rows, hidden], factorised ? full(0) : spread);
    if (factorised) this.shared = parameter([kinds, hidden], spread);
    this.bias = parameter([hidden], full(0.2));
    const layer = (inputs: number, width: number): Layer => ({
      weight: parameter([inputs, width], uniform(1 / Math.sqrt(inputs), random)),
      bias: parameter([width], full(0)),
    });
    if (config.inputs === "halfkp") {
      const { first, second } = HALFKP_SHAPE;
      this.first = layer(2 * hidden, first);
      this.second = layer(first, second);
      this.output = layer(second, 1);
    } else {
      const weight = parameter([outputs, 2 * hidden], uniform(1 / Math.sqrt(hidden), random));
      this.output = { weight, bias: parameter([outputs], full(0)) };
    }
  }

  /** Inputs in all, and how many of them belong to one king bucket: input `i` of king `k` is row k * kinds + i. */
  get shape(): { rows: number; kinds: number } {
    const { inputs, kingBuckets } = this.config;
    if (inputs === "halfkp") return { rows: HALFKP_SHAPE.inputs, kinds: HALFKP_SHAPE.inputs / 64 };
    return { rows: 768 * (Math.max(0, ...kingBuckets) + 1), kinds: 768 };
  }

  /** What the output 1.0 stands for. */
  get centipawns(): number {
    return this.config.inputs === "halfkp" ? HALFKP_CENTIPAWNS : this.config.centipawns;
  }

  /** The largest weights that survive quantisation, where there is such a limit: a byte of HalfKP's holds 127. */
  limits(): Map<Parameter, number> {
    const { first, second, output } = this;
    if (!first || !second) return new Map();
    return new Map([
      [first.weight, 127 / 64],
      [second.weight, 127 / 64],
      [output.weight, (127 * 127) / 9600],
    ]);
  }

  /** The table that says which inputs a position has on; assembly/chess/nnue/network.ts describes it. */
  layout(): Uint8Array<ArrayBuffer> {
    return nnueLayout(
      this.config.inputs === "halfkp" ? "halfkp" : { ...wideShape(this.config), featureScale: 1, outputScale: 1 },
    );
  }
}

/** The architecture but for the scales, which the quantiser chooses. */
export function wideShape({ hidden, kingBuckets, mirrored, outputs, centipawns }: NnueConfig): WideShape {
  return {
    hidden,
    kingBuckets: kingBuckets.length > 0 ? kingBuckets : new Array<number>(64).fill(0),
    mirrored,
    outputs,
    centipawns,
  };
}
