// For tests: positions of chance, and the network written down once more, slowly and in double precision.
import { Random } from "#base";
import { type Color, formatFen, formatUci, opposite, type Position, parseFen, ROLES, START_FEN } from "#chess";
import { encodeHalfKp } from "#encodings";
import { encodePacked } from "#formats";
import type { Nnue } from "#models";

export interface Sample {
  position: Position;
  score: number; // centipawns, the mover's
  result: number; // -1, 0, 1, the mover's
}

/** Positions of random games, with scores and results of chance. */
export function randomSamples(count: number, seed: number): Sample[] {
  const random = new Random(seed);
  return Array.from({ length: count }, () => {
    const position = parseFen(START_FEN);
    const plies = 2 + random.below(90);
    for (let i = 0; i < plies; i++) {
      position.play(random.pick(position.moves()));
      if (position.moves().length > 0) continue;
      position.undo();
      break;
    }
    return { position, score: random.below(1601) - 800, result: random.below(3) - 1 };
  });
}

/** The samples as .bin records. */
export function packSamples(samples: readonly Sample[]): Uint8Array {
  const records = new Uint8Array(samples.length * 40);
  samples.forEach(({ position, score, result }, i) => {
    const move = formatUci(position, position.moves()[0]);
    const record = { fen: formatFen(position), move, score, ply: 1, result };
    encodePacked(record, records.subarray(i * 40, i * 40 + 40));
  });
  return records;
}

/** The inputs that are on for a colour, from the definitions. */
function inputsOf(network: Nnue, position: Position, color: Color): number[] {
  const { inputs, kingBuckets, mirrored } = network.config;
  if (inputs === "halfkp") {
    const indices = new Int32Array(32);
    return [...indices.subarray(0, encodeHalfKp(position, color, indices))];
  }
  const pieces = [...position.pieces()];
  const turned = color === "white" ? 0 : 56;
  const king = pieces.find((piece) => piece.role === "king" && piece.color === color)!.square ^ turned;
  const flip = turned ^ (mirrored && (king & 7) >= 4 ? 7 : 0);
  const bucket = kingBuckets[king ^ (flip & 7)] ?? 0;
  return pieces.map(
    (piece) =>
      bucket * 768 + (ROLES.indexOf(piece.role) + (piece.color === color ? 0 : 6)) * 64 + (piece.square ^ flip),
  );
}

const clip = (x: number) => Math.max(0, Math.min(1, x));
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** The network's output for a position, for the mover. */
export function referenceOutput(network: Nnue, position: Position): number {
  const { hidden, outputs } = network.config;
  const { kinds } = network.shape;
  const { features, shared, bias, first, second, output } = network;
  const sums = [position.turn, opposite(position.turn)].flatMap((color) => {
    const sum = Float64Array.from(bias.data);
    for (const input of inputsOf(network, position, color)) {
      for (let i = 0; i < hidden; i++) {
        sum[i] += features.data[input * hidden + i];
        if (shared) sum[i] += shared.data[(input % kinds) * hidden + i];
      }
    }
    return [...sum];
  });
  if (!first || !second) {
    const men = [...position.pieces()].length;
    const chosen = Math.floor((men - 2) / Math.floor((31 + outputs) / outputs));
    const weights = output.weight.data.subarray(chosen * 2 * hidden);
    return sums.reduce((total, x, i) => total + clip(x) ** 2 * weights[i], output.bias.data[chosen]);
  }
  let x = sums;
  for (const { weight, bias: biases } of [first, second, output]) {
    const width = biases.data.length;
    x = Array.from(biases.data, (b, o) => x.reduce((total, v, i) => total + clip(v) * weight.data[i * width + o], b));
  }
  return x[0];
}

/** The mean loss of some samples. */
export function referenceLoss(
  network: Nnue,
  samples: readonly Sample[],
  { scoreScale, resultShare }: { scoreScale: number; resultShare: number },
): number {
  const losses = samples.map(({ position, score, result }) => {
    const wanted = (1 - resultShare) * sigmoid(score / scoreScale) + (resultShare * (result + 1)) / 2;
    return (sigmoid((referenceOutput(network, position) * network.centipawns) / scoreScale) - wanted) ** 2;
  });
  return losses.reduce((a, b) => a + b) / losses.length;
}
