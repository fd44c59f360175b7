import { beside } from "./browser-threads.js";
import type { Runtime } from "./platform.js";

/** ONNX Runtime for a page. */
export async function loadRuntime(device: string): Promise<Runtime> {
  // the build without graphics is half as large (14 MB) and opens a session in half the time
  const runtime = await (device === "cpu" ? import("onnxruntime-web/wasm") : import("onnxruntime-web"));
  runtime.env.wasm.wasmPaths = beside("ort/").href;
  if (!globalThis.crossOriginIsolated) runtime.env.wasm.numThreads = 1; // threads need shared memory
  return runtime;
}
