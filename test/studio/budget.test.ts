// What the built page weighs: a first game must not wait for anything it does not need.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { assetBytes, closure, codeBytes, PAGE, pageFiles } from "../../bench/page-files.mjs";

const files = pageFiles();

test("the page's own code is at most 125 kB gzipped", () => {
  const total = codeBytes();
  assert.ok(total <= 125_000, `${total} bytes`);
});

test("a first game loads at most 80 kB of rules and 1.2 MB of network, another family 3.7 MB, gzipped", () => {
  const { core, network, runtime } = assetBytes();
  assert.ok(core <= 80_000, `core: ${core} bytes`);
  assert.ok(network < 1_250_000, `network: ${network} bytes`);
  assert.ok(runtime <= 3_700_000, `runtime: ${runtime} bytes`);
});

test("a player's worker and the search's need no ONNX Runtime", () => {
  for (const worker of ["web/page/minds/mind-worker.js", "search/alphabeta/search-worker.js"]) {
    const loaded = [...closure(worker)];
    assert.ok(!loaded.some((path) => /ort/.test(path)), loaded.join(", "));
  }
});

test("there are five .wasm files: the chess core and the trainer twice each, ONNX Runtime once", () => {
  const wasm = files.filter((path) => path.endsWith(".wasm")).sort();
  assert.deepEqual(wasm, [
    "ort/ort-wasm-simd-threaded.wasm",
    "wasm/chess-shared.wasm",
    "wasm/chess.wasm",
    "wasm/train-shared.wasm",
    "wasm/train.wasm",
  ]);
});

test("no file is larger than static hosts take, 25 MiB", () => {
  for (const path of files) assert.ok(statSync(join(PAGE, path)).size <= 25 * 2 ** 20, path);
});
