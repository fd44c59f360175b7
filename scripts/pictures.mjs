// Takes the pictures of docs/images anew, from the studio as it is: node scripts/pictures.mjs [NAME...]
// Needs Chromium. What is seen is real: games, a training of a minute and a match that are played for it, in a folder of
// their own. The picture of the cluster is not taken; it needs a Redis and workers.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { findProgram } from "#base";

const IMAGES = resolve("docs/images");
const OPENING = "play?moves=e2e4.e7e5.g1f3.b8c6.f1c4.f8c5.c2c3.g8f6.d2d4.e5d4.c3d4&ply=11"; // something to look into

const executablePath = (await findProgram("chromium")) ?? (await findProgram("google-chrome"));
if (!executablePath) {
  console.error("scripts/pictures.mjs needs chromium or google-chrome in the PATH.");
  process.exit(1);
}
const home = mkdtempSync(join(tmpdir(), "tabiya-pictures-"));
const main = resolve("dist/cli/main.js");
cpSync("games/lichess.pgn.gz", join(home, "data/lichess.pgn.gz"));
const server = spawn(process.execPath, [main, "studio", "--no-open", "--port", "0"], {
  cwd: home,
  stdio: ["ignore", "pipe", "inherit"],
});
const [line] = await once(createInterface({ input: server.stdout }), "line");
const address = line.match(/http\S+/)[0];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

async function open(hash) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    colorScheme: "dark",
    reducedMotion: "reduce",
    serviceWorkers: "block",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(300_000);
  await page.goto(address);
  await page.getByRole("link", { name: "Train" }).waitFor();
  await page.evaluate((view) => {
    location.hash = `#/${view}`;
  }, hash);
  return page;
}

const plies = (page, count) =>
  page.waitForFunction((least) => document.querySelectorAll("ol[aria-label=Moves] button.move").length >= least, count);

async function lookInside(page) {
  await plies(page, 11);
  await page.getByRole("link", { name: "Look inside" }).click();
}

/** Lets every network of the box look at the position, until each has said something. */
async function compareAll(page) {
  await page.getByRole("button", { name: "Compare all" }).click();
  await page.waitForFunction(() => {
    const watchers = [...document.querySelectorAll("section[aria-label^=Network]")].slice(1);
    return watchers.length > 1 && watchers.every((each) => each.querySelector(".line"));
  });
}

// Of each picture where it begins, and what is done there.
const PICTURES = {
  play: [
    "play",
    async (page) => {
      await page.waitForSelector("cg-board piece");
      for (const [i, move] of ["e4", "Nf3", "d3"].entries()) {
        await page.getByLabel("Type a move").fill(move);
        await page.keyboard.press("Enter");
        await plies(page, 2 * i + 2);
      }
      await page.getByRole("tab", { name: "Lines" }).click();
      await page.getByRole("button", { name: "Analyse" }).click();
      await page.waitForTimeout(5000);
    },
  ],
  inside: [
    OPENING,
    async (page) => {
      await lookInside(page);
      await compareAll(page);
      await page.waitForTimeout(3000);
    },
  ],
  worth: [
    OPENING,
    async (page) => {
      await lookInside(page);
      await page.getByRole("button", { name: "Worth of the pieces" }).click();
      await page.waitForFunction(() => document.querySelectorAll(".cg-custom-svgs text").length > 20);
    },
  ],
  train: [
    "train",
    async (page) => {
      await page.getByRole("button", { name: "New training" }).click();
      const form = page.getByRole("form", { name: "New training" });
      await form.getByLabel("Recipe").selectOption("residual-tiny");
      await form.getByLabel("lichess.pgn.gz").first().check();
      await form.getByLabel(/^epochPositions/).fill("25000");
      await form.getByRole("button", { name: "Start training" }).click();
      await page.getByText(/finished, step/).waitFor();
      await page.getByRole("button", { name: "Show its worst mistakes" }).click();
      await page.getByText(/worst of \d+ positions/).waitFor();
    },
  ],
  judge: [
    "judge",
    async (page) => {
      const form = page.getByRole("form", { name: "New contest" });
      await form.getByLabel("Player 1").fill("nnue@ab");
      await form.getByLabel("Player 2").fill("residual@none");
      await form.getByLabel("How many").fill("100");
      await form.getByLabel(/Stop when it is decided/).check();
      await form.getByRole("button", { name: "Start" }).click();
      await page.getByText(/^finished, \d+ games/).waitFor();
    },
  ],
  puzzles: [
    "puzzles",
    async (page) => {
      await page.getByRole("button", { name: "Hint" }).click();
      await page.getByRole("button", { name: "Ask them" }).click();
      await page.waitForTimeout(45_000); // some networks have answered, some have not
    },
  ],
  networks: [
    "networks",
    async (page) => {
      await page.getByRole("article").first().waitFor();
    },
  ],
  "page-training": [
    "train",
    async (page) => {
      await page.getByRole("button", { name: "In this page" }).click();
      await page.getByLabel("Games to learn from").setInputFiles("games/lichess.pgn.gz");
      await page.getByText(/^900 games/).waitFor();
      await page.getByLabel("Steps").fill("200");
      await page.getByRole("button", { name: "Train", exact: true }).click();
      await page.getByText(/^finished, step/).waitFor();
    },
  ],
};
const wanted = process.argv.slice(2);
try {
  for (const [name, [hash, prepare]] of Object.entries(PICTURES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const page = await open(hash);
    await prepare(page);
    await page.mouse.move(0, 0);
    await page.screenshot({ path: join(IMAGES, `studio-${name}.png`) });
    await page.context().close();
    console.log(`docs/images/studio-${name}.png`);
  }
} finally {
  await browser.close();
  server.kill();
  rmSync(home, { recursive: true, force: true });
}
