import { apply, type Tensor } from "../graph.js";
import { full, type Parameter, parameter } from "../parameter.js";

/** Each line along the last axis with mean 0 and variance 1, then scaled and shifted. */
export class LayerNorm {
  readonly weight: Parameter;
  readonly bias: Parameter;

  constructor(
    width: number,
    readonly epsilon = 1e-5,
  ) {
    this.weight = parameter([width], full(1));
    this.bias = parameter([width], full(0));
  }

  apply(x: Tensor): Tensor {
    return apply("layerNorm", [x, this.weight, this.bias], { epsilon: this.epsilon });
  }
}
/** A layer norm over rows of this width. */
export const layerNorm = (width: number, epsilon?: number): LayerNorm => new LayerNorm(width, epsilon);

/** Each line along the last axis with mean square 1, then scaled. */
export class RmsNorm {
  readonly weight: Parameter;

  constructor(
    width: number,
    readonly epsilon = 1e-5,
  ) {
    this.weight = parameter([width], full(1));
  }

  apply(x: Tensor): Tensor {
    return apply("rmsNorm", [x, this.weight], { epsilon: this.epsilon });
  }
}
/** A norm by the mean square of rows of this width. */
export const rmsNorm = (width: number, epsilon?: number): RmsNorm => new RmsNorm(width, epsilon);

/**
 * Each channel (last axis) with mean 0 and variance 1 over the batch in training, by running averages afterwards,
 * where an export folds it away.
 */
export class BatchNorm {
  readonly weight: Parameter;
  readonly bias: Parameter;
  readonly runningMean: Parameter;
  readonly runningVariance: Parameter;

  constructor(
    channels: number,
    readonly epsilon = 1e-5,
    readonly momentum = 0.1, // weight of the newest batch in the averages
  ) {
    this.weight = parameter([channels], full(1));
    this.bias = parameter([channels], full(0));
    this.runningMean = parameter([channels], full(0), { trainable: false });
    this.runningVariance = parameter([channels], full(1), { trainable: false });
  }

  apply(x: Tensor): Tensor {
    const { epsilon, momentum } = this;
    return apply("batchNorm", [x, this.weight, this.bias, this.runningMean, this.runningVariance], {
      epsilon,
      momentum,
    });
  }
}
/** A batch norm over channels. */
export const batchNorm = (channels: number): BatchNorm => new BatchNorm(channels);
