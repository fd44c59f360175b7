import { nodesOf, type Tensor } from "../graph.js";
import { Emitter } from "./emit.js";
import { type OnnxModel, writeOnnx } from "./model.js";
import { simplify } from "./simplify.js";

/** The forward part alone, as plain data: batch norms folded, dropout gone, the parameters' present values inside. */
export const emitInference = (results: Readonly<Record<string, Tensor>>): OnnxModel =>
  simplify(new Emitter("inference").finish(results));

/**
 * The same as the bytes of a model file, which any ONNX Runtime runs; op by op as it was built if not `simplified`. With
 * `products`, 3x3 convolutions are products of matrices: much faster for batches, and everywhere in a browser.
 */
export function exportOnnx(
  results: Readonly<Record<string, Tensor>>,
  { simplified = true, products = false } = {},
): Uint8Array {
  const model = new Emitter("inference", products).finish(results);
  return writeOnnx(simplified ? simplify(model) : model);
}

/** Whether there are convolutions, so that `products` makes another model. */
export const convolves = (results: Readonly<Record<string, Tensor>>): boolean =>
  nodesOf(Object.values(results)).some(({ op }) => op === "conv3x3");
