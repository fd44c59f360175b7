import { core, type Position, parseFen, START_FEN } from "#chess";
import {
  bucketCount,
  HALFKP_SHAPE,
  type HalfKpWeights,
  type NnueWeights,
  type WideArchitecture,
  type WideWeights,
  wideFactor,
} from "#formats";

const HEADER = 384;
export const PAWN_OF_STOCKFISH_12 = 208; // its network's units in a pawn, as its `eval` prints

/** Where the parts of the image are announced: assembly/chess/nnue/network.ts has the layout. */
const PARTS = {
  features: 24,
  featureBias: 28,
  first: 32,
  firstBias: 36,
  second: 40,
  secondBias: 44,
  output: 48,
  outputBias: 52,
};

type Part = Int16Array | Int32Array;

/** The bytes the WebAssembly core evaluates with. */
export function nnueImage(weights: NnueWeights): Uint8Array<ArrayBuffer> {
  return weights.kind === "halfkp" ? halfKpImage(weights) : wideImage(weights);
}

function layOut(
  parts: Partial<Record<keyof typeof PARTS, Part>>,
  header: (view: DataView) => void,
): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(parts) as [keyof typeof PARTS, Part][];
  const padded = (bytes: number) => (bytes + 63) & ~63;
  const image = new Uint8Array(entries.reduce((sum, [, { byteLength }]) => sum + padded(byteLength), HEADER));
  const view = new DataView(image.buffer);
  let at = HEADER;
  for (const [name, part] of entries) {
    view.setInt32(PARTS[name], at, true);
    image.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += padded(part.byteLength);
  }
  header(view);
  return image;
}

/** [outputs, inputs] to [inputs / 2, outputs, 2]: what one multiplication of pairs wants to find side by side. */
function interleave(weights: Int8Array, outputs: number, inputs: number): Int16Array {
  const result = new Int16Array(outputs * inputs);
  for (let input = 0; input < inputs; input++) {
    for (let output = 0; output < outputs; output++) {
      result[((input >> 1) * outputs + output) * 2 + (input & 1)] = weights[output * inputs + input];
    }
  }
  return result;
}

/** Fills what a piece adds to a feature, by point of view and piece; `kind` gives its number among the features of a square. */
function setKinds(view: DataView, kind: (role: number, own: boolean) => number | undefined): void {
  for (let pov = 0; pov < 2; pov++) {
    for (let piece = 0; piece < 16; piece++) {
      const role = (piece & 7) - 1;
      const number = role < 0 || role > 5 ? undefined : kind(role, piece >> 3 === pov);
      view.setInt16(256 + pov * 32 + piece * 2, number === undefined ? -1 : number * 64, true);
    }
  }
}

function halfKpImage(w: HalfKpWeights): Uint8Array<ArrayBuffer> {
  const { hidden, first, second } = HALFKP_SHAPE;
  const parts = {
    features: w.featureWeights,
    featureBias: w.featureBias,
    first: interleave(w.firstWeights, first, hidden * 2),
    firstBias: w.firstBias,
    second: interleave(w.secondWeights, second, first),
    secondBias: w.secondBias,
    output: Int16Array.from(w.outputWeights),
    outputBias: w.outputBias,
  };
  return layOut(parts, describeHalfKp);
}

function describeHalfKp(view: DataView): void {
  [1, HALFKP_SHAPE.hidden, 1, 127, 0, PAWN_OF_STOCKFISH_12].forEach((value, i) => {
    view.setInt32(i * 4, value, true);
  });
  for (let king = 0; king < 64; king++) view.setUint16(64 + king * 2, 1 + 641 * king, true);
  setKinds(view, (role, own) => (role === 5 ? undefined : role * 2 + (own ? 0 : 1)));
  view.setUint8(321, 63);
}

function wideImage(w: WideWeights): Uint8Array<ArrayBuffer> {
  const { featureWeights: features, featureBias, outputWeights: output, outputBias } = w;
  return layOut({ features, featureBias, output, outputBias }, (view) => describeWide(view, w));
}

