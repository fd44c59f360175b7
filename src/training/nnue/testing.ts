// For tests: random positions, and the loss written down once more, slowly and in double precision.
import { Random } from "#base";
import { core, formatFen, formatUci, type Position, parseFen, START_FEN } from "#chess";
import { encodePacked } from "#formats";
import { type Nnue, nnueOutput } from "#models";

export interface Sample {
  position: Position;
  score: number; // centipawns, the mover's
  result: number; // -1, 0, 1, the mover's
}

/** Positions of random games, with random scores and results. */
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
  const records = new Uint8Array(samples.length * core.RECORD_BYTES);
  samples.forEach(({ position, score, result }, i) => {
    const move = formatUci(position, position.moves()[0]);
    const record = { fen: formatFen(position), move, score, ply: 1, result };
    encodePacked(record, records.subarray(i * core.RECORD_BYTES, (i + 1) * core.RECORD_BYTES));
  });
  return records;
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** The mean loss of some samples. */
export function referenceLoss(
  network: Nnue,
  samples: readonly Sample[],
  { scoreScale, resultShare }: { scoreScale: number; resultShare: number },
): number {
  const losses = samples.map(({ position, score, result }) => {
    const wanted = (1 - resultShare) * sigmoid(score / scoreScale) + (resultShare * (result + 1)) / 2;
    return (sigmoid((nnueOutput(network, position) * network.centipawns) / scoreScale) - wanted) ** 2;
  });
  return losses.reduce((a, b) => a + b) / losses.length;
}
