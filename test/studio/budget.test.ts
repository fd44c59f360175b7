// What the built page weighs: a first game must not wait for anything it does not need.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { test } from "vitest";

const PAGE = "dist/page";
const files = existsSync(PAGE)
  ? readdirSync(PAGE, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"))
  : [];
const gzipped = (path: string) => gzipSync(readFileSync(join(PAGE, path)), { level: 9 }).length;

/** A script and all it imports at once. */
function closure(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found;
  found.add(entry);
  const source = readFileSync(join(PAGE, entry), "utf8");
  for (const [, path] of source.matchAll(/(?:from|import)\s*"(\.[^"]+\.js)"/g))
    closure(join(dirname(entry), path), found);
  return found;
}

test("the page's own code is at most 125 kB gzipped", () => {
  const html = readFileSync(join(PAGE, "index.html"), "utf8");
  const linked = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path);
  const scripts = linked.filter((path) => path.endsWith(".js")).flatMap((path) => [...closure(path)]);
  const styles = linked.filter((path) => path.endsWith(".css"));
  const total = ["index.html", ...new Set([...scripts, ...styles])].reduce((sum, path) => sum + gzipped(path), 0);
  assert.ok(total <= 125_000, `${total} bytes`);
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
