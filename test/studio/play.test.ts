// Games on the built page, without a server: by drag, click and typed moves, against the network of the box.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterEach, test } from "vitest";
import {
  browserPath,
  click,
  drag,
  moves,
  NNUE,
  NNUE_NAME,
  type Studio,
  squareAt,
  type,
  useStudio,
  waitForPlies,
} from "./studio.js";

let studio: Studio;
useStudio((opened) => {
  studio = opened;
});
afterEach(() => assert.deepEqual(studio?.problems ?? [], []));

const check = test.skipIf(!browserPath);
const LADDER = "8/7k/8/R7/1R6/8/8/6K1 w - - 0 1"; // two rooks drive the king to the edge in three moves

/** A page with a position or game on the board. */
async function load(text: string, prepare?: (page: Page) => Promise<unknown>): Promise<Page> {
  const page = await studio.visit("play", {}, prepare);
  await page.getByLabel("Paste a PGN or FEN").fill(text);
  await page.getByRole("button", { name: "Load" }).click();
  await page.getByText(/^Loaded/).waitFor();
  return page;
}

check("a game goes to mate by drag, click and typed move", async () => {
  const page = await load(LADDER);
  await page.getByLabel("Black", { exact: true }).selectOption({ index: 1 });
  await drag(page, "b4", "b6");
  await waitForPlies(page, 2);
  await click(page, "a5", "a7");
  await waitForPlies(page, 4);
  await type(page, "Rb8");
  await page.getByText("checkmate · 1-0", { exact: true }).waitFor();
  assert.equal((await moves(page)).at(-1), "Rb8#");
  assert.match((await page.getByLabel("Saved games").textContent()) ?? "", new RegExp(`You – ${NNUE_NAME}\\s+1-0`));
  await page.context().close();
});

check("a premove is played when the network has moved, and both can be taken back", async () => {
  // The network is kept back, so that it cannot move before the premove stands.
  let deliver = () => {};
  const wanted = new Promise<void>((resolve) => {
    deliver = resolve;
  });
  const page = await load(LADDER, (each) =>
    each.route("**/nets/*.tnn", async (route) => {
      await wanted;
      await route.continue();
    }),
  );
  await page.getByLabel("Black", { exact: true }).selectOption({ index: 1 });
  await page.getByLabel("full strength").check();
  await drag(page, "b4", "b6");
  await drag(page, "a5", "a7");
  await page.waitForSelector("square.current-premove");
  assert.equal((await moves(page)).length, 1);
  deliver();
  await waitForPlies(page, 3);
  assert.match((await moves(page))[2], /^Ra7/);
  await waitForPlies(page, 4);
  await page.getByRole("button", { name: "Take back" }).click();
  await page.waitForFunction(() => document.querySelectorAll("ol[aria-label=Moves] button.move").length === 2);
  await page.context().close();
});

check("a pawn asks what it shall become", async () => {
  const page = await load("8/4P1k1/8/8/8/8/8/4K3 w - - 0 1");
  await drag(page, "e7", "e8");
  await page.getByRole("group", { name: "Promote to" }).getByRole("button", { name: "knight" }).click();
  await waitForPlies(page, 1);
  assert.deepEqual(await moves(page), ["e8=N+"]);
  await page.context().close();
});

check("in Chess960 the king castles by taking its rook", async () => {
  const page = await load("4k3/8/8/8/8/8/8/1RK4R w HB - 0 1");
  await click(page, "c1", "b1");
  await waitForPlies(page, 1);
  assert.deepEqual(await moves(page), ["O-O-O"]);
  await page.context().close();
});

check("a pasted game can be walked, left for a variation, and shared by a link", async () => {
  const page = await load("1. e4 e5 2. Nf3 Nc6 (2... d6 3. d4) 3. Bb5 *");
  await page.keyboard.press("Escape");
  await page
    .locator("h1")
    .first()
    .evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowRight");
  await type(page, "c5");
  await page.getByText("1…c5").waitFor();
  assert.deepEqual(await moves(page), ["e4", "e5", "Nf3", "Nc6", "Bb5"]);
  const shared = await studio.visit("play?moves=e2e4.e7e5.g1f3&ply=2");
  await waitForPlies(shared, 3);
  assert.deepEqual(await moves(shared), ["e4", "e5", "Nf3"]);
  assert.equal(await shared.locator("ol[aria-label=Moves] [aria-current]").textContent(), "e5");
  await Promise.all([page.context().close(), shared.context().close()]);
});

