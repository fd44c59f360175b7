// The example of docs/browser.md as a reader would bundle it, in a folder that has the package in its node_modules.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build as esbuild } from "esbuild";
import { chromium } from "playwright-core";
import { build as vite } from "vite";
import { ARGS, browserPath } from "../chromium.js";

const KILOBYTES = 160; // rules of chess as base64 111, code some 20

/** Writes the example's page and program. */
export function writeExample(folder: string): void {
  const [, program = ""] = /```js\n(.*?)```/s.exec(readFileSync("docs/browser.md", "utf8")) ?? [];
  assert.ok(program.includes('from "tabiya/chess"'));
  writeFileSync(join(folder, "app.js"), program);
  writeFileSync(join(folder, "index.html"), '<!doctype html><body><script type="module" src="./app.js"></script>');
}

/** The ways to bundle it; each gives the code. */
export const BUNDLERS: Record<string, (folder: string) => Promise<string>> = {
  async esbuild(folder) {
    const outfile = join(folder, "esbuild.js");
    const entryPoints = [join(folder, "app.js")];
    await esbuild({ entryPoints, bundle: true, minify: true, format: "esm", target: "es2022", outfile });
    return readFileSync(outfile, "utf8");
  },
  async vite(folder) {
    await vite({
      root: folder,
      configFile: false,
      logLevel: "error",
      build: { target: "es2022", modulePreload: false, rolldownOptions: { output: { codeSplitting: false } } },
    });
    const assets = join(folder, "dist/assets");
    const files = readdirSync(assets);
    assert.equal(files.length, 1, files.join());
    return readFileSync(join(assets, files[0]), "utf8");
  },
};

/** Holds a bundle to its size and, where there is a browser, runs it. */
export async function checkBundle(code: string): Promise<void> {
  assert.ok(code.length < KILOBYTES * 1000, `${code.length} bytes`);
  assert.ok(!code.includes("onnxruntime"));
  if (browserPath === undefined) return;
  const browser = await chromium.launch({ executablePath: browserPath, args: ARGS });
  try {
    const page = await browser.newPage();
    await page.setContent("<!doctype html><body></body>");
    await page.addScriptTag({ type: "module", content: code });
    await page.waitForFunction(() => document.body.textContent?.includes("8902 lines"));
  } finally {
    await browser.close();
  }
}
