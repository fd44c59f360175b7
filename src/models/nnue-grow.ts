import { UserError } from "#base";
import { bucketCount, type WideWeights } from "#formats";
import { type Nnue, wideShape } from "./nnue-network.js";

const EIGHTHS = 8; // a .tnn holds eighths of its neurons' units, and half a unit more in each bias

/**
 * Gives a network to be trained the weights of a quantised one that is at most as wide and tells at most as many king
 * squares apart; `file` is for messages. It values positions as that one does: a king bucket begins as the one that had its
 * squares, and neurons that are new keep their random inputs but do not count yet.
 */
export function growNnue(from: WideWeights, network: Nnue, file: string): void {
  const { features, shared, bias, output, config } = network;
  const target = wideShape(config);
  const origins = originsOf(from, target.kingBuckets);
  const fits =
    config.inputs === "768" &&
    origins !== undefined &&
    from.hidden <= config.hidden &&
    from.outputs === config.outputs &&
    from.mirrored === config.mirrored &&
    from.centipawns === config.centipawns;
  if (!fits)
    throw new UserError(
      "WEIGHTS_SHAPE",
      `${file}: ${bucketCount(from)} king buckets of ${from.hidden} neurons and ${from.outputs} outputs cannot become the network of the recipe.\n` +
        "It must have the same outputs, mirroring and centipawns, at least as many neurons, and king buckets that divide the old ones.",
    );
  const { hidden } = config;
  const unit = EIGHTHS * from.featureScale;
  const old = (bucket: number, kind: number, neuron: number) =>
    from.featureWeights[(bucket * 768 + kind) * from.hidden + neuron] / unit;
  for (let neuron = 0; neuron < from.hidden; neuron++) {
    bias.data[neuron] = (from.featureBias[neuron] - EIGHTHS / 2) / unit;
    for (let kind = 0; kind < 768; kind++) {
      // What is shared is the mean, so that kings of which little is known begin near it.
      const mean = shared ? origins.reduce((sum, bucket) => sum + old(bucket, kind, neuron), 0) / origins.length : 0;
      if (shared) shared.data[kind * hidden + neuron] = mean;
      origins.forEach((origin, bucket) => {
        features.data[(bucket * 768 + kind) * hidden + neuron] = old(origin, kind, neuron) - mean;
      });
    }
  }
  output.weight.data.fill(0);
  for (let half = 0; half < 2 * from.outputs; half++) {
    for (let neuron = 0; neuron < from.hidden; neuron++)
      output.weight.data[half * hidden + neuron] = from.outputWeights[half * from.hidden + neuron] / from.outputScale;
  }
  from.outputBias.forEach((value, i) => {
    output.bias.data[i] = value / (from.featureScale ** 2 * from.outputScale);
  });
}

/** The old bucket that had the squares of each new one; undefined if a new one has squares of several. */
function originsOf(from: WideWeights, kingBuckets: readonly number[]): number[] | undefined {
  const origins: number[] = [];
  for (const [square, bucket] of kingBuckets.entries()) {
    const origin = from.kingBuckets[square];
    if ((origins[bucket] ?? origin) !== origin) return undefined;
    origins[bucket] = origin;
  }
  return origins;
}
