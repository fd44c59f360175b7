import type { Op, Tensor } from "../graph.js";
import { apply } from "../graph.js";

type Gradient = (dy: Tensor) => (Tensor | undefined)[];
const gradients = new WeakMap<Tensor["node"], Gradient>();

/**
 * `y` with a gradient of one's own: `gradient` gives that of each of `sources`, and the way `y` was really computed
 * is not followed back. For formulas that are shorter or cheaper than those of the single steps.
 */
export function withGradient(y: Tensor, sources: readonly Tensor[], gradient: Gradient): Tensor {
  const result = apply("custom", [y, ...sources]);
  gradients.set(result.node, gradient);
  return result;
}

export const CUSTOM = {
  custom: {
    infer: ([y]) => y,
    gradient: (node, [dy]) => [undefined, ...gradients.get(node)!(dy!)],
    reads: ({ inputs: [y] }) => [y],
    emit: (_, [y]) => y,
    evaluate: (_, [y]) => y,
  },
  /** The first input, but not before the second is known; holds back the recomputation of a checkpoint. */
  after: {
    infer: ([x]) => x,
    gradient: (_, [dy]) => [dy],
    emit({ inputs: [tensor] }, [x, gate], emitter) {
      // A reshape costs nothing, and its shape can be made to depend on a value: 0 times one element of the gate.
      const one = emitter.add("Slice", [emitter.reshape(gate, [-1]), ...[[0], [1], [0]].map((v) => emitter.int64s(v))]);
      const zero = emitter.add("Mul", [emitter.cast(one, "int64"), emitter.int64s([0])]);
      const shape = tensor.shape.map((dim) => (typeof dim === "number" ? dim : -1));
      return emitter.add("Reshape", [x, emitter.add("Add", [emitter.int64s(shape), zero])]);
    },
    evaluate: (_, [x]) => x,
  },
} satisfies Record<string, Op>;
