/**
 * Work that is sorted by expert: lines [lines, c] of which the first `counts[0]` belong to expert 0, the next
 * `counts[1]` to expert 1, and so on. In the emitted model such values stay cut in pieces, one per expert.
 */

import { applyAll, type Op, type Tensor } from "../graph.js";
import type { Emitter } from "../onnx/emit.js";
import { type Array64, array64 } from "../reference.js";

/** For the choices [lines] of experts: the places of the lines sorted by expert, the way back, and the counts. */
export function sortByExpert(choices: Tensor, experts: number): { order: Tensor; inverse: Tensor; counts: Tensor } {
  const [order, inverse, counts] = applyAll("sortByExpert", [choices], { experts });
  return { order, inverse, counts };
}

function cut(name: string, counts: string, experts: number, emitter: Emitter): readonly string[] {
  return emitter.pieces(name) ?? emitter.addAll("Split", [name, counts], experts, { axis: 0 });
}

function matrices(weight: string, { shape }: Tensor, emitter: Emitter): string[] {
  const experts = shape[0] as number;
  const parts = emitter.addAll("Split", [weight], experts, { axis: 0, num_outputs: experts });
  return parts.map((part) => emitter.reshape(part, shape.slice(1)));
}

/** For every expert its lines in a sorted array. */
function* ranges(counts: Array64): Generator<[number, number, number]> {
  let start = 0;
  for (const [expert, size] of counts.data.entries()) {
    yield [expert, start, start + size];
    start += size;
  }
}

export const EXPERTS = {
  sortByExpert: {
    infer: ([choices], { experts }) => [
      { shape: choices.shape, dtype: "int64" },
      { shape: choices.shape, dtype: "int64" },
      { shape: [experts as number], dtype: "int64" },
    ],
    emit({ inputs: [{ shape }], attributes: { experts } }, [choices], emitter) {
      const e = experts as number;
      const column = emitter.constant(
        BigInt64Array.from({ length: e }, (_, i) => BigInt(i)),
        [e, 1],
        "int64",
      );
      const chosen = emitter.add("Equal", [emitter.reshape(emitter.cast(choices, "int64"), [1, -1]), column]); // [e, lines]
      // NonZero lists the places expert by expert: a sorted order for free.
      const [, order] = emitter.addAll("Split", [emitter.add("NonZero", [chosen])], 2, { axis: 0, num_outputs: 2 });
      const places = emitter.reshape(order, shape);
      const counts = emitter.add("ReduceSum", [emitter.cast(chosen, "int64"), emitter.int64s([1])], { keepdims: 0 });
      const [zero, one] = [0n, 1n].map((n) => emitter.constant(BigInt64Array.of(n), [], "int64"));
      const size = emitter.add("Squeeze", [emitter.add("Shape", [places])]);
      const all = emitter.add("Range", [zero, size, one]);
      const inverse = emitter.add("ScatterElements", [all, places, all], { axis: 0 });
      return [places, inverse, counts];
    },
    evaluate({ attributes: { experts } }, [choices]) {
      const order = [...choices.data.keys()].sort((a, b) => choices.data[a] - choices.data[b] || a - b);
      const inverse = new Float64Array(order.length);
      order.forEach((place, i) => {
        inverse[place] = i;
      });
      const counts = Array.from({ length: experts as number }, (_, e) => choices.data.filter((x) => x === e).length);
      return [array64(choices.shape, order), array64(choices.shape, inverse), array64([counts.length], counts)];
    },
  },
  /** (x [lines, in], weight [experts, in, out], counts) -> [lines, out]: each line times the matrix of its expert. */
  expertMatmul: {
    infer([x, weight, counts], { transposed }, fail) {
      const [inputs, outputs] = transposed ? [weight.dim(2), weight.dim(1)] : [weight.dim(1), weight.dim(2)];
      if (weight.shape.length !== 3 || x.dim(-1) !== inputs || counts.dim(0) !== weight.dim(0)) {
        fail("needs lines [lines, in], weights [experts, in, out] and counts [experts]");
      }
      return { shape: [x.dim(0), outputs], dtype: x.dtype };
    },
    gradient({ inputs: [x, weight, counts], attributes: { transposed } }, [dy]): (Tensor | undefined)[] {
      const [a, b] = transposed ? [dy!, x] : [x, dy!];
      return [expertMatmul(dy!, weight, counts, !transposed), applyAll("expertOuter", [a, b, counts])[0], undefined];
    },
    emit({ inputs: [, tensor], attributes: { transposed } }, [x, weight, counts], emitter) {
      const pieces = cut(x, counts, tensor.shape[0] as number, emitter);
      const parts = matrices(weight, tensor, emitter).map((matrix, i) =>
        transposed
          ? emitter.add("FusedMatMul", [pieces[i], matrix], { transB: 1 }, "com.microsoft")
          : emitter.add("MatMul", [pieces[i], matrix]),
      );
      return emitter.inPieces(parts);
    },
    evaluate({ attributes: { transposed } }, [x, weight, counts]) {
      const [, rows, columns] = weight.shape;
      const [inputs, outputs] = transposed ? [columns, rows] : [rows, columns];
      const out = array64([x.shape[0], outputs]);
      for (const [expert, start, end] of ranges(counts)) {
        for (let line = start; line < end; line++) {
          for (let i = 0; i < inputs; i++) {
            for (let o = 0; o < outputs; o++) {
              const w = weight.data[(expert * rows + (transposed ? o : i)) * columns + (transposed ? i : o)];
              out.data[line * outputs + o] += x.data[line * inputs + i] * w;
            }
          }
        }
      }
      return out;
    },
  },
  /** (x [lines, a], y [lines, b], counts) -> [experts, a, b]: x^T y of the lines of each expert. */
  expertOuter: {
    infer: ([x, y, counts]) => ({ shape: [counts.dim(0), x.dim(1), y.dim(1)], dtype: x.dtype }),
    gradient: ({ inputs: [x, y, counts] }, [dz]) => [
      expertMatmul(y, dz!, counts, true),
      expertMatmul(x, dz!, counts, false),
      undefined,
    ],
    emit({ inputs: [x2, y2, tensor], outputs: [z] }, [x, y, counts], emitter) {
      const experts = tensor.shape[0] as number;
      const [xs, ys] = [x, y].map((name) => cut(name, counts, experts, emitter));
      const wide = Number(y2.dim(1)) >= 2 * Number(x2.dim(1)); // see `outer` of the plain product
      const parts = xs.map((piece, i) =>
        wide
          ? emitter.add("MatMul", [emitter.add("Transpose", [piece], { perm: [1, 0] }), ys[i]])
          : emitter.add("FusedMatMul", [piece, ys[i]], { transA: 1 }, "com.microsoft"),
      );
      return emitter.reshape(emitter.add("Concat", parts, { axis: 0 }), z.shape);
    },
    evaluate(_, [x, y, counts]) {
      const [a, b] = [x.shape[1], y.shape[1]];
      const out = array64([counts.shape[0], a, b]);
      for (const [expert, start, end] of ranges(counts)) {
        for (let line = start; line < end; line++) {
          for (let i = 0; i < a; i++) {
            for (let j = 0; j < b; j++)
              out.data[(expert * a + i) * b + j] += x.data[line * a + i] * y.data[line * b + j];
          }
        }
      }
      return out;
    },
  },
} satisfies Record<string, Op>;

export const expertMatmul = (x: Tensor, weight: Tensor, counts: Tensor, transposed = false): Tensor =>
  applyAll("expertMatmul", [x, weight, counts], { transposed })[0];
