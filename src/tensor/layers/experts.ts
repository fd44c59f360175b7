import type { Random } from "#base";
import { constant, type Tensor } from "../graph.js";
import { withGradient } from "../ops/custom.js";
import { expertMatmul, sortByExpert } from "../ops/experts.js";
import { type Parameter, parameter, uniform } from "../parameter.js";
import { type Linear, linear } from "./linear.js";
import { swiglu } from "./swiglu.js";

/** The shape of a layer of experts. */
export interface ExpertsConfig {
  width: number;
  hidden: number; // inside each expert
  experts: number;
  chosen: number; // experts per line
  gated?: boolean; // silu(gate) * up (the default), or silu(up) alone
}

/**
 * A sparse mixture of experts: a router picks the best few experts of every line, and only these are computed, in
 * training too. Lines are sorted by expert, exactly: none is dropped however unevenly they are chosen.
 */
export class Experts {
  readonly router: Linear;
  readonly gate: Parameter | undefined; // [experts, width, hidden]
  readonly up: Parameter; // [experts, width, hidden]
  readonly down: Parameter; // [experts, hidden, width]

  constructor(
    readonly config: ExpertsConfig,
    random: Random,
  ) {
    const { width, hidden, experts, gated = true } = config;
    this.router = linear(width, experts, random, { bias: false });
    if (gated) this.gate = parameter([experts, width, hidden], uniform(1 / Math.sqrt(width), random));
    this.up = parameter([experts, width, hidden], uniform(1 / Math.sqrt(width), random));
    this.down = parameter([experts, hidden, width], uniform(1 / Math.sqrt(hidden), random));
  }

  /** x [..., width] -> y alike, and the router's logits [rows, experts] for a balance loss or a picture. */
  apply(x: Tensor): { y: Tensor; logits: Tensor; choices: Tensor } {
    const { width, experts, chosen } = this.config;
    const rows = x.reshape([-1, width]);
    const logits = this.router.apply(rows);
    const { values, indices } = logits.topK(chosen);
    const shares = values.softmax(); // [rows, chosen]
    const { order, inverse, counts } = sortByExpert(indices.reshape([-1]), experts);
    const sorted = spread(rows, order, inverse, chosen); // [rows * chosen, width]
    const up = expertMatmul(sorted, this.up, counts);
    const hidden = this.gate ? swiglu(expertMatmul(sorted, this.gate, counts), up) : up.silu();
    const results = permute(expertMatmul(hidden, this.down, counts), inverse, order);
    const y = shares.reshape([-1, 1, chosen]).matmul(results.reshape([-1, chosen, width]));
    return { y: y.reshape(x.shape), logits, choices: indices };
  }
}

/** A layer of experts with random weights. */
export const experts = (config: ExpertsConfig, random: Random): Experts => new Experts(config, random);

/** Each row `chosen` times, in the sorted order. Its gradient gathers too: adding up by index would be far slower. */
function spread(rows: Tensor, order: Tensor, inverse: Tensor, chosen: number): Tensor {
  const sources = order.div(constant(chosen, [], "int64"));
  return withGradient(rows.gather(sources), [rows], (dy) => [
    dy
      .gather(inverse)
      .reshape([-1, chosen, rows.dim(-1)])
      .sum(1),
  ]);
}

/** Rows in the order of a permutation. */
function permute(rows: Tensor, order: Tensor, back: Tensor): Tensor {
  return withGradient(rows.gather(order), [rows], (dy) => [dy.gather(back)]);
}

/**
 * The load-balance loss of Switch transformers (Fedus et al. 2021): experts times the sum over experts of the share
 * of choices times the mean probability; 1 if all are used alike.
 */
export function balanceLoss(logits: Tensor, choices: Tensor): Tensor {
  const experts = logits.dim(-1) as number;
  const shares = choices.reshape([-1]).oneHot(experts).mean(0).stopGradient();
  return shares.mul(logits.softmax().mean(0)).sum().mul(experts);
}
