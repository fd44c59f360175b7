import { concat, type Op, type Tensor } from "../graph.js";
import { array64, at, count, fill } from "../reference.js";
import { addDims, broadcastShapes, type Dim, divideDims, type Shape, sameShape, sizeOf } from "../shape.js";
import { sumTo } from "./elementwise.js";

/** A reshape's target with its -1 worked out, or undefined if the sizes do not fit. */
function reshaped(from: Shape, to: Shape): Shape | undefined {
  const hole = to.indexOf(-1);
  if (hole < 0) {
    const [a, b] = [sizeOf(from), sizeOf(to)];
    return a === b && (a !== undefined || sameShape([...from].sort(), [...to].sort())) ? to : undefined;
  }
  // Cancel equal dimensions first, so that two symbols can pass side by side.
  const left = [...from];
  const others = to.filter((_, i) => {
    if (i === hole) return false;
    const same = typeof to[i] === "string" ? left.indexOf(to[i]) : -1;
    if (same >= 0) left.splice(same, 1);
    return same < 0;
  });
  const [whole, known] = [sizeOf(left), sizeOf(others)];
  const rest = whole === undefined || known === undefined ? undefined : divideDims(whole, known);
  return rest === undefined ? undefined : to.map((dim, i) => (i === hole ? rest : dim));
}

/** A tensor as it was before any reshapes. */
const unshaped = (x: Tensor): Tensor => (x.node.op === "reshape" ? unshaped(x.node.inputs[0]) : x);

/** The axes of an order, those together that stay side by side. */
function neighbours(order: readonly number[]): number[][] {
  const groups: number[][] = [];
  for (const axis of order) {
    const last = groups.at(-1);
    if (last?.at(-1) === axis - 1) last.push(axis);
    else groups.push([axis]);
  }
  return groups;
}

type Slice = {
  axis: number;
  start: number;
  end: Dim | undefined;
};

/** start and length of a slice along a dimension; the length is symbolic if it runs to the end of a symbolic one. */
function range(dim: Dim, start: number, end: Dim | undefined): { from: number; length: Dim } | undefined {
  if (typeof dim === "number") {
    const from = start < 0 ? start + dim : start;
    const to = end === undefined ? dim : typeof end === "string" ? -1 : end < 0 ? end + dim : end;
    return from >= 0 && to > from && to <= dim ? { from, length: to - from } : undefined;
  }
  if (start < 0) return undefined;
  if (typeof end === "number" && end > start) return { from: start, length: end - start };
  const whole = end ?? dim;
  if (start === 0) return { from: 0, length: whole };
  const match = /^(.*)\+(\d+)$/.exec(String(whole));
  if (!match || Number(match[2]) < start) return undefined;
  return { from: start, length: addDims(match[1], Number(match[2]) - start)! };
}

