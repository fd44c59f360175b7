// Brings a clone to the point where everything runs: packages installed, AssemblyScript and TypeScript compiled.
// Does only what is missing or out of date, so it may stand in front of every command.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
const windows = process.platform === "win32";

/** Runs a program and ends this one, with a readable message, if it fails. */
function run(what, command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", 2, 2], shell: windows });
  if (status === 0) return;
  console.error(`\n${what} failed${error ? `: ${error.message}` : ""}. The output above says why.`);
  process.exit(1);
}

const node = (what, script, ...args) => run(what, process.execPath, [script, ...args]);

const SOURCES = /\.(ts|json|mjs)$/;
const PAGE_SOURCES = /\.(ts|json|mjs|svelte|css|html|svg|csv|js)$/;

/** A fingerprint of every source file below the folders. */
function fingerprint(paths, sources = SOURCES) {
  const hash = createHash("sha256");
  for (const path of paths) {
    if (!existsSync(path)) continue;
    const files = path.includes(".") ? [""] : readdirSync(path, { recursive: true }).map(String).sort();
    for (const file of files) {
      const full = file ? join(path, file) : path;
      if (sources.test(full)) hash.update(full).update(readFileSync(full));
    }
  }
  return hash.digest("hex");
}

/** Does `work` unless its inputs are as they were when it last succeeded. */
async function once(name, print, work) {
  const stamp = `dist/.stamp-${name}`;
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === print) return;
  await work();
  mkdirSync("dist", { recursive: true });
  writeFileSync(stamp, print);
}

const lock = createHash("sha256").update(readFileSync("package-lock.json")).digest("hex");
const installed = existsSync("node_modules/.tabiya") && readFileSync("node_modules/.tabiya", "utf8") === lock;
if (!installed) {
  console.error("installing packages (once) ...");
  // Not `npm ci`, which would throw away what is there. `--no-save` keeps the lock as it is.
  run("npm install", windows ? "npm.cmd" : "npm", ["install", "--no-save", "--no-audit", "--no-fund"]);
  writeFileSync("node_modules/.tabiya", lock);
}

await once("wasm", fingerprint(["assembly", "package-lock.json", "scripts/setup.mjs"]), () => {
  console.error("compiling AssemblyScript ...");
  mkdirSync("dist/wasm", { recursive: true });
  for (const name of ["chess", "train"]) {
    if (!existsSync(`assembly/${name}/index.ts`)) continue;
    for (const shared of [false, true]) {
      node(
        "The AssemblyScript compiler",
        "node_modules/assemblyscript/bin/asc.js",
        `assembly/${name}/index.ts`,
        "-o",
        `dist/wasm/${name}${shared ? "-shared" : ""}.wasm`,
        "-O3",
        "--noAssert",
        "--runtime",
        "stub",
        "--importMemory",
        "--zeroFilledMemory",
        "--initialMemory",
        "32",
        "--maximumMemory",
        "65536",
        "--enable",
        "simd",
        "--enable",
        "bulk-memory",
        ...(shared ? ["--enable", "threads", "--sharedMemory"] : []),
      );
    }
  }
  // For bundlers, which take modules along but not files: see src/base/browser.ts.
  const chess = readFileSync("dist/wasm/chess.wasm").toString("base64");
  writeFileSync("dist/wasm/chess.js", `export default "${chess}";\n`);
});

/**
 * The program and its workers as few files: Node needs a millisecond for every module it loads, and the program has hundreds.
 * The files lie as deep below the root as the modules, which find others relative to themselves. Libraries written as
 * CommonJS ask for `require`.
 */
async function bundle() {
  const [{ build }, { WORKERS }] = await Promise.all([import("esbuild"), import("../dist/base/worker-table.js")]);
  for (const folder of ["chunks", "workers"]) rmSync(`dist/${folder}`, { recursive: true, force: true });
  const workers = Object.keys(WORKERS).filter((name) => WORKERS[name].startsWith("node"));
  await build({
    entryPoints: {
      "cli/main": "dist/cli/start.js",
      ...Object.fromEntries(workers.map((name) => [`workers/${name}`, `dist/${name}.js`])),
    },
    outdir: "dist",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["onnxruntime-node", "onnxruntime-web", "bullmq", "ioredis"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    minifySyntax: true,
    minifyWhitespace: true, // but not names, for the reports of bugs
    lineLimit: 200,
    logLevel: "warning",
  });
}

await once("typescript", fingerprint(["src", "tsconfig.json", "package-lock.json", "scripts/setup.mjs"]), async () => {
  console.error("compiling TypeScript ...");
  const made = ["wasm", "page", "chunks", "workers"]; // by the other steps
  for (const folder of existsSync("dist") ? readdirSync("dist", { withFileTypes: true }) : []) {
    if (folder.isDirectory() && !made.includes(folder.name) && !existsSync(`src/${folder.name}`))
      rmSync(`dist/${folder.name}`, { recursive: true });
  }
  node("The TypeScript compiler", "node_modules/typescript/bin/tsc", "-p", "tsconfig.json");
  await bundle();
  chmodSync("dist/cli/main.js", 0o755);
});

await once(
  "page",
  fingerprint(["src", "assembly", "nets", "vite.config.ts", "package-lock.json"], PAGE_SOURCES),
  () => {
    console.error("building the page ...");
    node("Vite", "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn");
  },
);

// `npx tabiya` inside the clone.
const bin = "node_modules/.bin/tabiya";
if (windows) writeFileSync(`${bin}.cmd`, `@node "%~dp0\\..\\..\\dist\\cli\\main.js" %*\r\n`);
else if (!existsSync(bin)) {
  rmSync(bin, { force: true });
  symlinkSync("../../dist/cli/main.js", bin);
}
