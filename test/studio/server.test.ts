// The page with its server, as `tabiya studio` runs them: a training and a match from their forms, and a server that is killed.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci } from "#chess";
import { createRecords, type DataRecord } from "#formats";
import { eachRandomPosition } from "../random-positions.js";
import { canMount } from "../small-disk.js";
import { Served } from "./served.js";
import { browserPath, inspect, SIZES, type, waitForPlies } from "./studio.js";

const studio = new Served();
const { folder } = studio;
const visit: Served["visit"] = (...args) => studio.visit(...args);

beforeAll(async () => {
  if (!browserPath) return;
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
  await studio.open();
});
afterEach(() => assert.deepEqual(studio.problems, []));
afterAll(() => studio.close());

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
    await run.waitFor();
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
    await studio.kill();
    await page.getByText("The server is away").waitFor();
    assert.equal(await studio.start(Number(new URL(studio.address).port)), studio.address);
    await page
      .getByRole("region", { name: "Contest long" })
      .getByText(/finished, 40 of 40 games/)
      .waitFor();
    await page.waitForFunction(() => !document.body.textContent.includes("The server is away"));
    await page.context().close();
  },
);

test.skipIf(!browserPath || !canMount)("a full disk is told in words, and the studio goes on", async () => {
  const small = new Served([], "128k");
  await small.open();
  try {
    const page = await small.visit("Train");
    await page.getByRole("button", { name: "Imitate a player" }).click();
    const form = page.getByRole("form", { name: "Imitate a player" });
    const game = '[White "Ann"]\n[Black "Cy"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n';
    const games = { name: "large.pgn", mimeType: "text/plain", buffer: Buffer.from(game.repeat(5_000)) };
    await form.getByLabel("Upload games").setInputFiles(games);
    await form
      .getByRole("alert")
      .getByText(/disk is full/)
      .waitFor();
    assert.equal(await form.getByRole("option", { name: "large.pgn" }).count(), 0); // nothing of it is left
    await page.getByRole("link", { name: "Judge" }).click();
    await page.getByRole("form", { name: "New contest" }).waitFor();
    assert.deepEqual(small.problems, []);
  } finally {
    await small.close();
  }
});

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ["dark", "light"] as const) {
    test.skipIf(!browserPath)(`axe finds nothing serious in runs and contests, ${size}, ${colorScheme}`, async () => {
      writeFileSync(join(folder, "games.pgn"), "");
      const page = await visit("Train", { ...options, colorScheme });
      const look = (name: string) => inspect(page, `${name}-${size}-${colorScheme}`);
      await page.locator("canvas").first().waitFor();
      await page.getByRole("button", { name: "Show its worst mistakes" }).click();
      await page.getByText(/worst of \d+ positions/).waitFor();
      await look("server-train");
      await page.getByRole("button", { name: "New training" }).click();
      await page.getByRole("form", { name: "New training" }).waitFor();
      await look("server-train-form");
      await page.getByRole("button", { name: "Imitate a player" }).click();
      const imitate = page.getByRole("form", { name: "Imitate a player" });
      await imitate.getByRole("combobox").first().selectOption("data/club.pgn");
      await imitate.getByRole("button", { name: "Ann 15" }).click();
      await look("server-imitate");
      await page.getByRole("link", { name: "Judge" }).click();
      await page.getByRole("button", { name: /^small match/ }).click();
      await page.getByRole("img", { name: /^\d won/ }).waitFor();
      await look("server-judge");
      await page.getByRole("button", { name: "New contest" }).click();
      await look("server-judge-form");
      await page.context().close();
    });
  }
}
