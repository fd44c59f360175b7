// Builds the studio's page into dist/page, from the compiled folders in dist (package.json's doors lead there): what the
// page runs is what Node runs. Every address is relative, so the page works below any path.
import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

const root = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Files that our code asks for by their names, beside the folder of scripts: see src/base/browser.ts. */
const COPIES = [
  ["dist/wasm", "wasm"],
  ["nets", "nets"],
  ["node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.mjs", "ort/ort-wasm-simd-threaded.mjs"],
  ["node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm", "ort/ort-wasm-simd-threaded.wasm"],
] as const;

const copies = {
  name: "copies",
  closeBundle() {
    for (const [from, to] of COPIES) cpSync(root(from), root(`dist/page/${to}`), { recursive: true });
    writeServiceWorker();
  },
};

/** The service worker keeps all that a game needs; ONNX Runtime and its networks only once they were used. */
function writeServiceWorker(): void {
  const all = readdirSync(root("dist/page"), { recursive: true, encoding: "utf8" }).map((path) =>
    path.replaceAll("\\", "/"),
  );
  const kept = all.filter(
    (path) => statSync(root(`dist/page/${path}`)).isFile() && !/^ort\/|\/ort|^sw\.js$|\.safetensors$/.test(path),
  );
  const hash = createHash("sha256");
  for (const path of kept.sort()) hash.update(path).update(readFileSync(root(`dist/page/${path}`)));
  const source = readFileSync(root("src/web/page/sw.js"), "utf8")
    .replace("__VERSION__", hash.digest("hex").slice(0, 12))
    .replace("__FILES__", JSON.stringify(["./", ...kept]));
  writeFileSync(root("dist/page/sw.js"), source);
}

/** Programs of the page besides its own, by the paths below dist by which `startWorker` names them. */
const WORKERS = {
  "data/import-worker": root("dist/data/import-worker.js"),
  "search/alphabeta/search-worker": root("dist/search/alphabeta/search-worker.js"),
  "tensor/session-worker": root("dist/tensor/session-worker.js"),
  "training/policy-value/plane-worker": root("dist/training/policy-value/plane-worker.js"),
  "web/page/minds/mind-worker": root("src/web/page/minds/mind-worker.ts"),
  "web/page/minds/train-worker": root("src/web/page/minds/train-worker.ts"),
};

export default defineConfig({
  root: root("src/web/page"),
  base: "./",
  plugins: [svelte({ configFile: false }), copies],
  // Else every .wasm that ONNX Runtime names is put into the bundle.
  resolve: { conditions: ["onnxruntime-web-use-extern-wasm", "module", "browser", "development|production"] },
  build: {
    outDir: root("dist/page"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false, // it needs a document, which workers have not
    rolldownOptions: {
      checks: { pluginTimings: false, bundlerTimings: false },
      input: { index: root("src/web/page/index.html"), ...WORKERS },
      // Workers start each other, so all are parts of one build: what they share is loaded once.
      output: { entryFileNames: ({ name }) => (name in WORKERS ? "[name].js" : "assets/[name]-[hash].js") },
    },
  },
});
