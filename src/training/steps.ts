import type { BatchSource } from "./batches/batch-source.js";
import type { Recipe } from "./config.js";

/** How an epoch is cut into steps. */
export function stepsOf({ train: { batchSize, accumulate, epochPositions } }: Recipe, available: number) {
  const positions = Math.min(available, epochPositions || Number.POSITIVE_INFINITY);
  // A rest smaller than a batch is left to the next epoch.
  const batches = Math.max(1, Math.floor(positions / batchSize));
  const batchesPerStep = Math.min(accumulate, batches);
  return { batchesPerStep, stepsPerEpoch: Math.floor(batches / batchesPerStep) };
}

/**
 * The batches of each step of an epoch, from one of its steps on. Of several trainings on the same data each has a shard:
 * a stretch of the data's endless order that is as long as the whole run.
 */
export async function* batchesOfSteps(
  recipe: Recipe,
  data: BatchSource,
  { epoch, epochStep, shard = 0 }: { epoch: number; epochStep: number; shard?: number },
): AsyncGenerator<unknown[]> {
  const { batchesPerStep, stepsPerEpoch } = stepsOf(recipe, data.positions);
  let held: unknown[] = [];
  const batches = data.batches({
    size: recipe.train.batchSize,
    epoch: epoch - 1 + shard * recipe.train.epochs,
    perEpoch: stepsPerEpoch * batchesPerStep,
    from: epochStep * batchesPerStep,
  });
  for await (const batch of batches) {
    held.push(batch);
    if (held.length < batchesPerStep) continue;
    yield held;
    held = [];
  }
}