check("a move that is not legal, and a text that is no game, are answered in words", async () => {
  const page = await studio.visit("play");
  await type(page, "Ke2");
  await page.getByText("Ke2 is not a legal move here").waitFor();
  await page.getByLabel("Paste a PGN or FEN").fill("1. e4 e5 2. Ke3");
  await page.getByRole("button", { name: "Load" }).click();
  await page.getByText(/the move Ke3 .* is not legal/).waitFor();
  await page.context().close();
});

check("a game is typed and walked by keys alone, and the next one is begun with the other colour", async () => {
  const page = await studio.visit("play");
  await page.waitForSelector("cg-board piece");
  await page.keyboard.press("/");
  await page.keyboard.type("d4");
  await page.keyboard.press("Enter");
  await waitForPlies(page, 2);
  await page.keyboard.press("k"); // typed, for the field still has the keys
  assert.equal(await page.getByLabel("Type a move").inputValue(), "k");
  await page.keyboard.press("Escape");
  await page.keyboard.press("k");
  assert.equal(await page.locator("ol[aria-label=Moves] [aria-current]").textContent(), "d4");
  await page.getByRole("button", { name: "as Black" }).click();
  assert.equal((await moves(page)).length, 2); // the game is not thrown away yet
  await page.getByRole("button", { name: "New game" }).click();
  await waitForPlies(page, 1);
  assert.equal(await page.getByLabel("White", { exact: true }).inputValue(), NNUE);
  assert.equal((await moves(page)).length, 1);
  await page.context().close();
});

check(
  "a compressed game is opened from its White's side and not saved again; a picture is refused in words",
  async () => {
    const page = await studio.visit("play");
    await page.waitForSelector("cg-board piece");
    await page.keyboard.press("f");
    const input = page.getByLabel("File of a network, a game or puzzles");
    const buffer = gzipSync("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n");
    await input.setInputFiles({ name: "mate.pgn.gz", mimeType: "application/gzip", buffer });
    await waitForPlies(page, 5);
    await page.locator(".cg-wrap.orientation-white").waitFor();
    await page.getByText("Games are kept here").waitFor(); // none is
    await input.setInputFiles({ name: "cat.png", mimeType: "image/png", buffer: Buffer.from("\x89PNG") });
    await page.getByText(/^cat\.png: expected a network .*, a game .* or puzzles/).waitFor();
    await page.context().close();
  },
);

check("a network from a file takes a seat, and a broken one is refused in words", async () => {
  const page = await studio.visit("networks");
  const buffer = readFileSync(`nets/${NNUE}`);
  const input = page.getByLabel("Open a network file");
  await input.setInputFiles({ name: "mine.tnn", mimeType: "application/octet-stream", buffer });
  await page.getByText("mine.tnn is here").waitFor();
  await input.setInputFiles({
    name: "broken.tnn",
    mimeType: "application/octet-stream",
    buffer: buffer.subarray(0, 999),
  });
  await page.getByText(/^broken\.tnn: /).waitFor();
  const card = page.getByRole("article", { name: "mine.tnn" });
  await card.getByRole("button", { name: "Play against it" }).click();
  await page.waitForSelector("cg-board piece");
  await type(page, "e4");
  await waitForPlies(page, 2);
  await page.context().close();
});

check("on a phone a tap picks a piece up and a second one puts it down", async () => {
  const page = await studio.visit("play", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await page.waitForSelector("cg-board piece");
  for (const square of ["e2", "e4"]) {
    const { x, y } = await squareAt(page, square);
    await page.touchscreen.tap(x, y);
  }
  await waitForPlies(page, 2);
  assert.equal((await moves(page))[0], "e4");
  await page.context().close();
});

check("the analysis draws arrows in Play, and the gauge shows what it finds", async () => {
  const page = await studio.visit("play?moves=e2e4.e7e5.d1h5.e8e7");
  await waitForPlies(page, 4);
  await page.keyboard.press("l");
  await page.waitForSelector(".cg-shapes line", { state: "attached" }); // a level one has no height
  assert.match(
    (await page.locator(".gauge").getAttribute("aria-label")) ?? "",
    new RegExp(`^${NNUE_NAME}.*White wins (9\\d|100) %`),
  );
  await page.context().close();
});

check("after the first visit the page plays without a network", async () => {
  const page = await studio.visit("play", { serviceWorkers: "allow" });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload(); // from here on the service worker sees every request
  await page.waitForSelector("cg-board piece");
  await page.context().setOffline(true);
  await page.reload();
  await page.waitForSelector("cg-board piece");
  await type(page, "d4");
  await waitForPlies(page, 2);
  await page.context().close();
});
