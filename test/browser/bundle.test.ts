// The example of docs/browser.md as a reader would bundle it, against dist: build first.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build as esbuild } from "esbuild";
import { chromium } from "playwright-core";
import { build as vite } from "vite";
import { afterAll, test } from "vitest";
import { browserPath } from "./page.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const [, program = ""] = /```js\n(.*?)```/s.exec(readFileSync("docs/browser.md", "utf8")) ?? [];
mkdirSync(join(folder, "node_modules"));
symlinkSync(process.cwd(), join(folder, "node_modules/tabiya"), "junction");
writeFileSync(join(folder, "app.js"), program);
writeFileSync(join(folder, "index.html"), '<!doctype html><body><script type="module" src="./app.js"></script>');

const KILOBYTES = 160; // rules of chess as base64 111, code some 20

const BUNDLERS: Record<string, () => Promise<string>> = {
  async esbuild() {
    const outfile = join(folder, "esbuild.js");
    const entryPoints = [join(folder, "app.js")];
    await esbuild({ entryPoints, bundle: true, minify: true, format: "esm", target: "es2022", outfile });
    return readFileSync(outfile, "utf8");
  },
  async vite() {
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

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`${name} bundles the rules of chess with nothing to copy, and without ONNX Runtime`, async () => {
    const code = await bundle();
    assert.ok(code.length < KILOBYTES * 1000, `${code.length} bytes`);
    assert.ok(!code.includes("onnxruntime"));
    if (browserPath === undefined) return;
    const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
    try {
      const page = await browser.newPage();
      await page.setContent("<!doctype html><body></body>");
      await page.addScriptTag({ type: "module", content: code });
      await page.waitForFunction(() => document.body.textContent?.includes("8902 lines"));
    } finally {
      await browser.close();
    }
  }, 60_000);
}
