/**
 * Shapes: lists of dimensions known when the graph is built. One dimension may be a symbol such as "n" (the batch),
 * and stays one through reshapes and concatenations: "64n" is 64 times it, "n+1" one more.
 */
export type Dim = number | string;
/** The dimensions of a tensor, the first one outermost. */
export type Shape = readonly Dim[];

interface Affine {
  symbol: string; // "" if the dimension is a plain number
  times: number;
  plus: number;
}

function parseDim(dim: Dim): Affine {
  if (typeof dim === "number") return { symbol: "", times: 0, plus: dim };
  const match = /^(\d*)([A-Za-z_]\w*)(?:\+(\d+))?$/.exec(dim);
  if (!match) throw new Error(`"${dim}" is not a dimension: write a whole number or a name such as "n"`);
  return { symbol: match[2], times: match[1] === "" ? 1 : Number(match[1]), plus: Number(match[3] ?? 0) };
}

function formatDim({ symbol, times, plus }: Affine): Dim {
  if (symbol === "" || times === 0) return plus;
  return `${times === 1 ? "" : times}${symbol}${plus === 0 ? "" : `+${plus}`}`;
}

/** a + b, or undefined if the sum of the two cannot be written. */
export function addDims(a: Dim, b: Dim): Dim | undefined {
  const [x, y] = [parseDim(a), parseDim(b)];
  if (x.symbol && y.symbol && x.symbol !== y.symbol) return undefined;
  return formatDim({ symbol: x.symbol || y.symbol, times: x.times + y.times, plus: x.plus + y.plus });
}

/** a * b, or undefined if both are symbols. */
export function multiplyDims(a: Dim, b: Dim): Dim | undefined {
  const [x, y] = [parseDim(a), parseDim(b)];
  if (x.symbol && y.symbol) return undefined;
  const [symbolic, factor] = x.symbol ? [x, y.plus] : [y, x.plus];
  return formatDim({ symbol: symbolic.symbol, times: symbolic.times * factor, plus: symbolic.plus * factor });
}

/** a / b if it is whole for every value of the symbol, else undefined. */
export function divideDims(a: Dim, b: Dim): Dim | undefined {
  if (a === b) return 1;
  const [x, y] = [parseDim(a), parseDim(b)];
  if (y.symbol) {
    const factor = x.times / y.times;
    return x.symbol === y.symbol && Number.isInteger(factor) && x.plus === y.plus * factor ? factor : undefined;
  }
  if (y.plus === 0 || x.times % y.plus !== 0 || x.plus % y.plus !== 0) return undefined;
  return formatDim({ symbol: x.symbol, times: x.times / y.plus, plus: x.plus / y.plus });
}

/** How many elements, or undefined if two symbols would have to be multiplied. */
export function sizeOf(shape: Shape): Dim | undefined {
  let size: Dim | undefined = 1;
  for (const dim of shape) size = size === undefined ? undefined : multiplyDims(size, dim);
  return size;
}

export const formatShape = (shape: Shape): string => `[${shape.join(", ")}]`;

export const sameShape = (a: Shape, b: Shape): boolean => a.length === b.length && a.every((dim, i) => dim === b[i]);

/** The shape two tensors are stretched to in an elementwise op (as in NumPy), or undefined if they do not fit. */
export function broadcastShapes(a: Shape, b: Shape): Shape | undefined {
  const rank = Math.max(a.length, b.length);
  const out: Dim[] = [];
  for (let i = 0; i < rank; i++) {
    const x = a[a.length - rank + i] ?? 1;
    const y = b[b.length - rank + i] ?? 1;
    if (x !== y && x !== 1 && y !== 1) return undefined;
    out.push(x === 1 ? y : x);
  }
  return out;
}

/** Sizes in elements between neighbours along each axis of a row-major array. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length);
  let stride = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}
