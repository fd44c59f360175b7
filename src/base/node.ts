import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { files } from "./node-files.js";
import { processes } from "./node-processes.js";
import { threads } from "./node-threads.js";
import type { Platform } from "./platform.js";

// src/base and dist/base are equally deep, so one path serves tests (which run the sources) and the built program.
const wasmFolder = new URL("../../dist/wasm/", import.meta.url);
const netsFolder = new URL("../../nets/", import.meta.url);

export const platform: Platform = {
  ...files,
  ...processes,
  ...threads,
  readWasm: (name) => readFile(new URL(`${name}.wasm`, wasmFolder)),
  shippedPath: (name) => fileURLToPath(new URL(name, netsFolder)),
};
