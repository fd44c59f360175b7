// Puzzles on the built page: solved, hinted at, shown, walked through, and asked of the networks.
import assert from "node:assert/strict";
import { test } from "vitest";
import { browserPath, click, NNUE_NAME, type Studio, shoot, type, useStudio } from "./studio.js";

let studio: Studio;
useStudio((opened) => {
  studio = opened;
});

const check = test.skipIf(!browserPath);
// After a move of the king, two rooks mate in two.
const CSV = `PuzzleId,FEN,Moves,Rating,Themes
twoRk,6k1/8/8/R7/1R6/8/8/6K1 b - - 0 1,g8h7 b4b6 h7g7 a5a7 g7f8 b6b8,1400,mateIn3 endgame
`;
const drop = { name: "mine.csv", mimeType: "text/csv", buffer: Buffer.from(CSV) };

check("a puzzle is failed by a wrong move, solved after a hint, and its moves can be walked through", async () => {
  const page = await studio.visit("puzzles");
  await page.waitForSelector("cg-board piece");
  await page.getByLabel("File of a network, a game or puzzles").setInputFiles(drop);
  await page.getByText("1 of 1 puzzles · mine.csv").waitFor();
  await page.getByText("Find the best move for White.").waitFor();
  await click(page, "g1", "g2");
  await page.getByText("Not the move.").waitFor();
  await page.getByText("0 solved, 1 failed").waitFor();
  await page.getByRole("button", { name: "Hint" }).click();
  await page.waitForSelector(".cg-shapes circle", { state: "attached" });
  await click(page, "b4", "b6");
  await page.waitForFunction(() => document.querySelectorAll("cg-board square.last-move").length === 2);
  await type(page, "Ra7");
  await type(page, "Rb8");
  await page.getByText("Solved.").waitFor();
  const moves = page.getByRole("list", { name: "Moves" }).getByRole("button");
  assert.equal((await moves.allInnerTexts()).join(" "), "1... Kh7 2. Rb6 Kg7 3. Ra7+ Kf8 4. Rb8#");
  await page.locator("main").focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator("ol[aria-label=Moves] [aria-current]").textContent(), "3. Ra7+");
  await shoot(page, "puzzles-solved");
  await page.getByRole("button", { name: "Again" }).click();
  await page.getByRole("button", { name: "Solution" }).click();
  await page.getByText("This is the solution.").waitFor();
  await page.getByRole("button", { name: "Ask them" }).click();
  await page.getByRole("row", { name: new RegExp(`✓ ${NNUE_NAME} with [\\d,]+ nodes?`) }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.context().close();
  assert.deepEqual(studio.problems, []);
});
