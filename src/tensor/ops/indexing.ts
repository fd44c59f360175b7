import type { Op, Tensor } from "../graph.js";
import { array64, at, count, fill } from "../reference.js";
import { sameShape, sizeOf } from "../shape.js";

/** Tables up to this size get their gradient by one product with one-hot rows; above it ScatterElements is faster. */
const ONE_HOT_LIMIT = 256;

const isIndex = (dtype: string) => dtype === "int32" || dtype === "int64";

/** If a tensor is rows added up into a large table: the rows [count, width], and the index of each [count]. */
export function rowsOf({ node }: Tensor): { values: Tensor; indices: Tensor; count: number } | undefined {
  if (node.op !== "scatterAdd" || (node.attributes.rows as number) <= ONE_HOT_LIMIT) return undefined;
  const [values, numbers] = node.inputs;
  const count = sizeOf(numbers.shape);
  if (typeof count !== "number") return undefined;
  const indices = numbers.reshape([count]);
  return {
    values: values.reshape([count, -1]),
    indices: indices.dtype === "int32" ? indices : indices.cast("int32"),
    count,
  };
}

export const INDEXING = {
  gather: {
    infer([table, indices], _, fail) {
      if (!isIndex(indices.dtype)) fail(`indices must be int32 or int64, not ${indices.dtype}`);
      return { shape: [...indices.shape, ...table.shape.slice(1)], dtype: table.dtype };
    },
    gradient({ inputs: [table, indices] }, [dy]) {
      return [dy!.scatterAdd(indices, table.shape[0] as number)];
    },
    emit: (_, inputs, emitter) => emitter.add("Gather", inputs, { axis: 0 }),
    evaluate(_, [table, indices]) {
      const depth = indices.shape.length;
      return fill([...indices.shape, ...table.shape.slice(1)], (index) =>
        at(table, [at(indices, index.slice(0, depth)), ...index.slice(depth)]),
      );
    },
  },
  scatterAdd: {
    infer([x, indices], { rows }, fail) {
      const lead = x.shape.slice(0, indices.shape.length);
      if (!sameShape(lead, indices.shape)) fail("the leading axes must be those of the indices");
      return { shape: [rows as number, ...x.shape.slice(indices.shape.length)], dtype: x.dtype };
    },
    gradient: ({ inputs: [, indices] }, [dy]) => [dy!.gather(indices)],
    emit({ inputs: [x, indices], outputs: [y], attributes: { rows } }, [values, places], emitter) {
      const width = count(x.shape.slice(indices.shape.length) as number[]);
      const lines = emitter.reshape(values, [-1, width]);
      const flat = emitter.reshape(places, [-1]);
      if ((rows as number) <= ONE_HOT_LIMIT) {
        const ones = emitter.oneHot(flat, rows as number);
        const sum = emitter.add("FusedMatMul", [ones, lines], { transA: 1 }, "com.microsoft");
        return emitter.reshape(sum, y.shape);
      }
      const zeros = emitter.add("ConstantOfShape", [emitter.int64s([rows as number, width])]);
      const index = emitter.add("Expand", [emitter.reshape(flat, [-1, 1]), emitter.add("Shape", [lines])]);
      const sum = emitter.add("ScatterElements", [zeros, index, lines], { axis: 0, reduction: "add" });
      return emitter.reshape(sum, y.shape);
    },
    evaluate({ attributes: { rows } }, [x, indices]) {
      const width = count(x.shape.slice(indices.shape.length));
      const out = array64([rows as number, ...x.shape.slice(indices.shape.length)]);
      indices.data.forEach((row, i) => {
        for (let j = 0; j < width; j++) out.data[row * width + j] += x.data[i * width + j];
      });
      return out;
    },
  },
  take: {
    infer([x, indices], _, fail) {
      if (!isIndex(indices.dtype)) fail(`indices must be int32 or int64, not ${indices.dtype}`);
      if (!sameShape(x.shape.slice(0, -1), indices.shape.slice(0, -1)))
        fail("the shapes must agree but for the last axis");
      return { shape: indices.shape, dtype: x.dtype };
    },
    gradient: ({ inputs: [x, indices] }, [dy]) => [dy!.putAdd(indices, x.dim(-1) as number)],
    emit: (_, inputs, emitter) => emitter.add("GatherElements", inputs, { axis: -1 }),
    evaluate: (_, [x, indices]) => fill(indices.shape, (index) => at(x, index.with(-1, at(indices, index)))),
  },
  /** (x [..., k], indices [..., k]) -> zeros [..., size] with each number added at its place along the last axis. */
  putAdd: {
    infer: ([x], { size }) => ({ shape: [...x.shape.slice(0, -1), size as number], dtype: x.dtype }),
    gradient: ({ inputs: [, indices] }, [dy]) => [dy!.take(indices), undefined],
    emit({ outputs: [y] }, [x, indices], emitter) {
      const zeros = emitter.broadcast(emitter.scalar(0), y.shape);
      return emitter.add("ScatterElements", [zeros, indices, x], { axis: -1, reduction: "add" });
    },
    evaluate({ attributes: { size } }, [x, indices]) {
      const k = x.shape.at(-1)!;
      const out = array64([...x.shape.slice(0, -1), size as number]);
      x.data.forEach((value, i) => {
        out.data[Math.floor(i / k) * (size as number) + indices.data[i]] += value;
      });
      return out;
    },
  },
  /** (x, indices) -> x with a number added at one place of each line along the last axis. */
  addAt: {
    infer: ([x]) => x,
    gradient: (_, [dy]) => [dy, undefined],
    emit({ inputs: [, { shape }], attributes: { value } }, [x, indices], emitter) {
      const places = emitter.reshape(indices, [...shape, 1], shape);
      const values = emitter.broadcast(emitter.scalar(value as number), [...shape, 1]);
      return emitter.add("ScatterElements", [x, places, values], { axis: -1, reduction: "add" });
    },
    evaluate: ({ attributes: { value } }, [x, indices]) =>
      fill(
        x.shape,
        (index) => at(x, index) + (at(indices, index.slice(0, -1)) === index.at(-1) ? (value as number) : 0),
      ),
  },
  oneHot: {
    infer: ([x], { size }) => ({ shape: [...x.shape, size as number], dtype: "float32" }),
    emit: ({ attributes: { size } }, [x], emitter) => emitter.oneHot(x, size as number),
    evaluate: ({ attributes: { size } }, [x]) =>
      fill([...x.shape, size as number], (index) => (at(x, index.slice(0, -1)) === index.at(-1) ? 1 : 0)),
  },
} satisfies Record<string, Op>;
