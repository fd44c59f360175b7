import { UserError } from "#base";
import { constant, nodesOf, type Op, type Tensor } from "./graph.js";
import { OPS } from "./ops/index.js";

/**
 * The gradients of `loss` (summed, if it is not one number) with respect to tensors it depends on, as further nodes
 * of the same graph. `seed` is the gradient of the loss itself, 1 unless given.
 */
export function gradients(loss: Tensor, sources: readonly Tensor[], seed?: Tensor): Tensor[] {
  const found = new Map<Tensor, Tensor>([[loss, seed ?? constant(1).broadcastTo(loss.shape)]]);
  const nodes = nodesOf([loss]);
  const useful = new Set(sources.map((tensor) => tensor.node)); // nodes through which the loss depends on a source
  for (const node of nodes) if (node.inputs.some((tensor) => useful.has(tensor.node))) useful.add(node);

  for (const node of nodes.reverse()) {
    if (!useful.has(node)) continue;
    const dys = node.outputs.map((output) => found.get(output));
    const op = OPS[node.op] as Op;
    if (dys.every((dy) => dy === undefined) || !op.gradient) continue;
    op.gradient(node, dys).forEach((gradient, i) => {
      const source = node.inputs[i];
      if (!gradient || !useful.has(source.node) || source.dtype !== "float32") return;
      const before = found.get(source);
      found.set(source, before ? before.add(gradient) : gradient);
    });
  }
  return sources.map((tensor) => {
    const gradient = found.get(tensor);
    if (!gradient) {
      const name = tensor.node.attributes.name ?? `a tensor of shape [${tensor.shape}]`;
      throw new UserError("TENSOR_UNUSED", `The loss does not depend on ${name}, so it has no gradient.`);
    }
    return gradient;
  });
}
