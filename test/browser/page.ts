import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { ARGS, browserPath } from "../chromium.js";

export { browserPath };

const TYPES: Record<string, string> = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };

const WORKERS = ["/search/alphabeta/search-worker.js"];

/** With these a page is isolated from other origins, and its threads may share memory. */
const ISOLATED = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/** A program and all it imports as one file, with the browser side of every platform door. */
async function bundle(source: { contents: string } | { file: string }): Promise<string> {
  const { outputFiles } = await build({
    ...("contents" in source
      ? { stdin: { contents: source.contents, resolveDir: process.cwd(), loader: "js" } }
      : { entryPoints: [source.file] }),
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    conditions: ["browser"],
    target: "es2022",
  });
  return outputFiles[0].text;
}

/**
 * Bundles a program as a page would have it, runs it in headless Chromium from a server on this machine, and returns what
 * its default export resolves to.
 */
export async function runInPage(source: string, { isolated = false } = {}): Promise<unknown> {
  const files = new Map([
    ["/", "<!doctype html><title>test</title>"],
    ["/app/page.js", await bundle({ contents: source })],
  ]);
  for (const path of WORKERS) files.set(path, await bundle({ file: `dist${path}` }));
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    // Bundles stand at different depths, and each looks for the folder wasm beside its own.
    const path = pathname.replace(/^.*(?=\/wasm\/)/, "");
    const folder = path.startsWith("/nets/") ? "." : "dist"; // networks stand beside the page
    const body = files.get(path) ?? (await readFile(`${folder}${path}`).catch(() => undefined));
    response
      .writeHead(body === undefined ? 404 : 200, {
        "content-type": TYPES[extname(path)] ?? "text/html",
        ...(isolated ? ISOLATED : {}),
      })
      .end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const browser = await chromium.launch({ executablePath: browserPath, args: ARGS });
  try {
    const page = await browser.newPage();
    const address = server.address() as { port: number };
    await page.goto(`http://127.0.0.1:${address.port}/`);
    return await page.evaluate("import('/app/page.js').then((module) => module.default)");
  } finally {
    await browser.close();
    server.close();
  }
}
