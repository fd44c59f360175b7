// Training in the page, without a server: games are dropped, and what comes of them beats random moves and plays in the
// terminal, too.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { exportNetwork, RESIDUAL_SIZES, Residual, randomPositions } from "#models";
import { browserPath, inspectAll, type Studio, type, useStudio, waitForPlies } from "./studio.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-page-training-"));
let studio: Studio;
useStudio((opened) => {
  studio = opened;
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(!browserPath)(
  "games dropped on the page become a network that beats random moves, plays here and in the terminal, and comes back",
  { timeout: 600_000 },
  async () => {
    const page = await studio.visit("train");
    page.setDefaultTimeout(400_000);
    await page.getByLabel("Games to learn from").setInputFiles("games/lichess.pgn.gz");
    await page.getByText(/^900 games; values by their \[%eval\] comments/).waitFor();
    await page.getByLabel("Steps").fill("100");
    await inspectAll(page, "page-training-form");
    await page.getByRole("button", { name: "Train", exact: true }).click();
    await page.getByText(/training, step \d+ of 100, [\d,.]+ positions\/s/).waitFor();
    await page.getByRole("region", { name: "Unseen positions" }).waitFor(); // after the first epoch, while it learns
    await page.getByText("finished, step 100 of 100").waitFor();
    const label = await page.getByRole("img", { name: /^loss over the steps/ }).getAttribute("aria-label");
    assert.match(label ?? "", /loss [\d.]+ at step 100/);
    await page.getByRole("button", { name: /^Let it play 10 games/ }).click();
    const score = page.getByRole("status", { name: "Against random moves" });
    await page.getByRole("button", { name: /^Let it play 10 games/, disabled: false }).waitFor();
    const [wins, draws, losses] = (await score.textContent())!.match(/\d+/g)!.map(Number);
    assert.ok(wins + draws + losses === 10 && wins - losses >= 5, `${wins} won, ${draws} drawn, ${losses} lost`);
    await inspectAll(page, "page-training");

    // From the page to the terminal ...
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save the file" }).click(),
    ]);
    const file = join(folder, download.suggestedFilename());
    await download.saveAs(file);
    const answer = execFileSync(process.execPath, ["dist/cli/main.js", "uci", `${file}@none`], {
      input: "position startpos moves e2e4\ngo nodes 1\nquit\n",
      encoding: "utf8",
    });
    const [, best] = /bestmove (\w+)/.exec(answer) ?? [];
    assert.ok(best, answer);

    // ... and back: the same file, dropped on another page, answers the same.
    const other = await studio.visit("play");
    await other.waitForSelector("cg-board piece");
    await other.getByLabel("Black", { exact: true }).waitFor();
    await other.evaluate(() => (location.hash = "#/networks"));
    await other.getByLabel("Open a network file").setInputFiles(file);
    await other
      .getByRole("article", { name: /step-100/ })
      .getByRole("button", { name: "Play against it" })
      .click();
    await other.getByLabel("Black's search").selectOption("none");
    await type(other, "e4");
    await waitForPlies(other, 2);
    await other.context().close();

    await page.getByRole("button", { name: "Seat as White" }).click();
    await waitForPlies(page, 1);
    assert.deepEqual(studio.problems, []);
    await page.context().close();
  },
);

test.skipIf(!browserPath)("an ONNX file that we exported plays where it is dropped", async () => {
  const network = new Residual(RESIDUAL_SIZES.tiny, new Random(1));
  const { bytes } = await exportNetwork("residual", network, "onnx", randomPositions(8, 1));
  const page = await studio.visit("networks");
  const file = { name: "mine.onnx", mimeType: "application/octet-stream", buffer: Buffer.from(bytes) };
  await page.getByLabel("Open a network file").setInputFiles(file);
  const entry = page.getByRole("article", { name: "mine.onnx" });
  await entry.getByText("ONNX, as exported").waitFor();
  await entry.getByRole("button", { name: "Play against it" }).click();
  await page.getByLabel("Black's search").selectOption("none");
  await type(page, "e4");
  await waitForPlies(page, 2);
  await page.context().close();
  assert.deepEqual(studio.problems, []);
});
