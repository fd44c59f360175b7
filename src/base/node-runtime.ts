import { UserError } from "./errors.js";
import type { Runtime } from "./platform.js";

/** ONNX Runtime for Node. It takes its own choice of device. */
export async function loadRuntime(_device: string): Promise<Runtime> {
  try {
    return await import("onnxruntime-node");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new UserError(
      "RUNTIME_MISSING",
      "This needs ONNX Runtime, which is not installed: it is large, and playing, analysing and NNUE training do without.\n" +
        "Install it beside tabiya: npm install onnxruntime-node\n" +
        "(where its own installer may not download, set ONNXRUNTIME_NODE_INSTALL=skip before.)",
    );
  }
}
