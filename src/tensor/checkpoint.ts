import { gradients } from "./gradients.js";
import { apply, nodesOf, type Tensor } from "./graph.js";
import { withGradient } from "./ops/custom.js";
import { Parameter } from "./parameter.js";

/**
 * Computes `block` of the inputs as usual, but keeps none of its inner values for the backward pass: they are
 * computed again there. Trades time for memory in deep networks.
 */
export function checkpoint(block: (...inputs: Tensor[]) => Tensor, ...inputs: Tensor[]): Tensor {
  const y = block(...inputs);
  const parameters = nodesOf([y])
    .flatMap((node) => node.outputs)
    .filter((tensor) => tensor instanceof Parameter && tensor.trainable);
  return withGradient(y, [...inputs, ...parameters], (dy) => {
    const held = inputs.map((tensor) => apply("after", [tensor, dy]));
    const again = block(...held);
    const used = new Set(nodesOf([again]).flatMap((node) => node.outputs));
    const sources = [...held, ...parameters];
    const found = gradients(
      again,
      sources.filter((tensor) => used.has(tensor)),
      dy,
    );
    return sources.map((tensor) => (used.has(tensor) ? found.shift() : undefined));
  });
}
