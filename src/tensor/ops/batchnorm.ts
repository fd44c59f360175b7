import { constant, type Node, type Op, type Signature, type Tensor } from "../graph.js";
import type { Parameter } from "../parameter.js";
import { array64, count } from "../reference.js";

type Options = {
  epsilon: number;
  momentum: number; // weight of the batch in the running averages
};

const rowsOf = (x: Tensor) => x.reshape([-1, x.dim(-1)]);

/** 1 over the number of rows of [rows, c], as a tensor if it is only known when the model runs. */
function oneOver(rows: Tensor): Tensor {
  const size = rows.dim(0);
  return typeof size === "number" ? constant(1 / size) : rows.slice(1, 0, 1).mul(0).add(1).sum(0).reciprocal();
}

/** Statistics of a batch, and what scales it: y = x * slope + shift. */
function statistics(node: Node) {
  const [x, scale, bias] = node.inputs;
  const rows = rowsOf(x);
  const mean = rows.mean(0);
  const variance = rows.square().mean(0).sub(mean.square()).relu();
  const inverse = variance
    .add((node.attributes as Options).epsilon)
    .sqrt()
    .reciprocal();
  const slope = scale.mul(inverse);
  return { rows, mean, variance, inverse, slope, shift: bias.sub(mean.mul(slope)) };
}

export const BATCH_NORM = {
  /** (x [..., c], scale, bias, running mean, running variance) -> y, mean and variance of the batch. */
  batchNorm: {
    infer([x, ...vectors], _, fail) {
      const c = x.dim(-1);
      if (vectors.some(({ shape }) => shape.join() !== String(c)))
        fail(`scale, bias and averages must have shape [${c}]`);
      const vector: Signature = { shape: [c], dtype: x.dtype };
      return [{ shape: x.shape, dtype: x.dtype }, vector, vector];
    },
    gradient(node, [dy]) {
      const [x] = node.inputs;
      const { rows, mean, inverse, slope } = statistics(node);
      const dyRows = rowsOf(dy!);
      const share = oneOver(rows);
      const dBias = dyRows.sum(0);
      const dScale = dyRows.mul(rows).sum(0).sub(mean.mul(dBias)).mul(inverse);
      // dx = slope (dy - dBias / m - normed dScale / m), gathered into one factor of x and one constant per channel
      const factor = inverse.mul(dScale).mul(share);
      const offset = mean.mul(factor).sub(dBias.mul(share));
      const dx = dyRows.sub(rows.mul(factor)).add(offset).mul(slope);
      return [dx.reshape(x.shape), dScale, dBias, undefined, undefined];
    },
    emit(node, _, emitter) {
      const [x, scale, bias, runningMean, runningVariance] = node.inputs;
      if (emitter.mode === "inference") {
        const slope = scale.div(runningVariance.add((node.attributes as Options).epsilon).sqrt());
        return emitter.value(x.mul(slope).add(bias.sub(runningMean.mul(slope))));
      }
      const { mean, variance, slope, shift } = statistics(node);
      return [x.mul(slope).add(shift), mean, variance].map((tensor) => emitter.value(tensor));
    },
    evaluate(node, [x, scale, bias]) {
      const { epsilon } = node.attributes as Options;
      const c = x.shape.at(-1)!;
      const rows = count(x.shape) / c;
      const mean = new Float64Array(c);
      const variance = new Float64Array(c);
      x.data.forEach((value, i) => {
        mean[i % c] += value / rows;
      });
      x.data.forEach((value, i) => {
        variance[i % c] += (value - mean[i % c]) ** 2 / rows;
      });
      const y = x.data.map((value, i) => {
        const k = i % c;
        return ((value - mean[k]) / Math.sqrt(variance[k] + epsilon)) * scale.data[k] + bias.data[k];
      });
      return [array64(x.shape, y), array64([c], mean), array64([c], variance)];
    },
  },
} satisfies Record<string, Op>;

/** The running averages a node keeps, and what they are after a training step. */
export function statisticsOf(node: Node): { parameter: Parameter; next: Tensor }[] {
  if (node.op !== "batchNorm") return [];
  const [x, , , runningMean, runningVariance] = node.inputs;
  const [, mean, variance] = node.outputs;
  const { momentum } = node.attributes as Options;
  const share = oneOver(rowsOf(x));
  const unbiased = variance.div(constant(1).sub(share)); // m / (m - 1), as PyTorch keeps it
  const blend = (old: Tensor, fresh: Tensor) => old.mul(1 - momentum).add(fresh.mul(momentum));
  return [
    { parameter: runningMean as Parameter, next: blend(runningMean, mean) },
    { parameter: runningVariance as Parameter, next: blend(runningVariance, unbiased) },
  ];
}
