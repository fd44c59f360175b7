import type { Random } from "#base";
import type { Tensor } from "../graph.js";
import { normal, type Parameter, parameter, uniform } from "../parameter.js";

/** x [..., inputs] -> [..., outputs]; weights [inputs, outputs]. */
export class Linear {
  readonly weight: Parameter;
  readonly bias: Parameter | undefined;

  constructor(inputs: number, outputs: number, random: Random, options: { bias?: boolean } = {}) {
    const bound = 1 / Math.sqrt(inputs); // as PyTorch's
    this.weight = parameter([inputs, outputs], uniform(bound, random));
    this.bias = (options.bias ?? true) ? parameter([outputs], uniform(bound, random)) : undefined;
  }

  apply(x: Tensor): Tensor {
    const product = x.matmul(this.weight);
    return this.bias ? product.add(this.bias) : product;
  }
}

/** A linear layer with random weights. */
export const linear = (inputs: number, outputs: number, random: Random, options?: { bias?: boolean }): Linear =>
  new Linear(inputs, outputs, random, options);

/** Indices [...] -> rows [..., width] of a learned table. */
export class Embedding {
  readonly weight: Parameter;

  constructor(rows: number, width: number, random: Random, deviation = 1) {
    this.weight = parameter([rows, width], normal(deviation, random));
  }

  apply(indices: Tensor): Tensor {
    return this.weight.gather(indices);
  }
}

/** A table of random rows, to be learnt. */
export const embedding = (rows: number, width: number, random: Random, deviation?: number): Embedding =>
  new Embedding(rows, width, random, deviation);
