// What the built page weighs: which files a visitor loads before the first move, gzipped.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

export const PAGE = "dist/page";
/** The file of the network that a first game is played against. */
export const NETWORK = `nets/${JSON.parse(readFileSync("nets/manifest.json", "utf8")).find(({ family }) => family === "nnue").file}`;

/** All files of the page. */
export const pageFiles = () =>
  existsSync(PAGE)
    ? readdirSync(PAGE, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"))
    : [];

const gzipped = (path) => gzipSync(readFileSync(join(PAGE, path)), { level: 9 }).length;

/** A script and all it imports at once. */
export function closure(entry, found = new Set()) {
  if (found.has(entry)) return found;
  found.add(entry);
  const source = readFileSync(join(PAGE, entry), "utf8");
  for (const [, path] of source.matchAll(/(?:from|import)\s*"(\.[^"]+\.js)"/g))
    closure(join(dirname(entry), path), found);
  return found;
}

/** Bytes of the page's own code: its document, its scripts and styles. */
export function codeBytes() {
  const html = readFileSync(join(PAGE, "index.html"), "utf8");
  const linked = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path]) => path);
  const scripts = linked.filter((path) => path.endsWith(".js")).flatMap((path) => [...closure(path)]);
  const styles = linked.filter((path) => path.endsWith(".css"));
  return ["index.html", ...new Set([...scripts, ...styles])].reduce((sum, path) => sum + gzipped(path), 0);
}

/** Bytes of what else a first game needs, and of what only other families need. */
export const assetBytes = () => ({
  core: gzipped("wasm/chess.wasm"),
  network: gzipped(NETWORK),
  runtime: gzipped("ort/ort-wasm-simd-threaded.wasm") + gzipped("ort/ort-wasm-simd-threaded.mjs"),
});
