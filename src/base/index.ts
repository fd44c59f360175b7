export { assert, messageOf, UserError } from "./errors.js";
export { nearest, suggestion } from "./nearest.js";
export type { Platform } from "./platform.js";
export { Random } from "./random.js";
export { compileWasm, createMemory, loadWasm, WasmInstance } from "./wasm.js";
