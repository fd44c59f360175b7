import { refuseOtherBytes } from "../recognise.js";
import type { HalfKpWeights } from "./halfkp.js";
import { isJnn, readJnn } from "./jnn.js";
import { readNnue } from "./nnue.js";
import { isRawWide, readRawWide } from "./raw-wide.js";
import { isWide, readWide, type WideWeights } from "./wide.js";

/** The quantised weights of any network the alpha-beta search can use. */
export type NnueWeights = HalfKpWeights | WideWeights;

/** Reads a .nnue, .jnn, .tnn or raw network by what it begins with, not by its name. */
export function readNnueNetwork(bytes: Uint8Array, file: string): NnueWeights {
  if (isWide(bytes)) return readWide(bytes, file);
  if (isRawWide(bytes)) return readRawWide(bytes, file);
  refuseOtherBytes(bytes, file, ["nnue"], "a network for the alpha-beta search (.nnue, .jnn, .tnn)");
  return isJnn(bytes) ? readJnn(bytes, file) : readNnue(bytes, file);
}
