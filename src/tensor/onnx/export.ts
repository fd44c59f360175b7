import type { Tensor } from "../graph.js";
import { Emitter } from "./emit.js";
import { type OnnxModel, writeOnnx } from "./model.js";
import { simplify } from "./simplify.js";

/** The forward part alone, as plain data: batch norms folded, dropout gone, the parameters' present values inside. */
export const emitInference = (results: Readonly<Record<string, Tensor>>): OnnxModel =>
  simplify(new Emitter("inference").finish(results));

/** The same as the bytes of a model file, which any ONNX Runtime runs; op by op as it was built if not `simplified`. */
export const exportOnnx = (results: Readonly<Record<string, Tensor>>, { simplified = true } = {}): Uint8Array =>
  writeOnnx(simplified ? emitInference(results) : new Emitter("inference").finish(results));
