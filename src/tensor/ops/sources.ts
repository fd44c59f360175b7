import type { DType, Op } from "../graph.js";
import { array64 } from "../reference.js";
import type { Shape } from "../shape.js";

const missing = (node: { attributes: { name?: unknown } }): never => {
  throw new Error(`input ${node.attributes.name} was not given`);
};

/** Where values come from. The emitter declares these itself. */
export const SOURCES = {
  input: {
    infer: (_, { shape, dtype }) => ({ shape: shape as Shape, dtype: dtype as DType }),
    emit: (node, _, emitter) => emitter.input(node.outputs[0], node.attributes.name as string),
    evaluate: (node) => missing(node),
  },
  parameter: {
    infer: (_, { shape }) => ({ shape: shape as Shape, dtype: "float32" }),
    emit: (node, _, emitter) => emitter.parameter(node.outputs[0]),
    evaluate: ({ attributes: { data, shape } }) => array64(shape as readonly number[], data as Float32Array),
  },
  constant: {
    infer: (_, { shape, dtype }) => ({ shape: shape as Shape, dtype: dtype as DType }),
    emit: ({ attributes: { data, shape, dtype } }, _, emitter) =>
      emitter.constant(data as Float32Array, shape as readonly number[], dtype as DType),
    evaluate: ({ attributes: { data, shape } }) =>
      array64(shape as readonly number[], Array.from(data as ArrayLike<number>, Number)),
  },
} satisfies Record<string, Op>;
