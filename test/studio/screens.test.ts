// Every view in both widths and themes: no serious finding of axe, and a picture of each for people to look at.
import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import { test } from "vitest";
import { browserPath, type Studio, type, useStudio, waitForPlies } from "./studio.js";

const VIEWS = ["play", "inside", "train", "judge", "puzzles", "networks"];
const SIZES = {
  desktop: { viewport: { width: 1366, height: 820 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

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
        await studio.shoot(page, `${view}-${size}-${colorScheme}`);
        const { violations } = await new AxeBuilder({ page }).analyze();
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(
          serious.map(({ id, nodes }) => `${view}: ${id}: ${nodes[0].html.slice(0, 160)}`),
          [],
        );
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${view} is ${wide} pixels too wide`);
      }
      await page.context().close();
      assert.deepEqual(studio.problems, []);
    });
  }
}
