import type * as z from "zod";
import { assert, type Random } from "#base";
import type { Position } from "#chess";
import type { MoveTableName } from "#encodings";
import type { Feeds, Tensor } from "#tensor";

/** What every network has, whatever its family; its parameters are found in its fields. */
export interface Network {
  readonly config: object;
  /** Centipawns k in the values tanh(score / k) it was taught; VALUE_SCALE_CP by default. Saved with its weights. */
  scoreScale?: number;
}

/** A network as it is used: what it says, and what it is to be fed for some positions, in as many runs as it needs. */
export interface Inference {
  outputs: Record<string, Tensor>;
  /** `room` gives the arrays that are filled; new ones by default. */
  feeds(positions: readonly Position[], room?: (length: number) => Float32Array): Feeds[];
  /** How the inputs are made, for whoever has only the exported file. */
  input?: string;
  moves: MoveTableName; // how it numbers moves
  /** Equal for positions that are fed alike: what an answer is remembered by. */
  keyOf(position: Position): string;
}

export const newFloats = (length: number): Float32Array => new Float32Array(length);

export function copyTo(to: Float32Array, from: Float32Array): Float32Array {
  to.set(from);
  return to;
}

/** A network in a file. */
export interface Exported {
  bytes: Uint8Array;
  /** The largest difference of each output from the network's own, over all sample positions. */
  differences: Record<string, number>;
}

/** How values of settings are checked: an object with a schema for each. */
export type Schema<C> = z.ZodType<C> & { readonly shape: Readonly<Record<string, z.ZodType>> };

/** What a family says of itself: `C` is its config, plain JSON, and `N` its network. */
interface FamilySpec<C extends object, N extends Network> {
  sizes: Readonly<Record<string, C>>; // by the names that recipes use; none if it is not trained here
  schema: Schema<C>;
  check?(config: C): string | undefined; // what is wrong with a config whose fields are each right
  network: new (config: C, random: Random) => N;
  multiplyAdds(config: C): number; // to judge one position; those of convolutions as if done tap by tap
  inference?(network: N): Inference; // as a graph; none if it is none
  export?(network: N, format: string, samples: readonly Position[]): Exported; // to files that no other family has
  suffixes?: readonly string[]; // of such files, as ".nnue"
}

/** Multiply-adds of a convolution over the squares of a board. */
export const convolutionAdds = (inputs: number, outputs: number, taps: 1 | 9): number => 64 * taps * inputs * outputs;

/** A kind of network. What comes in is checked here, so that nobody else needs to know which family it is. */
export interface Family<C extends object = object, N extends Network = Network> {
  readonly sizes: Readonly<Record<string, C>>;
  readonly fields: Readonly<Record<string, z.ZodType>>;
  /** A complete config; throws an error that says what is wrong with the values. */
  parse(values: unknown): C;
  /** A network with random weights. */
  build(config: object, random: Random): N;
  /** What one position costs: multiplications that are added up, whatever way they are computed. */
  multiplyAdds(config: object): number;
  /** The network as one of this family, which it must be. */
  own(network: Network): N;
  readonly inference?: (network: Network) => Inference;
  readonly export?: (network: Network, format: string, samples: readonly Position[]) => Exported;
  readonly suffixes: readonly string[]; // of files that belong to this family alone
}

export function defineFamily<C extends object, N extends Network>(spec: FamilySpec<C, N>): Family<C, N> {
  const { sizes, schema, inference, export: write } = spec;
  const parse = (values: unknown): C => {
    const config = schema.parse(values);
    const problem = spec.check?.(config);
    if (problem !== undefined) throw new Error(problem);
    return config;
  };
  const own = (network: Network): N => {
    assert(network instanceof spec.network, "the network is of another family");
    return network;
  };
  return {
    sizes,
    fields: schema.shape,
    parse,
    build: (config, random) => new spec.network(parse(config), random),
    multiplyAdds: (config) => spec.multiplyAdds(parse(config)),
    own,
    suffixes: spec.suffixes ?? [],
    ...(inference && { inference: (network) => inference(own(network)) }),
    ...(write && { export: (network, format, samples) => write(own(network), format, samples) }),
  };
}
