import { Random, UserError } from "#base";
import { type Position, parseFen, START_FEN } from "#chess";
import {
  calibrate,
  emitInference,
  exportOnnx,
  type Feeds,
  halfWeights,
  type OnnxModel,
  parametersOf,
  quantiseStatic,
  Session,
  writeOnnx,
} from "#tensor";
import { FAMILIES, type FamilyName } from "./families.js";
import type { Exported, Inference, Network } from "./family.js";
import { networkBytes, readNetwork } from "./load.js";
import { NNUE_FORMATS } from "./nnue-export.js";

const GRAPH_FORMATS = {
  onnx: "the network in single precision, for any ONNX Runtime",
  fp16: "the same with weights of half the size; it computes in single precision",
  int8: "weights and most of the computing in 8 bits, by the ranges seen on sample positions",
  safetensors: "the weights alone, to be loaded by this program or any reader of the format",
} as const;

/** Files a network can be carried away in. None has more than the weights and how to use them. */
export const EXPORT_FORMATS = { ...GRAPH_FORMATS, ...NNUE_FORMATS } as const;
/** The name of a format that networks are exported to. */
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** Writes the network, with the weights its parameters have now, and measures what is lost by it. */
export async function exportNetwork(
  family: FamilyName,
  network: Network,
  format: ExportFormat,
  samples: readonly Position[],
): Promise<Exported> {
  const { export: write, inference: graph } = FAMILIES[family];
  if (format === "safetensors" && !graph) {
    const bytes = networkBytes(family, network);
    return {
      bytes,
      differences: { weights: largestDifference(network, readNetwork(bytes, "the exported file").network) },
    };
  }
  if (write) return write(network, format, samples);
  if (!Object.hasOwn(GRAPH_FORMATS, format))
    throw new UserError(
      "EXPORT_FORMAT",
      `A network of the family ${family} cannot be written as ${format}; it can be: ${Object.keys(GRAPH_FORMATS).join(", ")}.`,
    );
  const inference = inferenceOf(family, network);
  const batches = inference.feeds(samples);
  const metadata = {
    family,
    config: JSON.stringify(network.config),
    ...(network.scoreScale !== undefined && { scoreScale: String(network.scoreScale) }),
    ...(inference.input && { input: inference.input }),
  };
  const model = { ...emitInference(inference.outputs), metadata };
  const written: Record<string, () => Promise<Uint8Array> | Uint8Array> = {
    onnx: () => writeOnnx(model),
    fp16: () => writeOnnx(halfWeights(model)),
    int8: async () => writeOnnx(await quantised(model, batches)),
    safetensors: () => networkBytes(family, network),
  };
  const bytes = await written[format]();
  const runnable =
    format === "safetensors" ? exportOnnx(inferenceOfBytes(bytes).outputs, { simplified: false }) : bytes;
  return { bytes, differences: await compare(inference, runnable, batches) };
}

/** How a network is used, as a graph. */
export function inferenceOf(family: FamilyName, network: Network): Inference {
  const { inference } = FAMILIES[family];
  if (inference) return inference(network);
  throw new UserError(
    "FAMILY_NO_GRAPH",
    `A network of the family ${family} is no graph that ONNX Runtime could run; it has files of its own.`,
  );
}

function inferenceOfBytes(bytes: Uint8Array): Inference {
  const { family, network } = readNetwork(bytes, "the exported file");
  return inferenceOf(family, network);
}

const quantised = async (model: OnnxModel, batches: readonly Feeds[]): Promise<OnnxModel> =>
  quantiseStatic(model, await calibrate(model, batches));

/** Largest differences between the network, op by op as it was trained, and an exported model. */
async function compare(
  { outputs }: Inference,
  exported: Uint8Array,
  batches: readonly Feeds[],
): Promise<Record<string, number>> {
  const [ours, theirs] = [await Session.open(exportOnnx(outputs, { simplified: false })), await Session.open(exported)];
  const differences = Object.fromEntries(Object.keys(outputs).map((name) => [name, 0]));
  try {
    for (const batch of batches) {
      const [a, b] = [await ours.run(batch), await theirs.run(batch)];
      for (const name of Object.keys(outputs)) {
        const [left, right] = [a[name].data, b[name].data];
        for (let i = 0; i < left.length; i++) {
          const difference = Math.abs(Number(left[i]) - Number(right[i]));
          if (!(difference <= differences[name])) differences[name] = difference; // keeps what is no number, too
        }
      }
    }
  } finally {
    await ours.close();
    await theirs.close();
  }
  return differences;
}

/** Of the weights of two networks of one architecture. */
function largestDifference(a: Network, b: Network): number {
  const others = parametersOf(b);
  return parametersOf(a).reduce(
    (largest, { data }, i) => data.reduce((max, x, k) => Math.max(max, Math.abs(x - others[i].data[k])), largest),
    0,
  );
}

/** Positions of random games, to measure by where there are no real ones. */
export function randomPositions(count: number, seed: number): Position[] {
  const random = new Random(seed);
  const positions: Position[] = [];
  let position = parseFen(START_FEN);
  while (positions.length < count) {
    if (position.outcome() || position.fullmoves > 60) position = parseFen(START_FEN);
    position.play(random.pick(position.moves()));
    if (!position.outcome()) positions.push(position.clone());
  }
  return positions;
}
