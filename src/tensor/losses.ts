import { apply, concat, constant, type Tensor } from "./graph.js";
import { withGradient } from "./ops/custom.js";

/**
 * Cross-entropy of logits [..., k] against a target: indices [...] (hard), or probabilities [..., k] (soft: two-hot,
 * smoothed, a search's visits). One number per line; take its mean. A mask [..., k] says which entries may be chosen.
 */
export function crossEntropy(logits: Tensor, target: Tensor, mask?: Tensor): Tensor {
  const logs = logits.logSoftmax(mask);
  const hard = target.dtype !== "float32";
  const picked = hard ? logs.take(target.reshape([...target.shape, 1])) : logs.mul(target);
  const loss = picked.sum(-1).neg();
  return withGradient(loss, [logits], (dy) => {
    // A soft line need not sum to 1 (it may be empty): its sum weighs the softmax.
    const difference = hard
      ? apply("addAt", [logs.exp(), target], { value: -1 })
      : logs
          .exp()
          .mul(target.sum(-1, { keep: true }))
          .sub(target);
    const gradient = difference.mul(dy.reshape([...dy.shape, 1]));
    return [mask ? mask.where(gradient, 0) : gradient];
  });
}

/** Values [...] as weights [..., k] of the two nearest of ascending centres, so that their mean is the value. */
export function twoHot(values: Tensor, centres: readonly number[]): Tensor {
  const gaps = centres.slice(1).map((centre, i) => centre - centres[i]);
  const lows = constant(centres.slice(0, -1), [gaps.length]);
  const column = values.reshape([...values.shape, 1]);
  const passed = column
    .sub(lows)
    .div(constant(gaps, [gaps.length]))
    .clip(0, 1); // how far beyond each centre
  const last = passed.dim(-1) as number;
  const before = concat([passed.slice(-1, 0, 1).mul(0).add(1), passed], -1);
  const after = concat([passed, passed.slice(-1, last - 1).mul(0)], -1);
  return before.sub(after);
}

/** Mean of squared differences. */
export const meanSquaredError = (a: Tensor, b: Tensor): Tensor => a.sub(b).square().mean();

/**
 * Values [...] as a normal distribution around each, cut into buckets between ascending edges: [..., k]. What lies beyond
 * the outermost edges is left out and the rest made whole, as in HL-Gauss (Farebrother et al. 2024).
 */
export function histogram(values: Tensor, edges: readonly number[], deviation: number): Tensor {
  const column = values.reshape([...values.shape, 1]);
  const scale = 1 / (Math.SQRT2 * deviation);
  const below = constant(edges, [edges.length]).sub(column).mul(scale).erf(); // [..., k + 1], twice the share below, less one
  const shares = below.slice(-1, 1).sub(below.slice(-1, 0, edges.length - 1));
  const whole = below.slice(-1, edges.length - 1).sub(below.slice(-1, 0, 1));
  return shares.div(whole);
}
