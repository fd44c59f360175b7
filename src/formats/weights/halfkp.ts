/**
 * The quantised network of Stockfish 12: HalfKP 41024 -> 256 for each side -> 32 -> 32 -> 1. Weights are as the file
 * has them; `models/nnue` says what is computed with them.
 */
export const HALFKP_SHAPE = { inputs: 41024, hidden: 256, first: 32, second: 32 } as const;

/** The integers of a network of the shape that Stockfish 12 had. */
export interface HalfKpWeights {
  kind: "halfkp";
  description: string;
  featureBias: Int16Array; // [256], times 127
  featureWeights: Int16Array; // [41024, 256], times 127
  firstBias: Int32Array; // [32], times 8128
  firstWeights: Int8Array; // [32, 512], times 64; the mover's half comes first
  secondBias: Int32Array; // [32], times 8128
  secondWeights: Int8Array; // [32, 32], times 64
  outputBias: Int32Array; // [1], times 9600
  outputWeights: Int8Array; // [32], times 9600/127
}

/** What the Stockfish trainer wrote into every file of this shape. */
export const HALFKP_DESCRIPTION =
  "Features=HalfKP(Friend)[41024->256x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[32<-32]" +
  "(ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))";
