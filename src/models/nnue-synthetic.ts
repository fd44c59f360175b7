import { Random } from "#base";
import {
  HALFKP_DESCRIPTION,
  HALFKP_SHAPE,
  type HalfKpWeights,
  type WideArchitecture,
  type WideWeights,
} from "#formats";

/**
 * Random networks with the spread of trained ones: they know no chess, but every weight matters and about half of
 * the neurons are at work. For tests and for timing where there is no network at hand.
 */
export function syntheticHalfKp(seed: number): HalfKpWeights {
  const { inputs, hidden, first, second } = HALFKP_SHAPE;
  const random = new Random(seed);
  const noise = (spread: number) => (random.bits() % (2 * spread + 1)) - spread;
  return {
    kind: "halfkp",
    description: HALFKP_DESCRIPTION,
    featureBias: Int16Array.from({ length: hidden }, () => noise(60) - 10),
    featureWeights: new Int16Array(inputs * hidden).map(() => noise(24)),
    firstBias: Int32Array.from({ length: first }, () => noise(4000)),
    firstWeights: new Int8Array(first * hidden * 2).map(() => noise(20)),
    secondBias: Int32Array.from({ length: second }, () => noise(4000)),
    secondWeights: new Int8Array(second * first).map(() => noise(60)),
    outputBias: Int32Array.from([noise(5000)]),
    outputWeights: new Int8Array(second).map(() => noise(127)),
  };
}

/** A network of random integers, for tests and benchmarks. */
export function syntheticWide(seed: number, architecture: Partial<WideArchitecture> = {}): WideWeights {
  const random = new Random(seed);
  const noise = (spread: number) => (random.bits() % (2 * spread + 1)) - spread;
  const shape: WideArchitecture = {
    hidden: 256,
    kingBuckets: new Array<number>(64).fill(0),
    mirrored: false,
    outputs: 1,
    featureScale: 181,
    outputScale: 1024,
    centipawns: 400,
    ...architecture,
  };
  const buckets = Math.max(...shape.kingBuckets) + 1;
  return {
    kind: "wide",
    description: "random numbers",
    ...shape,
    featureBias: Int16Array.from({ length: shape.hidden }, () => noise(600)),
    featureWeights: new Int16Array(buckets * 768 * shape.hidden).map(() => noise(280)),
    outputWeights: new Int16Array(shape.outputs * 2 * shape.hidden).map(() => noise(2048)),
    outputBias: new Int32Array(shape.outputs).map(() => noise(16_000_000)),
  };
}
