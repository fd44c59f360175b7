import { apply, concat, constant, MASKED, Tensor } from "../graph.js";
import { withGradient } from "../ops/custom.js";

/** Blocks of `size` places: the first `open` of a block see each other, every other place only what is not behind it. */
export interface OpenBlocks {
  size: number;
  open: number;
}

/** Which keys a query may look at: all, those up to its own place, the same with open blocks, or where a mask [queries, keys] is true. */
export type AttentionMask = "all" | "causal" | OpenBlocks | Tensor;

const BLOCK = 71; // queries; causal rows of one block see no later keys, which saves up to half the work

/**
 * Attention on sequence-major values: q [t, n, d], k and v [s, n, d], d = heads * width -> [t, n, d].
 * A mask may also differ from sequence to sequence: [n, 1, t, s] or [n, heads, t, s].
 */
export function attention(q: Tensor, k: Tensor, v: Tensor, heads: number, mask: AttentionMask = "all"): Tensor {
  const [t, n, d] = q.shape;
  const s = k.dim(0);
  const width = (d as number) / heads;
  // [t, n * heads, width]: heads are neighbours of the batch, and nothing is copied
  const [queries, keys, values] = [q, k, v].map((x) => x.reshape([x.dim(0), -1, width]));
  if (mask === "all" || mask instanceof Tensor) {
    const bias = mask === "all" ? undefined : mask.where(0, MASKED);
    return core(queries, keys, values, bias, heads, n).reshape([t, n, d]);
  }
  if (typeof t !== "number" || t !== s) throw new Error("internal: causal attention of different lengths");
  const blocks = mask === "causal" ? { size: Math.ceil(t / Math.ceil(t / BLOCK)), open: 0 } : mask;
  return causal(queries, keys, values, t, blocks).reshape([t, n, d]);
}

/** The same for causal queries, all [t, b, width], in blocks that see no later keys. */
function causal(q: Tensor, k: Tensor, v: Tensor, t: number, { size, open }: OpenBlocks): Tensor {
  const alpha = 1 / Math.sqrt(q.dim(2) as number);
  const starts = Array.from({ length: Math.ceil(t / size) }, (_, i) => i * size);
  const sizes = starts.map((start) => Math.min(size, t - start));
  const seen = (x: Tensor, block: number) => x.slice(0, 0, starts[block] + sizes[block]);
  const cut = (x: Tensor, axis = 0) => (sizes.length === 1 ? [x] : x.split(axis, sizes));
  const join = (blocks: readonly Tensor[]) => concat(blocks, 1).transpose([1, 0, 2]); // [b, .., width] -> [t, b, width]

  const parts = cut(q);
  const weights = parts.map((part, i) => {
    const product = rowsFirst(part, seen(k, i), { a: true, b: true, transB: true, alpha }); // [b, size, seen]
    return product.add(triangle(sizes[i], starts[i] + sizes[i], open)).softmax();
  });
  const context = join(weights.map((weight, i) => rowsFirst(weight, seen(v, i), { b: true })));
  return withGradient(context, [q, k, v], (dy) => {
    const inner = cut(innerProducts(dy, context), 1);
    const dys = cut(dy);
    const dScores = weights.map((weight, i) =>
      rowsFirst(dys[i], seen(v, i), { a: true, b: true, transB: true }).sub(inner[i]).mul(weight),
    );
    const dq = join(dScores.map((dScore, i) => rowsFirst(dScore, seen(k, i), { b: true, alpha })));
    /** Left sides [size, b, width] and right ones [b, size, seen] -> the sum of their products, [t, b, width]. */
    const collect = (left: readonly Tensor[], right: readonly Tensor[], factor: number) => {
      const sums: Tensor[] = []; // for each block of keys, [b, width, size]
      left.forEach((block, i) => {
        const product = rowsFirst(block, right[i], { a: true, transA: true, alpha: factor });
        const pieces = i === 0 ? [product] : product.split(2, sizes.slice(0, i + 1));
        pieces.forEach((piece, j) => {
          sums[j] = sums[j]?.add(piece) ?? piece;
        });
      });
      return concat(sums, 2).transpose([2, 0, 1]);
    };
    return [dq, collect(parts, dScores, alpha), collect(dys, weights, 1)];
  });
}

/** The sum of dWeights * weights over the keys is that of dy * context over the width, which is shorter: [b, t, 1]. */
const innerProducts = (dy: Tensor, context: Tensor): Tensor =>
  dy.mul(context).sum(-1, { keep: true }).transpose([1, 0, 2]);

/** 0 where the last `rows` of `columns` places, the first `open` of which see each other, may look, MASKED where they may not. */
function triangle(rows: number, columns: number, open: number): Tensor {
  const first = columns - rows;
  const bias = Array.from({ length: rows * columns }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    return column > first + Math.max(row, row < open ? open - 1 : 0) ? MASKED : 0;
  });
  return constant(bias, [rows, columns]);
}

/** q [t, b, width], k and v [s, b, width] -> [t, b, width], b = batch * heads. */
function core(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  bias: Tensor | undefined,
  heads: number,
  n: Tensor["shape"][number],
): Tensor {
  const [t, , width] = q.shape;
  const s = k.dim(0);
  const alpha = 1 / Math.sqrt(width as number);
  const product = rowsFirst(q, k, { a: true, b: true, transB: true, alpha }); // [b, t, s]
  const scores = bias ? withBias(product, bias, heads, n, t, s) : product;
  const weights = scores.softmax();
  const context = rowsFirst(weights, v, { b: true }).transpose([1, 0, 2]); // [t, b, width]
  return withGradient(context, [q, k, v], (dy) => {
    const inner = innerProducts(dy, context);
    const dWeights = rowsFirst(dy, v, { a: true, b: true, transB: true });
    const dScores = dWeights.sub(inner).mul(weights);
    const dq = rowsFirst(dScores, k, { b: true, alpha }).transpose([1, 0, 2]);
    // As [b, width, s]: then the smaller matrix is the one to be read with rows and columns swapped.
    const dk = rowsFirst(q, dScores, { a: true, transA: true, alpha }).transpose([2, 0, 1]);
    const dv = rowsFirst(dy, weights, { a: true, transA: true }).transpose([2, 0, 1]);
    return [dq, dk, dv];
  });
}

function withBias(
  product: Tensor,
  bias: Tensor,
  heads: number,
  n: Tensor["shape"][number],
  t: Tensor["shape"][number],
  s: Tensor["shape"][number],
): Tensor {
  if (bias.shape.length <= 2) return product.add(bias);
  return product.reshape([n, heads, t, s]).add(bias).reshape(product.shape);
}

/** A product of stacks of matrices where a marked side has its rows first: [rows, batch, columns]. */
export function rowsFirst(
  a: Tensor,
  b: Tensor,
  options: { a?: boolean; b?: boolean; transA?: boolean; transB?: boolean; alpha?: number },
): Tensor {
  return apply("stackMatmul", [a, b], {
    rowsFirstA: options.a ?? false,
    rowsFirstB: options.b ?? false,
    transA: options.transA ?? false,
    transB: options.transB ?? false,
    alpha: options.alpha ?? 1,
  });
}
