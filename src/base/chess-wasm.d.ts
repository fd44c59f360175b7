/** dist/wasm/chess.wasm as base64, made by scripts/setup.mjs: a bundler takes it along without being told. */
declare module "#chess-wasm" {
  const base64: string;
  export default base64;
}