function describeWide(view: DataView, w: WideArchitecture): void {
  [2, w.hidden, w.outputs, w.featureScale, wideFactor(w), 100].forEach((value, i) => {
    view.setInt32(i * 4, value, true);
  });
  view.setInt32(56, w.mirrored ? 1 : 0, true);
  for (let king = 0; king < 64; king++) view.setUint16(64 + king * 2, 768 * w.kingBuckets[king], true);
  const piecesPerOutput = Math.ceil(32 / w.outputs);
  for (let pieces = 2; pieces <= 32; pieces++) view.setUint8(192 + pieces, Math.floor((pieces - 2) / piecesPerOutput));
  setKinds(view, (role, own) => role + (own ? 0 : 6));
  view.setUint8(321, 56);
}

/** The head of an image without weights: all that is needed to say which inputs a position has on. */
export function nnueLayout(architecture: "halfkp" | WideArchitecture): Uint8Array<ArrayBuffer> {
  return layOut({}, (view) => (architecture === "halfkp" ? describeHalfKp(view) : describeWide(view, architecture)));
}

/** Number of weights and biases. */
export function nnueParameters(weights: NnueWeights): number {
  const counts = Object.values(weights).map((field) =>
    field instanceof Int8Array || field instanceof Int16Array || field instanceof Int32Array ? field.length : 0,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** One line about the architecture. */
export function nnueName(weights: NnueWeights): string {
  if (weights.kind === "halfkp") return "HalfKP 256x2-32-32-1";
  const buckets = bucketCount(weights);
  return `768${buckets > 1 ? `x${buckets}` : ""}${weights.mirrored ? "hm" : ""} -> ${weights.hidden}x2 -> ${weights.outputs}`;
}

/** A network in the core's memory, ready to value positions one at a time. Only one is loaded at any moment. */
export class NnueEvaluator {
  private static loaded: NnueEvaluator | undefined;
  private readonly image: number;
  private readonly room: number;
  private readonly pawn: number; // in its units

  constructor(weights: NnueWeights) {
    this.pawn = weights.kind === "halfkp" ? PAWN_OF_STOCKFISH_12 : 100;
    const bytes = nnueImage(weights);
    this.image = core.allocate(bytes.length);
    core.bytes.set(bytes, this.image);
    this.room = core.allocate(core.wasm.nnueBytes(this.image, 1));
  }

  /** The network's value in its own units (after / 16 for HalfKP), for the side to move. */
  evaluate(position: Position): number {
    if (NnueEvaluator.loaded !== this) {
      core.wasm.nnueStart(this.image, this.room, 1);
      NnueEvaluator.loaded = this;
    }
    position.enter();
    core.wasm.nnuePush(0, core.POSITION);
    return core.wasm.nnueEvaluate(0);
  }

  /** The same in centipawns. */
  evaluateCp(position: Position): number {
    return (this.evaluate(position) * 100) / this.pawn;
  }
}

/** Evaluations a second over a walk of random games, each position a ply after the one before: update and forward pass. */
export function nnueRate(weights: NnueWeights, seconds: number): number {
  const count = 8000;
  const bytes = nnueImage(weights);
  const image = core.allocate(bytes.length);
  core.bytes.set(bytes, image);
  const room = core.allocate(core.wasm.nnueBytes(image, 80));
  const positions = core.allocate(count * core.POSITION_BYTES);
  core.wasm.nnueStart(image, room, 80);
  parseFen(START_FEN).enter();
  core.wasm.nnueWalk(core.POSITION, positions, count, 1n, core.LIST);
  core.wasm.nnueTime(positions, count);
  let best = 0;
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const start = performance.now();
    core.wasm.nnueTime(positions, count);
    best = Math.max(best, count / (performance.now() - start));
  }
  return best * 1000;
}
