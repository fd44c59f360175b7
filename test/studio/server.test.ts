// The page with its server, as `tabiya studio` runs them: a training and a match from their forms, and a server that is killed.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci } from "#chess";
import { createRecords, type DataRecord } from "#formats";
import { eachRandomPosition } from "../random-positions.js";
import { browserPath, type, waitForPlies } from "./studio.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-studio-"));
const SHOTS = resolve("dist/screenshots");
const MAIN = resolve("dist/cli/main.js");
const SIZES = {
  desktop: { viewport: { width: 1366, height: 820 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

let server: ChildProcess;
let address: string;
let browser: Browser;
const problems: string[] = [];

/** Starts the studio and returns the address it prints. */
async function start(port: number): Promise<string> {
  server = spawn(process.execPath, [MAIN, "studio", "--port", String(port), "--no-open"], { cwd: folder });
  let text = "";
  for await (const chunk of server.stdout ?? []) {
    text += chunk;
    const found = /^Tabiya studio: (http:\/\/127\.0\.0\.1:\d+\/#token=\S+)\n/.exec(text);
    if (found) return found[1];
  }
  throw new Error(`the studio did not start: ${text}`);
}

async function visit(view: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    reducedMotion: "reduce",
    serviceWorkers: "block",
    ...SIZES.desktop,
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(200_000); // on a machine busy with other tests
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text());
  });
  await page.goto(address);
  await page.getByRole("link", { name: view }).click();
  return page;
}

beforeAll(async () => {
  if (!browserPath) return;
  mkdirSync(SHOTS, { recursive: true });
  const writer = await createRecords(join(folder, "positions.bin"));
  const records: DataRecord[] = [];
  eachRandomPosition(new Random(1), 2000, false, (position) => {
    const [move] = position.moves();
    if (move === undefined || records.length === 1500) return;
    const uci = formatUci(position, move);
    const score = (records.length % 400) - 200;
    records.push({ fen: formatFen(position), move: uci, score, ply: 10, result: (records.length % 3) - 1 });
  });
  await writer.write(records);
  await writer.commit();
  address = await start(0);
  browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu"] });
});
afterAll(async () => {
  await browser?.close();
  server?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!browserPath)(
  "a training started from the form shows a moving curve, and its checkpoint plays",
  async () => {
    const page = await visit("Train");
    const form = page.getByRole("form", { name: "New training" });
    await form.getByLabel("Recipe").selectOption("nnue-tiny");
    await form.getByLabel("Name of the run").fill("first");
    await form.getByLabel("positions.bin").first().check();
    await form.getByText("1,500 records (scored)").waitFor();
    await form.getByText("How to train").click();
    const set = (key: string, value: string) => form.getByLabel(new RegExp(`^${key}\\b`)).fill(value);
    await set("epochs", "2");
    await set("batchSize", "64");
    await set("logSteps", "2");
    await set("epochPositions", "1500");
    await form.getByText("What to learn").click();
    await form.getByLabel(/^quiet/).uncheck();
    await form.getByRole("button", { name: "Start training" }).click();
    const run = page.getByRole("region", { name: "Run first" });
    await run.getByText(/finished, step \d+ of \d+/).waitFor();
    const label = await page.getByRole("img", { name: /^loss over the steps/ }).getAttribute("aria-label");
    assert.match(label ?? "", /first: loss [\d.e-]+ at step \d\d/);
    await page.locator("canvas").first().waitFor();
    await page.getByRole("button", { name: "Show its worst mistakes" }).click();
    await page.getByText(/worst of \d+ positions/).waitFor();
    await page.getByRole("button", { name: "Play against it" }).click();
    await page.waitForSelector("cg-board piece");
    await type(page, "e4");
    await waitForPlies(page, 2);
    await page.context().close();
    assert.deepEqual(problems, []);
  },
);

test.skipIf(!browserPath)(
  "one player's games become a network that imitates that player, and sits in either seat",
  { timeout: 600_000 }, // ten seconds of a free processor; on a busy machine many more
  async () => {
    const games = gunzipSync(readFileSync("games/lichess.pgn.gz")).toString().split(/(?=\[Event )/).slice(0, 30); // biome-ignore format: one thought
    const named = games.map((game, i) => {
      const result = /\[Result "(.*)"/.exec(game)?.[1];
      const opening = game.replace(/\[(White|Black) .*\n/g, "").replace(/\s9\. .*/s, ` ${result}\n\n`); // a batch in all
      return `[White "${i % 2 ? "Ann" : "Bob"}"]\n[Black "Cy"]\n${opening}`;
    });
    const page = await visit("Train");
    await page.getByRole("button", { name: "Imitate a player" }).click();
    const form = page.getByRole("form", { name: "Imitate a player" });
    const pgn = { name: "club.pgn", mimeType: "application/x-chess-pgn", buffer: Buffer.from(named.join("")) };
    await form.getByLabel("Upload games").setInputFiles(pgn);
    await form.getByRole("button", { name: "Ann 15" }).click();
    await form.getByRole("button", { name: "Start training" }).click();
    const run = page.getByRole("region", { name: "Run like Ann" });
    await run.getByText(/finished, step \d+ of \d+/).waitFor({ timeout: 500_000 });
    const moves = page.getByRole("status", { name: "Moves found" });
    assert.match((await moves.textContent()) ?? "", /[\d.]+ %\s+before the training, [\d.]+ % at its best/);
    await page.getByRole("slider", { name: "Checkpoint" }).fill("0");
    await page.getByText("epoch 1, step").waitFor();
    await page.getByRole("button", { name: "Seat as White" }).click();
    await waitForPlies(page, 1); // the first checkpoint opens the game
    await page.getByLabel("Black", { exact: true }).selectOption("run like Ann/best");
    await page.getByLabel("Black's search").selectOption("none");
    await waitForPlies(page, 2); // and is answered by its better self
    await page.context().close();
    assert.deepEqual(problems, []);
  },
);

test.skipIf(!browserPath)("a match from the form is played to its table, and its games can be opened", async () => {
  const page = await visit("Judge");
  const form = page.getByRole("form", { name: "New contest" });
  await form.getByLabel("Player 1").fill("nnue@ab");
  await form.getByLabel("Games", { exact: true }).fill("6");
  await form.getByLabel("How many").fill("50");
  await form.getByLabel("Name").fill("small match");
  await form.getByRole("button", { name: "Start" }).click();
  const contest = page.getByRole("region", { name: "Contest small match" });
  await contest.getByText(/finished, 6 of 6 games/).waitFor();
  await page.getByRole("img", { name: /^\d won, \d drawn, \d lost$/ }).waitFor();
  assert.equal(await page.getByRole("region", { name: "List of games" }).locator("tbody tr").count(), 6);
  await page.getByRole("button", { name: "Open game 2" }).click();
  await page.waitForSelector("cg-board piece");
  await waitForPlies(page, 4);
  await page.context().close();
  assert.deepEqual(problems, []);
});

test.skipIf(!browserPath)(
  "a server that is killed and started again is found by the page, and the contest went on",
  async () => {
    const page = await visit("Judge");
    await page.getByRole("button", { name: "New contest" }).click();
    const form = page.getByRole("form", { name: "New contest" });
    await form.getByLabel("Games", { exact: true }).fill("40");
    await form.getByLabel("Player 1").fill("random");
    await form.getByLabel("Name").fill("long");
    await form.getByRole("button", { name: "Start" }).click();
    await page.getByRole("region", { name: "Contest long" }).waitFor();
    server.kill("SIGKILL");
    await once(server, "exit");
    await page.getByText("The server is away").waitFor();
    assert.equal(await start(Number(new URL(address).port)), address);
    await page
      .getByRole("region", { name: "Contest long" })
      .getByText(/finished, 40 of 40 games/)
      .waitFor();
    await page.waitForFunction(() => !document.body.textContent.includes("The server is away"));
    await page.context().close();
    assert.deepEqual(problems, []);
  },
);

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ["dark", "light"] as const) {
    test.skipIf(!browserPath)(`axe finds nothing serious in runs and contests, ${size}, ${colorScheme}`, async () => {
      writeFileSync(join(folder, "games.pgn"), "");
      const page = await visit("Train", { ...options, colorScheme });
      const look = async (name: string) => {
        await page.screenshot({ path: `${SHOTS}/${name}-${size}-${colorScheme}.png`, fullPage: true });
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(
          serious.map(({ id, nodes }) => `${name}: ${id}: ${nodes[0].html.slice(0, 160)}`),
          [],
        );
        const wide = (await page.evaluate(() => document.documentElement.scrollWidth)) - options.viewport.width;
        assert.ok(wide <= 0, `${name} is ${wide} pixels too wide`);
      };
      await page.locator("canvas").first().waitFor();
      await page.getByRole("button", { name: "Show its worst mistakes" }).click();
      await page.getByText(/worst of \d+ positions/).waitFor();
      await look("server-train");
      await page.getByRole("button", { name: "New training" }).click();
      await page.getByRole("form", { name: "New training" }).waitFor();
      await look("server-train-form");
      await page.getByRole("link", { name: "Judge" }).click();
      await page.getByRole("button", { name: /^small match/ }).click();
      await page.getByRole("img", { name: /^\d won/ }).waitFor();
      await look("server-judge");
      await page.getByRole("button", { name: "New contest" }).click();
      await look("server-judge-form");
      await page.context().close();
      assert.deepEqual(problems, []);
    });
  }
}
