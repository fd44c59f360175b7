import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { findProgram } from "#base";

/** The browser the system has, or undefined: then browser tests say that they were skipped. */
export const browserPath: string | undefined = (await findProgram("chromium")) ?? (await findProgram("google-chrome"));

const TYPES: Record<string, string> = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Bundles a program as a page would have it (the browser side of every platform door), runs it in headless Chromium
 * from a server on this machine, and returns what its default export resolves to.
 */
export async function runInPage(source: string): Promise<unknown> {
  const bundle = await build({
    stdin: { contents: source, resolveDir: process.cwd(), loader: "js" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    conditions: ["browser"],
    target: "es2022",
  });
  const files = new Map<string, string | Uint8Array>([
    ["/", "<!doctype html><title>test</title>"],
    ["/app/page.js", bundle.outputFiles[0].text], // as deep as base/ in dist, so that ../wasm is found
  ]);
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    const body = files.get(path) ?? (await readFile(`dist${path}`).catch(() => undefined));
    response
      .writeHead(body === undefined ? 404 : 200, { "content-type": TYPES[extname(path)] ?? "text/html" })
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
