import { UserError } from "#base";

/**
 * The bucket of a win probability among `count` equal ones; a value on an edge belongs to the lower bucket, like
 * numpy's searchsorted. A value outside [0, 1] is refused, never clamped.
 */
export function bucketOf(probability: number, count: number): number {
  if (!(probability >= 0 && probability <= 1)) {
    throw new UserError("VALUE_RANGE", `The win probability ${probability} is not between 0 and 1.`);
  }
  const width = 1 / count;
  let bucket = Math.min(count - 1, Math.max(0, Math.ceil(probability * count) - 1));
  // The product above may be off by one rounding; the edges are multiples of the width.
  while (bucket < count - 1 && (bucket + 1) * width < probability) bucket++;
  while (bucket > 0 && bucket * width >= probability) bucket--;
  return bucket;
}

/** The win probability a bucket stands for: its centre. */
export const bucketCentre = (bucket: number, count: number): number => (bucket + 0.5) / count;
