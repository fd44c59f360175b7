import type { Op, Tensor } from "../graph.js";
import { at, fill } from "../reference.js";
import { broadcastShapes, type Shape } from "../shape.js";
import { sumTo } from "./elementwise.js";

type Options = {
  transA: boolean;
  transB: boolean;
  alpha: number;
};

const rows = (shape: Shape, transposed: boolean) => shape.at(transposed ? -1 : -2)!;
const columns = (shape: Shape, transposed: boolean) => shape.at(transposed ? -2 : -1)!;

/** The product of a weight [k, n] with a stack [..., m, k] is one product of matrices; so are its gradients. */
const flat = (x: Tensor): Tensor => x.reshape([-1, x.dim(-1)]);

/**
 * a^T b. FusedMatMul turns a block of `a` again for every 128 columns of `b`, which takes a sixth of its time. So the
 * narrower side is turned once, by itself; if that is `b`, the product comes out turned as well.
 */
function outer(a: Tensor, b: Tensor, alpha: number): Tensor {
  const [rows, columns] = [a.dim(1), b.dim(1)];
  if (typeof rows !== "number" || typeof columns !== "number") return a.matmul(b, { transA: true, alpha });
  return columns >= rows ? a.transpose().matmul(b, { alpha }) : b.transpose().matmul(a, { alpha }).transpose();
}

export const MATMUL = {
  matmul: {
    infer([a, b], attributes, fail) {
      const { transA, transB } = attributes as Options;
      if (a.shape.length < 2 || b.shape.length < 2) fail("both need at least two axes");
      if (a.dtype !== b.dtype) fail(`types ${a.dtype} and ${b.dtype} differ; cast one of them`);
      const [k, l] = [columns(a.shape, transA), rows(b.shape, transB)];
      if (k !== l) {
        const read = (side: string, on: boolean) => (on ? `${side} (transposed)` : side);
        fail(`${k} columns of ${read("the left side", transA)} meet ${l} rows of ${read("the right side", transB)}`);
      }
      const batch =
        broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2)) ??
        fail("the leading axes cannot be stretched to fit");
      return { shape: [...batch, rows(a.shape, transA), columns(b.shape, transB)], dtype: a.dtype };
    },
    gradient({ inputs: [a, b], attributes }, [dy]) {
      const { transA, transB, alpha } = attributes as Options;
      if (!transA && b.shape.length === 2) {
        const [a2, dy2] = [flat(a), flat(dy!)];
        const db = transB ? outer(dy2, a2, alpha) : outer(a2, dy2, alpha);
        return [dy2.matmul(b, { transB: !transB, alpha }).reshape(a.shape), db];
      }
      const da = transA
        ? b.matmul(dy!, { transA: transB, transB: true, alpha })
        : dy!.matmul(b, { transB: !transB, alpha });
      const db = transB
        ? dy!.matmul(a, { transA: true, transB: transA, alpha })
        : a.matmul(dy!, { transA: !transA, alpha });
      return [sumTo(da, a.shape), sumTo(db, b.shape)];
    },
    emit({ attributes }, [a, b], emitter) {
      const { transA, transB, alpha } = attributes as Options;
      if (!transA && !transB && alpha === 1) return emitter.add("MatMul", [a, b]);
      return emitter.add(
        "FusedMatMul",
        [a, b],
        { transA: Number(transA), transB: Number(transB), alpha: { float: alpha } },
        "com.microsoft",
      );
    },
    evaluate({ attributes }, [a, b]) {
      const { transA, transB, alpha } = attributes as Options;
      const batch = broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2)) as readonly number[];
      const inner = columns(a.shape, transA) as number;
      const shape = [...batch, rows(a.shape, transA) as number, columns(b.shape, transB) as number];
      return fill(shape, (index) => {
        const lead = index.slice(0, -2);
        const [i, j] = index.slice(-2);
        let sum = 0;
        for (let k = 0; k < inner; k++) {
          sum += matrixAt(a, lead, transA ? k : i, transA ? i : k) * matrixAt(b, lead, transB ? j : k, transB ? k : j);
        }
        return alpha * sum;
      });
    },
  },
} satisfies Record<string, Op>;

/** An element of one of a stack of matrices; the matrix axes are never stretched, the leading ones may be. */
function matrixAt(x: Parameters<typeof at>[0], lead: readonly number[], i: number, j: number): number {
  const [m, n] = x.shape.slice(-2);
  const stack = { shape: [...x.shape.slice(0, -2), m * n], data: x.data };
  return at(stack, [...lead, i * n + j]);
}
