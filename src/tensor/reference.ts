/**
 * Runs a graph in plain 64-bit JavaScript: slow, obvious, and independent of ONNX. The tests hold every op and every
 * gradient against it. Truth values are 0 and 1.
 */
import { assert } from "#base";
import { nodesOf, type Op, type Tensor } from "./graph.js";
import { OPS } from "./ops/index.js";
import { stridesOf } from "./shape.js";

export interface Array64 {
  shape: readonly number[];
  data: Float64Array;
}

export const count = (shape: readonly number[]): number => shape.reduce((size, dim) => size * dim, 1);

export const array64 = (shape: readonly number[], data?: ArrayLike<number>): Array64 => ({
  shape,
  data: data ? Float64Array.from(data) : new Float64Array(count(shape)),
});

/** Fills an array by asking for the value at every index. */
export function fill(shape: readonly number[], value: (index: readonly number[]) => number): Array64 {
  const out = array64(shape);
  const index = new Array<number>(shape.length).fill(0);
  for (let i = 0; i < out.data.length; i++) {
    out.data[i] = value(index);
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis] === shape[axis]; axis--) index[axis] = 0;
  }
  return out;
}

/** The element at an index; an axis of size 1 answers for every index, and missing leading axes are ignored. */
export function at({ shape, data }: Array64, index: readonly number[]): number {
  const strides = stridesOf(shape);
  const skipped = index.length - shape.length;
  let offset = 0;
  for (let axis = 0; axis < shape.length; axis++) {
    if (shape[axis] !== 1) offset += index[axis + skipped] * strides[axis];
  }
  return data[offset];
}

/** The values of the results, given those of inputs and of parameters that shall differ from their own. */
export function evaluate(results: readonly Tensor[], given: ReadonlyMap<Tensor, Array64>): Array64[] {
  const values = new Map<Tensor, Array64>(given);
  for (const node of nodesOf(results)) {
    if (node.outputs.every((output) => values.has(output))) continue;
    const inputs = node.inputs.map((tensor) => values.get(tensor)!);
    const found = (OPS[node.op] as Op).evaluate(node, inputs);
    (Array.isArray(found) ? found : [found]).forEach((value, i) => {
      assert(value.data.length === count(value.shape), `${node.op}: size of the reference result`);
      values.set(node.outputs[i], value);
    });
  }
  return results.map((tensor) => values.get(tensor)!);
}
