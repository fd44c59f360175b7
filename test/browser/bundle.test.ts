// The example of docs/browser.md against dist: build first. test/package.test.ts does the same with the packed package.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { BUNDLERS, checkBundle, writeExample } from "./bundlers.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
mkdirSync(join(folder, "node_modules"));
symlinkSync(process.cwd(), join(folder, "node_modules/tabiya"), "junction");
writeExample(folder);

for (const [name, bundle] of Object.entries(BUNDLERS)) {
  test(`${name} bundles the rules of chess with nothing to copy, and without ONNX Runtime`, async () => {
    await checkBundle(await bundle(folder));
  }, 60_000);
}
