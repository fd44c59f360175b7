import type { Op, Tensor } from "../graph.js";
import { type Array64, at, fill } from "../reference.js";

type Options = {
  rowsFirstA: boolean; // given as [rows, batch, columns] instead of [batch, rows, columns]
  rowsFirstB: boolean;
  transA: boolean; // then read with rows and columns swapped
  transB: boolean;
  alpha: number;
};

const stack = (shape: Tensor["shape"], rowsFirst: boolean) => (rowsFirst ? [shape[1], shape[0], shape[2]] : shape);

/**
 * Products of stacks [batch, m, k] x [batch, k, n] where either side may lie with its rows first in memory, as heads
 * of a sequence-major tensor do: no copy is needed to bring the batch to the front.
 */
export const STACK_MATMUL = {
  stackMatmul: {
    infer([a, b], attributes, fail) {
      const { rowsFirstA, rowsFirstB, transA, transB } = attributes as Options;
      if (a.shape.length !== 3 || b.shape.length !== 3) fail("both need three axes");
      const [batch, m, k] = stack(a.shape, rowsFirstA);
      const [batchB, l, n] = stack(b.shape, rowsFirstB);
      if (batch !== batchB || (transA ? m : k) !== (transB ? n : l)) fail("batch or inner sizes differ");
      return { shape: [batch, transA ? k : m, transB ? l : n], dtype: a.dtype };
    },
    gradient() {
      throw new Error("internal: attention brings its own gradient");
    },
    emit({ attributes }, [a, b], emitter) {
      const { rowsFirstA, rowsFirstB, transA, transB, alpha } = attributes as Options;
      const flags = { transBatchA: rowsFirstA, transBatchB: rowsFirstB, transA, transB };
      const numbers = Object.fromEntries(Object.entries(flags).map(([name, on]) => [name, Number(on)]));
      return emitter.add("FusedMatMul", [a, b], { ...numbers, alpha: { float: alpha } }, "com.microsoft");
    },
    evaluate({ attributes }, [a, b]) {
      const { rowsFirstA, rowsFirstB, transA, transB, alpha } = attributes as Options;
      const element = (x: Array64, rowsFirst: boolean, batch: number, i: number, j: number) =>
        at(x, rowsFirst ? [i, batch, j] : [batch, i, j]);
      const [batch, m, k] = stack(a.shape, rowsFirstA) as number[];
      const [, l, n] = stack(b.shape, rowsFirstB) as number[];
      const inner = transA ? m : k;
      return fill([batch, transA ? k : m, transB ? l : n], ([stackIndex, i, j]) => {
        let sum = 0;
        for (let x = 0; x < inner; x++) {
          const left = transA ? element(a, rowsFirstA, stackIndex, x, i) : element(a, rowsFirstA, stackIndex, i, x);
          sum += left * (transB ? element(b, rowsFirstB, stackIndex, j, x) : element(b, rowsFirstB, stackIndex, x, j));
        }
        return alpha * sum;
      });
    },
  },
} satisfies Record<string, Op>;
