// Every view in both widths and themes: no serious finding of axe, and a picture of each for people to look at.
import assert from "node:assert/strict";
import { test } from "vitest";
import { browserPath, inspect, SIZES, type Studio, type, useStudio, waitForPlies } from "./studio.js";

const VIEWS = ["play", "inside", "train", "judge", "puzzles", "networks"];

let studio: Studio;
useStudio((opened) => {
  studio = opened;
});

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ["dark", "light"] as const) {
    test.skipIf(!browserPath)(`axe finds nothing serious in any view, ${size}, ${colorScheme}`, async () => {
      const page = await studio.visit("play", { ...options, colorScheme });
      await page.waitForSelector("cg-board piece");
      await type(page, "e4");
      await waitForPlies(page, 2);
      for (const view of VIEWS) {
        await page.evaluate((hash) => {
          location.hash = hash;
        }, `#/${view}`);
        await page.waitForSelector("main h1");
        if (view === "inside") await page.waitForSelector(".line");
        if (view === "puzzles") await page.waitForSelector("cg-board piece");
        await inspect(page, `${view}-${size}-${colorScheme}`);
      }
      await page.context().close();
      assert.deepEqual(studio.problems, []);
    });
  }
}
