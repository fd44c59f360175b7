import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Dataset } from "./dataset.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-dataset-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a broken game is left out, and named", async () => {
  const pgn = join(folder, "games.pgn");
  writeFileSync(
    pgn,
    '[Event "a"]\n\n1. e4 e5 2. Nf3 1-0\n\n[Event "b"]\n\n1. e4 Ke7 1-0\n\n[Event "c"]\n\n1. d4 d5 0-1\n',
  );
  const { length, troubles } = await Dataset.fromPgn(pgn, join(folder, "games.bin"), { value: "result" });
  assert.equal(length, 5); // the moves of the first and the third game
  assert.equal(troubles.length, 1);
  assert.match(troubles[0], /games\.pgn.*2.*Ke7/s);
});
