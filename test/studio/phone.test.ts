// The page under a thumb: tabs that are swiped, a first tap that shows and a second that plays; and tabs nobody sees.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { afterEach, test } from "vitest";
import { browserPath, moves, NNUE, type Studio, shoot, type, useStudio, waitForPlies } from "./studio.js";

let studio: Studio;
useStudio((opened) => {
  studio = opened;
});
afterEach(() => assert.deepEqual(studio?.problems ?? [], []));

const check = test.skipIf(!browserPath);
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

/** A finger drawn sideways over the middle of an element; `meanwhile` happens before it is lifted. */
async function swipe(page: Page, selector: string, by: number, meanwhile?: () => Promise<unknown>): Promise<void> {
  const box = await page.locator(selector).boundingBox();
  if (!box) throw new Error(`${selector} is not there`);
  const [x, y] = [box.x + box.width / 2 - by / 2, box.y + Math.min(60, box.height / 2)];
  const touch = await page.context().newCDPSession(page);
  const send = (kind: "touchStart" | "touchMove" | "touchEnd", points: { x: number; y: number }[]) =>
    touch.send("Input.dispatchTouchEvent", { type: kind, touchPoints: points });
  await send("touchStart", [{ x, y }]);
  await send("touchMove", [{ x: x + by / 2, y }]);
  await send("touchMove", [{ x: x + by, y }]);
  await meanwhile?.();
  await send("touchEnd", []);
}

check("on a phone the board is as wide as the page, tabs are swiped, and nothing overlaps the navigation", async () => {
  const page = await studio.visit("play", PHONE);
  await page.waitForSelector("cg-board piece");
  const board = await page.locator("cg-board").boundingBox();
  assert.ok(board && board.width > 380 && board.x < 4, JSON.stringify(board));
  // Waits: the listeners are passive, so the browser answers a touch before the page has seen it.
  const chosen = (name: string) => page.getByRole("tab", { name, exact: true, selected: true }).waitFor();
  for (const name of ["Lines", "Players", "Text"]) {
    await swipe(page, ".beside", -200);
    await chosen(name);
  }
  await page.getByLabel("Paste a PGN or FEN").scrollIntoViewIfNeeded();
  await swipe(page, ".beside", 200);
  await chosen("Players");
  await page.getByLabel("Black", { exact: true }).waitFor();
  await swipe(page, ".beside", 200);
  await chosen("Lines");
  // What is touched may be gone when the finger is lifted, as a line that the analysis replaced.
  await swipe(page, ".beside .analysis", 200, () =>
    page.evaluate(() => document.querySelector(".beside .analysis")?.replaceChildren()),
  );
  await chosen("Moves");
  await page.context().close();
});

check("on a phone a first tap on a line's move shows the position after it, a second plays it", async () => {
  const page = await studio.visit("inside", PHONE);
  const move = page.locator(".line button").first();
  await move.waitFor();
  await page.getByRole("button", { name: "Stop" }).tap(); // so that the line stays
  await page.waitForFunction(() => document.querySelectorAll(".line button").length > 0);
  const text = ((await move.textContent()) ?? "").replace(/^\d+\.+ /, "");
  await move.tap();
  await page.waitForSelector(".preview piece");
  assert.deepEqual(await moves(page), []);
  await move.tap();
  await page.getByRole("tab", { name: "Moves" }).tap();
  await waitForPlies(page, 1);
  assert.deepEqual(await moves(page), [text]);
  await page.context().close();
});

check("a hidden tab lets two networks rest, and they play on when it is seen again", async () => {
  const page = await studio.visit("play");
  await page.waitForSelector("cg-board piece");
  for (const color of ["White", "Black"]) await page.getByLabel(color, { exact: true }).selectOption("random");
  // In one step, since a game of random moves may be over before a busy machine comes back to us.
  await page.waitForFunction(() => {
    if (document.querySelectorAll("ol[aria-label=Moves] button.move").length < 4) return false;
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    return true;
  });
  await page.getByRole("button", { name: "Go on" }).waitFor();
  const before = (await moves(page)).length;
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: false, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await waitForPlies(page, before + 2);
  await page.context().close();
});

check("a game of 10,000 moves is loaded, walked and played on", async () => {
  const page = await studio.visit("play");
  const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
  const text = Array.from({ length: 20_000 }, (_, ply) => (ply % 2 ? "" : `${ply / 2 + 1}. `) + shuffle[ply % 4]).join(
    " ",
  );
  await page.getByLabel("Paste a PGN or FEN").fill(`${text} *`);
  await page.getByRole("button", { name: "Load" }).click();
  await page.getByText(/^Loaded/).waitFor();
  await page.getByRole("button", { name: "To the end" }).click();
  await page.locator("ol[aria-label=Moves] [aria-current]").waitFor();
  assert.equal(await page.locator("ol[aria-label=Moves] [aria-current]").textContent(), "Ng8");
  await type(page, "e4");
  await page.waitForFunction(
    () => document.querySelector("ol[aria-label=Moves] [aria-current]")?.textContent?.trim() === "e4",
  );
  await page.context().close();
});

check("piece sets and boards are changed in the settings and kept", async () => {
  const page = await studio.visit("play");
  await page.waitForSelector("cg-board piece");
  await page.locator("summary[aria-label=Settings]").click();
  const image = () =>
    page.locator("cg-board piece.white.king").evaluate((piece) => getComputedStyle(piece).backgroundImage);
  const before = await image();
  await page.getByRole("button", { name: "flat" }).click();
  assert.notEqual(await image(), before);
  await page.getByRole("button", { name: "sea" }).click();
  await shoot(page, "themes");
  await page.reload();
  await page.waitForSelector("cg-board piece");
  assert.deepEqual(await page.evaluate(() => ({ ...document.documentElement.dataset })), {
    theme: "dark",
    board: "sea",
    pieces: "flat",
  });
  await page.context().close();
});

check("the picker in the top bar puts a network into the seat, and lets it look in Look inside", async () => {
  const page = await studio.visit("play");
  await page.waitForSelector("cg-board piece");
  const picker = page.getByRole("combobox", { name: "Network", exact: true });
  await picker.selectOption("random");
  assert.equal(await page.getByLabel("Black", { exact: true }).inputValue(), "random");
  await type(page, "e4");
  await waitForPlies(page, 2);
  await page.getByRole("link", { name: "Look inside" }).click();
  await page.getByRole("combobox", { name: "Network 1", exact: true }).waitFor();
  assert.equal(await picker.inputValue(), NNUE);
  await page.context().close();
});
