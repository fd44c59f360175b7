import { concat, type Tensor } from "../graph.js";
import { withGradient } from "../ops/custom.js";
import { rowsFirst } from "./attention.js";

/** Queries with the key and the value each has of its own: all [t, n, d]. */
export interface Queries {
  q: Tensor;
  k: Tensor;
  v: Tensor;
}

/**
 * Attention of queries that see a shared state, k and v [s, n, d], and each itself, but not each other: [t, n, d]. So any
 * number of them may be asked at once, and each answer is the one it would get alone.
 */
export function queryAttention(queries: Queries, k: Tensor, v: Tensor, heads: number): Tensor {
  const [t, n, d] = queries.q.shape;
  const width = (d as number) / heads;
  const alpha = 1 / Math.sqrt(width);
  // [t, n * heads, width], as in `attention`
  const [q, ownK, ownV, keys, values] = [queries.q, queries.k, queries.v, k, v].map((x) =>
    x.reshape([x.dim(0), n === 1 ? heads : -1, width]),
  );
  const shared = rowsFirst(q, keys, { a: true, b: true, transB: true, alpha }); // [b, t, s]
  const own = swap(q.mul(ownK).sum(-1, { keep: true }).mul(alpha)); // [b, t, 1]
  const weights = concat([shared, own], -1).softmax(); // [b, t, s + 1]
  const s = k.dim(0) as number;
  const [toShared, toOwn] = weights.split(-1, [s, 1]);
  const ownWeight = swap(toOwn); // [t, b, 1]
  const context = swap(rowsFirst(toShared, values, { b: true })).add(ownWeight.mul(ownV)); // [t, b, width]
  const result = withGradient(context, [q, ownK, ownV, keys, values], (dy) => {
    const inner = dy.mul(context).sum(-1, { keep: true }); // [t, b, 1]; see `attention`
    const dOwn = dy.mul(ownV).sum(-1, { keep: true }).sub(inner).mul(ownWeight).mul(alpha); // [t, b, 1]
    const dShared = rowsFirst(dy, values, { a: true, b: true, transB: true }).sub(swap(inner)).mul(toShared);
    return [
      swap(rowsFirst(dShared, keys, { b: true, alpha })).add(dOwn.mul(ownK)),
      dOwn.mul(q),
      ownWeight.mul(dy),
      swap(rowsFirst(dShared, q, { b: true, transA: true, alpha })),
      swap(rowsFirst(toShared, dy, { b: true, transA: true })),
    ];
  });
  return result.reshape([t, n, d]);
}

/** [a, b, c] -> [b, a, c] */
const swap = (x: Tensor): Tensor => x.transpose([1, 0, 2]);
