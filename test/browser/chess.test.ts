import assert from "node:assert/strict";
import { test } from "vitest";
import { browserPath, runInPage } from "./page.js";

test.skipIf(browserPath === undefined)("the chess core counts the same in a browser", async () => {
  const result = await runInPage(`
    import { formatSan, parseFen, parseSan, perft, START_FEN } from "#chess";
    const position = parseFen(START_FEN);
    position.play(parseSan(position, "e4"));
    export default [perft(parseFen(START_FEN), 4), position.moves().map((move) => formatSan(position, move)).length];
  `);
  assert.deepEqual(result, [197_281, 20]);
});
