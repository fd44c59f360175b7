/** What can be computed before a model runs: ONNX nodes whose inputs are all known. */
import type { OnnxNode, OnnxTensor } from "./model.js";

/** A known value with its numbers; integers of shapes included, which are far below 2^53. */
export interface Known {
  shape: readonly number[];
  data: Float32Array;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((size, dim) => size * dim, 1);

/** The numbers of a float tensor, in memory of their own. */
export const floatsOf = ({ bytes }: OnnxTensor): Float32Array => new Float32Array(new Uint8Array(bytes).buffer);

/** The numbers of an int64 tensor. */
export const integersOf = ({ bytes }: OnnxTensor): number[] =>
  Array.from(new BigInt64Array(new Uint8Array(bytes).buffer), Number);

export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

const UNARY: Record<string, (x: number) => number> = {
  Neg: (x) => -x,
  Sqrt: Math.sqrt,
  Reciprocal: (x) => 1 / x,
  Exp: Math.exp,
};

const BINARY: Record<string, (a: number, b: number) => number> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => a / b,
};

/** The result of a node on known floats, or undefined if this is not one of the ops that are computed ahead. */
export function compute(node: OnnxNode, inputs: readonly OnnxTensor[]): Known | undefined {
  if (inputs.length === 0 || inputs[0].dtype !== "float32") return undefined;
  const first = { shape: inputs[0].shape, data: floatsOf(inputs[0]) };
  if (node.op in UNARY && inputs.length === 1) return { ...first, data: first.data.map(UNARY[node.op]) };
  if (node.op in BINARY && inputs.length === 2 && inputs[1].dtype === "float32") {
    return combine(BINARY[node.op], first, { shape: inputs[1].shape, data: floatsOf(inputs[1]) });
  }
  if (node.op === "Transpose") return permute(first, node.attributes["perm"] as readonly number[]);
  if (node.op === "Reshape" && inputs[1].dtype === "int64") return reshape(first, integersOf(inputs[1]));
  return undefined;
}

function combine(operation: (a: number, b: number) => number, a: Known, b: Known): Known {
  const rank = Math.max(a.shape.length, b.shape.length);
  const padded = ({ shape }: Known) => [...new Array<number>(rank - shape.length).fill(1), ...shape];
  const [left, right] = [padded(a), padded(b)];
  const shape = left.map((dim, i) => (dim === 1 ? right[i] : dim));
  const data = new Float32Array(sizeOf(shape));
  const index = new Array<number>(rank).fill(0);
  const position = (dims: readonly number[]) =>
    dims.reduce((place, dim, axis) => place * dim + (dim === 1 ? 0 : index[axis]), 0);
  for (let i = 0; i < data.length; i++) {
    data[i] = operation(a.data[position(left)], b.data[position(right)]);
    for (let axis = rank - 1; axis >= 0 && ++index[axis] === shape[axis]; axis--) index[axis] = 0;
  }
  return { shape, data };
}

/** As ONNX Transpose: axis i of the result is axis order[i] of the source. */
export function permute({ shape: from, data: source }: Known, order: readonly number[]): Known {
  const shape = order.map((axis) => from[axis]);
  const strides = order.map((axis) => sizeOf(from.slice(axis + 1)));
  const data = new Float32Array(source.length);
  const index = new Array<number>(shape.length).fill(0);
  for (let i = 0, place = 0; i < data.length; i++) {
    data[i] = source[place];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place += strides[axis];
      if (++index[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return { shape, data };
}

function reshape({ shape: from, data }: Known, target: readonly number[]): Known {
  const shape = target.map((dim, axis) => (dim === 0 ? from[axis] : dim));
  const open = shape.indexOf(-1);
  if (open >= 0) shape[open] = data.length / shape.reduce((size, dim) => (dim === -1 ? size : size * dim), 1);
  return { shape, data };
}
