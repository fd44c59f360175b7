import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, test } from "vitest";
import type { UserError } from "#base";
import { importGames } from "#data";
import { platform } from "#platform";

const folder = mkdtempSync(join(tmpdir(), "tabiya-dies-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("a thread that dies ends an import by a message, and the file that was there stays", async () => {
  const games = join(folder, "games.pgn");
  const out = join(folder, "kept.bin");
  writeFileSync(games, gunzipSync(readFileSync("games/lichess.pgn.gz")));
  writeFileSync(out, "what was there");
  const { startWorker } = platform;
  platform.startWorker = (path) => {
    const channel = startWorker(path);
    let posts = 0;
    const post: typeof channel.post = (message, transfer) => {
      channel.post(message, transfer);
      if (++posts === 2) void channel.close(); // the thread itself, without a word to who asked it
    };
    return { ...channel, post };
  };
  const run = importGames([games], out, {
    games: { variants: ["standard"] },
    positions: { value: "eval", policy: "played", needsEvalAfter: false, fromPly: 0 },
    validation: 0,
    seed: 1,
    dedupe: false,
    threads: 2,
    signal: new AbortController().signal,
    onBad() {},
    onProgress() {},
  });
  try {
    await assert.rejects(run, (error: UserError) => {
      assert.equal(error.code, "WORKER_DIED", String(error));
      assert.match(error.message, /import-worker/);
      return true;
    });
  } finally {
    platform.startWorker = startWorker;
  }
  assert.equal(readFileSync(out, "utf8"), "what was there");
  assert.deepEqual(readdirSync(folder).sort(), ["games.pgn", "kept.bin"]);
});
