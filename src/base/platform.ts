/**
 * What the rest of the product needs from the machine it runs on. `node.ts` and `browser.ts` each provide it; the
 * `#platform` door of package.json picks one. Nothing above `base` knows which.
 */
export interface Platform {
  /** The bytes of a compiled module of ours, by its name in dist/wasm. */
  readWasm(name: string): Promise<BufferSource>;
}
