// The page with its server, as `tabiya studio` runs them in a folder.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { browserPath, SIZES } from "./studio.js";

const MAIN = resolve("dist/cli/main.js");

export class Served {
  readonly folder = mkdtempSync(join(tmpdir(), "tabiya-studio-"));
  readonly problems: string[] = []; // of pages
  address = "";
  private server: ChildProcess | undefined;
  private browser: Browser | undefined;

  /** `disk` is the size of the folder's own disk, as "64k"; it needs `canMount`. */
  constructor(
    private readonly options: readonly string[] = [],
    private readonly disk = "",
  ) {}

  async open(): Promise<void> {
    this.address = await this.start(0);
    this.browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
  }

  /** Starts the studio and returns the address it prints. */
  async start(port: number): Promise<string> {
    const own = [process.execPath, MAIN, "studio", "--port", String(port), "--no-open", ...this.options];
    const mount = `mount -t tmpfs -o size=${this.disk} none "$0" && cd "$0" && exec "$@"`;
    const [program, ...args] = this.disk === "" ? own : ["unshare", "-rm", "sh", "-c", mount, this.folder, ...own];
    this.server = spawn(program, args, { cwd: this.folder });
    let text = "";
    for await (const chunk of this.server.stdout ?? []) {
      text += chunk;
      const found = /^Tabiya studio: (http:\/\/127\.0\.0\.1:\d+\/#token=\S+)\n/.exec(text);
      if (found) return found[1];
    }
    throw new Error(`the studio did not start: ${text}`);
  }

  async kill(): Promise<void> {
    this.server?.kill("SIGKILL");
    if (this.server) await once(this.server, "exit");
  }

  async visit(view: string, options: BrowserContextOptions = {}): Promise<Page> {
    assert.ok(this.browser);
    const context = await this.browser.newContext({
      reducedMotion: "reduce",
      serviceWorkers: "block",
      ...SIZES.desktop,
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(200_000); // on a machine busy with other tests
    page.on("pageerror", (error) => this.problems.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) this.problems.push(message.text());
    });
    await page.goto(this.address);
    await page.getByRole("link", { name: view }).click();
    return page;
  }

  async close(): Promise<void> {
    await this.browser?.close();
    this.server?.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}
