import type { Node, Op, Tensor } from "../graph.js";
import { type Array64, array64, at, count, fill } from "../reference.js";
import { multiplyDims, type Shape } from "../shape.js";

type Reduction = {
  axes: readonly number[];
  keep: boolean;
};

const shapeOf = (shape: Shape, { axes, keep }: Reduction): Shape =>
  keep ? shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim)) : shape.filter((_, axis) => !axes.includes(axis));

/** A result of a reduction in the shape it has when the reduced axes are kept as 1. */
const kept = (x: Tensor, { inputs: [from], attributes }: Node): Tensor =>
  x.reshape(shapeOf(from.shape, { axes: attributes.axes as number[], keep: true }));

function reduce(onnx: string, start: number, join: (sum: number, x: number) => number, gradient: Op["gradient"]): Op {
  return {
    infer([x], attributes, fail) {
      const options = attributes as Reduction;
      if (options.axes.some((axis) => axis < 0 || axis >= x.shape.length)) fail(`there is no axis ${options.axes}`);
      return { shape: shapeOf(x.shape, options), dtype: x.dtype };
    },
    gradient,
    emit(node, [x], emitter) {
      const { axes, keep } = node.attributes as Reduction;
      const shape = node.inputs[0].shape;
      // Sums over leading axes of [..., c] are products with a row of ones: many times faster than ReduceSum.
      const leading = axes.length > 0 && axes.length < shape.length && axes.every((axis, i) => axis === i);
      const size = axes.reduce<Shape[number] | undefined>((n, axis) => n && multiplyDims(n, shape[axis]), 1);
      if (start === 0 && leading && typeof size === "number" && size > 1 && node.inputs[0].dtype === "float32") {
        const ones = emitter.constant(new Float32Array(size).fill(onnx === "ReduceMean" ? 1 / size : 1), [1, size]);
        const flat = emitter.reshape(x, [size, -1]);
        return emitter.reshape(emitter.add("MatMul", [ones, flat]), node.outputs[0].shape);
      }
      return emitter.add(onnx, [x, emitter.int64s(axes)], { keepdims: Number(keep) });
    },
    evaluate(node, [x]) {
      const options = node.attributes as Reduction;
      const out = array64(shapeOf(x.shape, { ...options, keep: true }) as number[]).data.fill(start);
      const target: Array64 = { shape: shapeOf(x.shape, { ...options, keep: true }) as number[], data: out };
      const place = fill(target.shape, () => 0);
      place.data.forEach((_, i) => {
        place.data[i] = i;
      });
      fill(x.shape, (index) => {
        const i = at(
          place,
          index.map((at, axis) => (options.axes.includes(axis) ? 0 : at)),
        );
        out[i] = join(out[i], at(x, index));
        return 0;
      });
      const divisor = onnx === "ReduceMean" ? count(x.shape) / out.length : 1;
      return { shape: shapeOf(x.shape, options) as number[], data: out.map((sum) => sum / divisor) };
    },
  };
}

export const REDUCTIONS = {
  sum: reduce(
    "ReduceSum",
    0,
    (sum, x) => sum + x,
    (node, [dy]) => [kept(dy!, node).broadcastTo(node.inputs[0].shape)],
  ),
  mean: reduce(
    "ReduceMean",
    0,
    (sum, x) => sum + x,
    (node, [dy]) => {
      const { shape } = node.inputs[0];
      const axes = node.attributes.axes as readonly number[];
      const symbolic = axes.find((axis) => typeof shape[axis] === "string");
      if (symbolic !== undefined) {
        // The mean of ones is one: dividing by the sum of ones leaves the size to the run.
        const ones = fullOnes(node.inputs[0]).sum(axes, { keep: true });
        return [kept(dy!, node).div(ones).broadcastTo(shape)];
      }
      const size = axes.reduce((n, axis) => n * (shape[axis] as number), 1);
      return [kept(dy!.mul(1 / size), node).broadcastTo(shape)];
    },
  ),
  // Equal maxima share the gradient.
  max: reduce("ReduceMax", Number.NEGATIVE_INFINITY, Math.max, (node, [dy]) => {
    const [x] = node.inputs;
    const winners = x.equal(kept(node.outputs[0], node)).cast("float32");
    const share = kept(dy!, node).div(winners.sum(node.attributes.axes as number[], { keep: true }));
    return [winners.mul(share)];
  }),
  argmax: {
    infer: ([x]) => ({ shape: x.shape.slice(0, -1), dtype: "int64" }),
    emit: (_, [x], emitter) => emitter.add("ArgMax", [x], { axis: -1, keepdims: 0 }),
    evaluate: (_, [x]) =>
      array64(
        x.shape.slice(0, -1),
        lines(x, x.shape.at(-1)!).map((line) => line.indexOf(Math.max(...line))),
      ),
  },
  topK: {
    infer([x], { k }, fail) {
      const last = x.dim(-1);
      if (typeof last === "number" && (k as number) > last) fail(`there are no ${k} values in ${last}`);
      const shape = [...x.shape.slice(0, -1), k as number];
      return [
        { shape, dtype: x.dtype },
        { shape, dtype: "int64" },
      ];
    },
    gradient({ inputs: [x], outputs: [, indices] }, [dy]) {
      if (!dy) return [undefined];
      // [..., k, 1] x one-hot [..., k, size], summed over k
      const spread = indices.oneHot(x.dim(-1) as number);
      return [
        dy
          .reshape([...dy.shape, 1])
          .mul(spread)
          .sum(-2),
      ];
    },
    emit: ({ attributes: { k } }, [x], emitter) => emitter.addAll("TopK", [x, emitter.int64s([k as number])], 2, {}),
    evaluate({ attributes: { k } }, [x]) {
      const shape = [...x.shape.slice(0, -1), k as number];
      const orders = lines(x, x.shape.at(-1)!).map((line) =>
        line
          .map((_, i) => i)
          .sort((a, b) => line[b] - line[a] || a - b)
          .slice(0, k as number),
      );
      const values = lines(x, x.shape.at(-1)!).flatMap((line, row) => orders[row].map((i) => line[i]));
      return [array64(shape, values), array64(shape, orders.flat())];
    },
  },
} satisfies Record<string, Op>;

/** The lines along the last axis. */
export const lines = ({ data }: Array64, size: number): number[][] =>
  Array.from({ length: data.length / size }, (_, row) => [...data.subarray(row * size, (row + 1) * size)]);

const fullOnes = (x: Tensor): Tensor => x.mul(0).add(1);
