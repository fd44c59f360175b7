// The built page in a headless Chromium, from a plain static server below some folder: what a static host would do.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { ShippedNet } from "#models";
import { ARGS, browserPath } from "../chromium.js";

export { browserPath };

const TYPES: Record<string, string> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".wasm": "application/wasm",
};
/** The network of the box that a first game is played against. */
export const NNUE = (JSON.parse(readFileSync("nets/manifest.json", "utf8")) as ShippedNet[]).find(
  ({ family }) => family === "nnue",
)!.file;
export const NNUE_NAME = NNUE.replace(/\.[a-z]+$/, "");
const FOLDER = "/some/folder/";
const SHOTS = "work/screenshots"; // not kept by git
export const SIZES = {
  desktop: { viewport: { width: 1366, height: 820 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

/** Opens the page before the tests of a file, if there is a browser, and closes it after them. */
export function useStudio(take: (studio: Studio) => void): void {
  let opened: Studio | undefined;
  beforeAll(async () => {
    if (!browserPath) return;
    opened = await Studio.open();
    take(opened);
  });
  afterAll(() => opened?.close());
}

export class Studio {
  readonly problems: string[] = []; // errors of pages, and requests to anywhere else

  private constructor(
    private readonly server: Server,
    readonly browser: Browser,
    readonly address: string,
  ) {}

  static async open(): Promise<Studio> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const path = normalize(pathname.slice(FOLDER.length) || "index.html");
      try {
        const body = pathname.startsWith(FOLDER) ? readFileSync(join("dist/page", path)) : undefined;
        response
          .writeHead(body ? 200 : 404, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" })
          .end(body);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const browser = await chromium.launch({ executablePath: browserPath, args: ARGS });
    return new Studio(server, browser, `http://127.0.0.1:${(server.address() as AddressInfo).port}${FOLDER}`);
  }

  /** A page with a storage of its own, at a view as "play"; `prepare` meets it before it asks for anything. */
  async visit(
    hash: string,
    options: BrowserContextOptions = {},
    prepare?: (page: Page) => Promise<unknown>,
  ): Promise<Page> {
    const context = await this.browser.newContext({
      ...SIZES.desktop,
      colorScheme: "dark",
      serviceWorkers: "block",
      reducedMotion: "reduce",
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(200_000); // on a machine busy with other tests
    page.on("pageerror", (error) => this.problems.push(error.message));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.address) && !/^(blob|data):/.test(url)) this.problems.push(`asks for ${url}`);
    });
    await prepare?.(page);
    await page.goto(`${this.address}#/${hash}`);
    return page;
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.close();
  }
}

/** Keeps a picture of a page for people to look at. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}/${name}.png`, fullPage: true });
}

/** Keeps a picture, and asserts that axe finds nothing serious and that nothing is too wide. */
export async function inspect(page: Page, name: string): Promise<void> {
  await shoot(page, name);
  const { violations } = await new AxeBuilder({ page }).analyze();
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0].html.slice(0, 160)}`),
    [],
  );
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
}

/** The same in both widths and themes, of a page whose state took long to reach. */
export async function inspectAll(page: Page, name: string): Promise<void> {
  for (const [size, { viewport }] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
      await inspect(page, `${name}-${size}-${colorScheme}`);
    }
  }
  await page.setViewportSize(SIZES.desktop.viewport);
}

/** The middle of a square on the board of a page, White below. */
export async function squareAt(page: Page, square: string): Promise<{ x: number; y: number }> {
  const box = await page.locator("cg-board").first().boundingBox();
  if (!box) throw new Error("there is no board");
  const [file, rank] = [square.charCodeAt(0) - 97, Number(square[1]) - 1];
  return { x: box.x + ((file + 0.5) * box.width) / 8, y: box.y + ((7 - rank + 0.5) * box.height) / 8 };
}

export async function drag(page: Page, from: string, to: string): Promise<void> {
  const [a, b] = [await squareAt(page, from), await squareAt(page, to)];
  await page.mouse.move(a.x, a.y);
  await page.mouse.down();
  await page.mouse.move((a.x + b.x) / 2, (a.y + b.y) / 2);
  await page.mouse.move(b.x, b.y);
  await page.mouse.up();
}

export async function click(page: Page, ...squares: string[]): Promise<void> {
  for (const square of squares) {
    const { x, y } = await squareAt(page, square);
    await page.mouse.click(x, y);
  }
}

export async function type(page: Page, move: string): Promise<void> {
  await page.getByLabel("Type a move").fill(move);
  await page.keyboard.press("Enter");
}

/** The moves of the main line, as the list shows them. */
export const moves = (page: Page): Promise<string[]> =>
  page.getByRole("list", { name: "Moves" }).locator("button.move").allInnerTexts();

/** Waits until the list has so many moves. */
export async function waitForPlies(page: Page, plies: number): Promise<void> {
  await page.waitForFunction(
    (count) => document.querySelectorAll("ol[aria-label=Moves] button.move").length >= count,
    plies,
  );
}
