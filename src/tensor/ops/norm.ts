import { apply, constant, type Op, type Signature, type Tensor } from "../graph.js";
import { type Array64, array64 } from "../reference.js";
import { lines } from "./reduce.js";

const epsilonOf = (node: { attributes: { epsilon?: unknown } }) => node.attributes.epsilon as number;

/** Rows [m, c]: products with a column of numbers are faster than a multiplication and a sum. */
const rowsOf = (x: Tensor) => x.reshape([-1, x.dim(-1)]);
const column = (x: Tensor) => x.reshape([-1, 1]);

/** What a norm over the last axis gives: the values, and a number for each row. */
const normed = ({ shape, dtype }: Tensor): Signature[] => [
  { shape, dtype },
  { shape: shape.with(-1, 1), dtype },
];

/** The same of rows that were computed in plain loops. */
const joinRows = ({ shape }: Array64, rows: readonly { y: number[]; inverse: number }[]): Array64[] => [
  array64(shape, rows.flatMap(({ y }) => y)),
  array64(shape.with(-1, 1), rows.map(({ inverse }) => inverse)),
]; // biome-ignore format: one line each

export const NORMS = {
  /** (x, scale, bias) -> y, inverse standard deviation; over the last axis. */
  layerNorm: {
    infer([x, scale, bias], _, fail) {
      const c = x.dim(-1);
      if (scale.shape.join() !== String(c) || bias.shape.join() !== String(c))
        fail(`scale and bias must have shape [${c}]`);
      return normed(x);
    },
    gradient(node, [dy]) {
      const [x, scale] = node.inputs;
      const c = x.dim(-1) as number;
      const dyRows = rowsOf(dy!);
      const normed = rowsOf(applyUnit(x, epsilonOf(node)));
      const product = dyRows.mul(normed);
      const weights = column(scale).mul(1 / c);
      const inner = dyRows
        .mul(scale)
        .sub(normed.mul(product.matmul(weights)))
        .sub(dyRows.matmul(weights));
      return [inner.mul(node.outputs[1].reshape([-1, 1])).reshape(x.shape), product.sum(0), dyRows.sum(0)];
    },
    emit: (node, inputs, emitter) => {
      const [y, , inverse] = emitter.addAll("LayerNormalization", inputs, 3, {
        axis: -1,
        epsilon: { float: epsilonOf(node) },
      });
      return [y, inverse];
    },
    evaluate(node, [x, scale, bias]) {
      const c = x.shape.at(-1)!;
      const rows = lines(x, c).map((row) => {
        const mean = row.reduce((sum, v) => sum + v, 0) / c;
        const inverse = 1 / Math.sqrt(row.reduce((sum, v) => sum + (v - mean) ** 2, 0) / c + epsilonOf(node));
        return { y: row.map((v, i) => (v - mean) * inverse * scale.data[i] + bias.data[i]), inverse };
      });
      return joinRows(x, rows);
    },
  },
  /** (x, scale) -> y, inverse root mean square. */
  rmsNorm: {
    infer([x, scale], _, fail) {
      const c = x.dim(-1);
      if (scale.shape.join() !== String(c)) fail(`scale must have shape [${c}]`);
      return normed(x);
    },
    gradient(node, [dy]) {
      const [x, scale] = node.inputs;
      const c = x.dim(-1) as number;
      const dyRows = rowsOf(dy!);
      const inverse = node.outputs[1].reshape([-1, 1]);
      // With r the inverse: dx = r (dy scale - x r^2 mean(dy scale x)), and r itself adds up dScale.
      const rows = rowsOf(x);
      const product = dyRows.mul(rows);
      const share = product.matmul(column(scale).mul(1 / c)).mul(inverse.mul(inverse).mul(inverse)); // [m, 1]
      const dx = dyRows.mul(scale).mul(inverse).sub(rows.mul(share));
      const dScale = inverse.matmul(product, { transA: true });
      return [dx.reshape(x.shape), dScale.reshape([c])];
    },
    emit: (node, inputs, emitter) =>
      emitter.addAll("SimplifiedLayerNormalization", inputs, 2, { axis: -1, epsilon: { float: epsilonOf(node) } }),
    evaluate(node, [x, scale]) {
      const c = x.shape.at(-1)!;
      const rows = lines(x, c).map((row) => {
        const inverse = 1 / Math.sqrt(row.reduce((sum, v) => sum + v * v, 0) / c + epsilonOf(node));
        return { y: row.map((v, i) => v * inverse * scale.data[i]), inverse };
      });
      return joinRows(x, rows);
    },
  },
} satisfies Record<string, Op>;

/** Normed without scale and bias: one fused node, cheaper to compute again than to keep or to derive. */
function applyUnit(x: Tensor, epsilon: number): Tensor {
  const c = x.dim(-1) as number;
  return apply("layerNorm", [x, constant(new Float32Array(c).fill(1), [c]), constant(new Float32Array(c), [c])], {
    epsilon,
  });
}
