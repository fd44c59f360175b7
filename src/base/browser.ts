import type { Platform } from "./platform.js";

export const platform: Platform = {
  async readWasm(name) {
    const url = new URL(`../wasm/${name}.wasm`, import.meta.url);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
  },
};
