// A network with one wide layer as an engine embeds it: a header of fixed size and the arrays, each at a multiple of 64 bytes,
// so that the bytes can be used where they lie. Layout: docs/formats/raw.md; a C header that evaluates it: include/tabiya-nnue.h.
import { UserError } from "#base";
import { Cursor, joinLittle, u32 } from "./cursor.js";
import { bucketCount, checkArchitecture, readWideArrays, type WideWeights, wideFactor } from "./wide.js";

const MAGIC = 0x524e4e54; // "TNNR"
const VERSION = 1;

export const isRawWide = (bytes: Uint8Array): boolean => new Cursor(bytes, "").peek(0) === MAGIC;

/** The bytes of a .raw file: docs/formats/raw.md. */
export function writeRawWide(w: WideWeights): Uint8Array {
  const { hidden, outputs, mirrored, featureScale, outputScale, centipawns } = w;
  const shape = [hidden, bucketCount(w), outputs, mirrored ? 1 : 0];
  const scales = [featureScale, outputScale, centipawns, wideFactor(w)];
  const header = [u32(MAGIC, VERSION, ...shape, ...scales), new Uint8Array(24), Uint8Array.from(w.kingBuckets)];
  return joinLittle([...header, w.featureWeights, w.featureBias, w.outputWeights, w.outputBias]);
}

export function readRawWide(bytes: Uint8Array, file: string): WideWeights {
  const cursor = new Cursor(bytes, file);
  const head = Array.from({ length: 10 }, () => cursor.u32("header"));
  const [, version, hidden, buckets, outputs, mirrored, featureScale, outputScale, centipawns, factor] = head;
  cursor.i8(24, "header");
  const kingBuckets = [...new Uint8Array(cursor.i8(64, "king buckets").buffer)];
  const architecture = {
    hidden,
    kingBuckets,
    mirrored: mirrored === 1,
    outputs,
    featureScale,
    outputScale,
    centipawns,
  };
  if (version !== VERSION)
    throw new UserError("NNUE_VERSION", `${file}: a raw network of version ${version}; expected ${VERSION}.`);
  checkArchitecture(file, architecture, () => {
    const [found, expected] = [bucketCount(architecture), wideFactor(architecture)];
    if (found !== buckets) return `it names ${buckets} sets of weights, its squares ${found}`;
    return expected === factor ? undefined : `its factor is ${factor}, its scales make ${expected}`;
  });
  return readWideArrays(cursor, "", architecture);
}
