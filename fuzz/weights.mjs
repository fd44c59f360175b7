// Files of networks: the quantised ones of the alpha-beta search, safetensors, lc0's as they are passed on, ONNX.
import { gzipSync } from "node:zlib";
import { Random, readBytes } from "#base";
import { readLc0, readNnueNetwork, writeJnn, writeNnue, writeRawWide, writeWide } from "#formats";
import { exportNetwork, FAMILIES, identifyNetwork, networkBytes, readNetwork, syntheticHalfKp, syntheticWide } from "#models"; // biome-ignore format: a list
import { mutateBytes } from "./bytes.mjs";
import { tinyFile } from "./lc0.mjs";
import { bytesTarget, fileTarget } from "./reader.mjs";

const HEAD = 400; // bytes: marks, lengths and description
const WHOLE = 1000; // one in so many is given with all its 21 MB

/** Networks of Stockfish's size: mostly the head with a little after it, for a copy of the whole takes 20 ms. */
const halfKp = (write) => (random) =>
  bytesTarget(random, {
    corpus: async () => write(syntheticHalfKp(1)),
    read: (bytes) => readNnueNetwork(bytes, "x.nnue") !== undefined,
    next(random, corpus) {
      const whole = random.pick(corpus);
      const head = mutateBytes(random, [whole.subarray(0, HEAD)]);
      const rest = random.below(WHOLE) === 0 ? whole.length : HEAD + random.below(2000);
      return new Uint8Array(Buffer.concat([head, whole.subarray(HEAD, rest)]));
    },
  });

const SMALLEST = { ...FAMILIES.residual.sizes.tiny, width: 1, blocks: 1, headWidth: 1, valueHidden: 1 };
const smallest = () => FAMILIES.residual.build(SMALLEST, new Random(1));

function readAny(bytes, name) {
  identifyNetwork(bytes, name);
  return readNetwork(bytes, name).network !== undefined;
}

export const nnue = halfKp((weights) => [writeNnue(weights)]);
export const jnn = halfKp((weights) => [writeJnn(weights, "stockfish"), writeJnn(weights, "jomf")]);

export const tnn = (random) => {
  const weights = syntheticWide(1, { hidden: 32 });
  const corpus = async () => [writeWide(weights), writeRawWide(weights)];
  return bytesTarget(random, { corpus, read: (bytes) => readNnueNetwork(bytes, "x.tnn") !== undefined });
};

export const safetensors = (random) =>
  bytesTarget(random, {
    corpus: async () => [networkBytes("residual", smallest())],
    read: (bytes) => readAny(bytes, "x.safetensors"),
  });

/** A model of ours, which is read where a network is asked for. */
export const onnx = (random) =>
  bytesTarget(random, {
    corpus: async () => [(await exportNetwork("residual", smallest(), "onnx", [])).bytes],
    read: (bytes) => readAny(bytes, "x.onnx"),
    foreign: true,
  });

const TINY = tinyFile();

/** Packed: the file is damaged, or what is packed in it. */
export const pbGz = (random) =>
  fileTarget(random, {
    name: "x.pb.gz",
    corpus: async () => [new Uint8Array(gzipSync(TINY))],
    read: async (path) => readLc0(await readBytes(path), path) !== undefined,
    next: (random, corpus) =>
      random.below(2) === 0 ? mutateBytes(random, corpus) : new Uint8Array(gzipSync(mutateBytes(random, [TINY]), { level: 1 })), // biome-ignore format: one thought
  });