export const LAYOUT = {
  reshape: {
    infer: ([x], { shape }, fail) => ({
      shape:
        reshaped(x.shape, shape as Shape) ?? fail(`does not have as many elements as [${(shape as Shape).join(", ")}]`),
      dtype: x.dtype,
    }),
    gradient: ({ inputs: [x] }, [dy]) => [dy!.reshape(x.shape)],
    // Of several in a row only the last is needed, and none if it gives back the shape before the first.
    reads: ({ inputs: [x] }) => [unshaped(x)],
    emit({ inputs: [x], outputs: [to] }, [name], emitter) {
      const from = unshaped(x);
      return sameShape(from.shape, to.shape) ? name : emitter.reshape(name, to.shape, from.shape);
    },
    evaluate({ outputs: [{ shape }], inputs: [from] }, [x]) {
      const symbols = from.shape.map((dim, i) => [dim, x.shape[i]] as const);
      const known = shape.map((dim) => (typeof dim === "number" ? dim : (symbols.find(([d]) => d === dim)?.[1] ?? -1)));
      const rest = count(x.shape) / Math.abs(count(known));
      return array64(
        known.map((dim) => (dim === -1 ? rest : dim)),
        x.data,
      );
    },
  },
  transpose: {
    infer([x], { order }, fail) {
      const axes = order as readonly number[];
      if ([...axes].sort().join() !== x.shape.map((_, i) => i).join()) fail(`[${axes}] is not an order of its axes`);
      return { shape: axes.map((axis) => x.shape[axis]), dtype: x.dtype };
    },
    gradient({ attributes: { order } }, [dy]) {
      const axes = order as readonly number[];
      return [dy!.transpose(axes.map((_, i) => axes.indexOf(i)))];
    },
    emit({ inputs: [from], outputs: [to], attributes: { order } }, [x], emitter) {
      const axes = order as readonly number[];
      // An export keeps the axes a reader expects; ONNX Runtime is up to ten times faster with fewer of them.
      const groups = emitter.mode === "training" ? neighbours(axes) : axes.map((axis) => [axis]);
      const sorted = [...groups].sort(([a], [b]) => a - b);
      const sizes = sorted.map((group) => sizeOf(group.map((axis) => from.shape[axis])));
      const perm = groups.map((group) => sorted.indexOf(group));
      if (groups.length === axes.length || sizes.includes(undefined))
        return emitter.add("Transpose", [x], { perm: axes });
      const merged = emitter.add("Transpose", [emitter.reshape(x, sizes as Shape)], { perm });
      return emitter.reshape(merged, to.shape);
    },
    evaluate({ attributes: { order } }, [x]) {
      const axes = order as readonly number[];
      return fill(
        axes.map((axis) => x.shape[axis]),
        (index) =>
          at(
            x,
            axes.map((_, i) => index[axes.indexOf(i)]),
          ),
      );
    },
  },
  concat: {
    infer(parts, { axis }, fail) {
      const [first] = parts;
      const fits = ({ shape, dtype }: Tensor) =>
        dtype === first.dtype &&
        sameShape(shape.toSpliced(axis as number, 1), first.shape.toSpliced(axis as number, 1));
      if (!parts.every(fits)) fail(`sizes and types must agree but for axis ${axis}`);
      const size = parts
        .map(({ shape }) => shape[axis as number])
        .reduce((a, b) => addDims(a, b) ?? fail("sizes cannot be added"));
      return { shape: first.shape.with(axis as number, size), dtype: first.dtype };
    },
    gradient({ inputs, attributes: { axis } }, [dy]) {
      const sizes = inputs.map(({ shape }) => shape[axis as number]);
      if (sizes.every((size) => typeof size === "number")) return [...dy!.split(axis as number, sizes as number[])];
      const first = inputs.length === 2 && typeof sizes[0] === "number" ? sizes[0] : undefined;
      if (first === undefined) throw new Error("internal: gradient of a concat along a symbolic axis");
      return [dy!.slice(axis as number, 0, first), dy!.slice(axis as number, first)];
    },
    emit: ({ attributes: { axis } }, parts, emitter) => emitter.add("Concat", parts, { axis: axis as number }),
    evaluate({ attributes: { axis } }, parts) {
      const along = axis as number;
      const total = parts.reduce((sum, part) => sum + part.shape[along], 0);
      return fill(parts[0].shape.with(along, total), (index) => {
        let place = index[along];
        let part = 0;
        for (; place >= parts[part].shape[along]; part++) place -= parts[part].shape[along];
        return at(parts[part], index.with(along, place));
      });
    },
  },
  slice: {
    infer([x], attributes, fail) {
      const { axis, start, end } = attributes as Slice;
      const found =
        range(x.shape[axis], start, end) ?? fail(`has no elements ${start} .. ${end ?? "end"} on axis ${axis}`);
      return { shape: x.shape.with(axis, found.length), dtype: x.dtype };
    },
    gradient({ inputs: [x], attributes, outputs: [y] }, [dy]) {
      const { axis, start } = attributes as Slice;
      const dim = x.shape[axis];
      if (typeof dim === "string") {
        if (start === 0 || y.shape[axis] !== dim) throw new Error("internal: gradient of a slice of a symbolic axis");
        return [dy];
      }
      const from = start < 0 ? start + dim : start;
      return [dy!.pad(axis, from, dim - from - (y.shape[axis] as number))];
    },
    emit({ inputs: [{ shape }], outputs: [y], attributes }, [x], emitter) {
      const { axis, start, end } = attributes as Slice;
      const { from } = range(shape[axis], start, end)!;
      const to = typeof y.shape[axis] === "number" ? from + (y.shape[axis] as number) : 2 ** 31 - 1;
      return emitter.add("Slice", [x, ...[[from], [to], [axis]].map((list) => emitter.int64s(list))]);
    },
    evaluate({ attributes }, [x]) {
      const { axis, start, end } = attributes as Slice;
      const { from, length } = range(x.shape[axis], start, typeof end === "string" ? undefined : end)!;
      return fill(x.shape.with(axis, length as number), (index) => at(x, index.with(axis, index[axis] + from)));
    },
  },
  split: {
    infer([x], { axis, sizes }, fail) {
      const parts = sizes as readonly number[];
      const total = parts.reduce((a, b) => a + b, 0);
      if (total !== x.shape[axis as number]) fail(`parts of ${parts.join(" + ")} do not add up to axis ${axis}`);
      return parts.map((size) => ({ shape: x.shape.with(axis as number, size), dtype: x.dtype }));
    },
    gradient({ attributes: { axis }, outputs }, dys) {
      return [
        concat(
          dys.map((dy, i) => dy ?? outputs[i].mul(0)),
          axis as number,
        ),
      ];
    },
    emit: ({ attributes: { axis, sizes } }, [x], emitter) =>
      emitter.addAll("Split", [x, emitter.int64s(sizes as number[])], (sizes as number[]).length, {
        axis: axis as number,
      }),
    evaluate({ attributes: { axis, sizes } }, [x]) {
      let start = 0;
      return (sizes as readonly number[]).map((size) => {
        const from = start;
        start += size;
        return fill(x.shape.with(axis as number, size), (index) =>
          at(x, index.with(axis as number, index[axis as number] + from)),
        );
      });
    },
  },
  pad: {
    infer([x], { axis, before, after }, fail) {
      const size = addDims(x.shape[axis as number], (before as number) + (after as number));
      return { shape: x.shape.with(axis as number, size ?? fail("cannot be padded")), dtype: x.dtype };
    },
    gradient({ inputs: [x], attributes: { axis, before } }, [dy]) {
      const size = x.shape[axis as number];
      return [
        dy!.slice(axis as number, before as number, typeof size === "number" ? (before as number) + size : undefined),
      ];
    },
    emit({ inputs: [{ shape }], attributes: { axis, before, after } }, [x], emitter) {
      const at = (amount: number) => shape.map((_, i) => (i === axis ? amount : 0));
      return emitter.add("Pad", [x, emitter.int64s([...at(before as number), ...at(after as number)])], {
        mode: "constant",
      });
    },
    evaluate({ attributes: { axis, before, after } }, [x]) {
      const along = axis as number;
      const size = x.shape[along];
      return fill(x.shape.with(along, size + (before as number) + (after as number)), (index) => {
        const place = index[along] - (before as number);
        return place < 0 || place >= size ? 0 : at(x, index.with(along, place));
      });
    },
  },
  broadcastTo: {
    infer([x], { shape }, fail) {
      const found = broadcastShapes(x.shape, shape as Shape);
      if (!found || !sameShape(found, shape as Shape)) fail(`cannot be stretched to [${(shape as Shape).join(", ")}]`);
      return { shape: shape as Shape, dtype: x.dtype };
    },
    gradient: ({ inputs: [x] }, [dy]) => [sumTo(dy!, x.shape)],
    emit: ({ inputs: [from], outputs: [to] }, [x], emitter) =>
      sameShape(from.shape, to.shape) ? x : emitter.broadcast(x, to.shape),
    evaluate({ attributes: { shape } }, [x]) {
      if ((shape as Shape).some((dim) => typeof dim === "string"))
        throw new Error("internal: symbolic shape in the reference");
      return fill(shape as readonly number[], (index) => at(x, index));
    },
  },
} satisfies Record<string, Op>;
