import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { Random } from "#base";
import { parseFen, parseUci, START_FEN } from "#chess";
import { DECODER, DECODER_SIZES, networkBytes } from "#models";
import type { Report } from "./player.js";
import { resolvePlayer } from "./players.js";

/** A decoder with random weights as a player. */
async function thinker(search: string) {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-think-"));
  const path = join(folder, "model.safetensors");
  writeFileSync(path, networkBytes("decoder", DECODER.build(DECODER_SIZES.tiny, new Random(7))));
  const player = await resolvePlayer(`${path}@${search}`);
  onTestFinished(async () => {
    await player.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return player;
}

/** The boards on which knights promote, kings castle and pawns pass by. */
const FENS = [
  START_FEN,
  "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
  "8/P6k/8/8/8/8/7p/2K5 w - - 0 1",
  "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
];

test("thoughts are legal lines within the budget, and a move follows", async () => {
  const player = await thinker("think:500?always=true&threads=1");
  for (const fen of FENS) {
    const position = parseFen(fen);
    const reports: Report[] = [];
    const choice = await player.choose(position, {}, { onReport: (report) => reports.push(report) });
    assert.ok(position.isLegal(choice.move));
    assert.ok((choice.nodes ?? 0) <= 500, `${choice.nodes} tokens`);
    assert.ok(choice.thoughts && choice.thoughts.length > 0);
    assert.equal(new Set(choice.thoughts.map(([first]) => first.move)).size, choice.thoughts.length);
    for (const variation of choice.thoughts) {
      const board = position.clone();
      for (const { move, value, wdl } of variation) {
        const found = parseUci(board, move);
        assert.ok(found !== undefined, `${move} in ${fen}`);
        board.play(found);
        assert.ok(Math.abs(value) <= 1 && wdl[0] + wdl[1] + wdl[2] === 1000);
      }
    }
    assert.ok(reports.length > 0 && reports.every(({ thoughts }) => thoughts));
    assert.equal(choice.lines[0].pv.length > 0, true);
  }
});

test("with no room for a thought it plays at first sight, and so it does when it is stopped", async () => {
  const player = await thinker("think:80?threads=1");
  const position = parseFen(START_FEN);
  const hasty = await player.choose(position, {});
  assert.deepEqual(hasty.thoughts, []);
  const stopped = await (await thinker("think?threads=1")).choose(position, {}, { signal: AbortSignal.abort() });
  assert.equal(stopped.move, hasty.move);
});

test("a wrong board in thought ends its variation if boards are checked", async () => {
  const player = await thinker("think?trust=checked&always=true&threads=1");
  const { thoughts = [] } = await player.choose(parseFen(START_FEN), {});
  for (const variation of thoughts) assert.ok(variation.slice(0, -1).every(({ agreed }) => agreed));
  assert.ok(thoughts.some((variation) => variation.some(({ agreed }) => !agreed))); // the weights are random
});

test("the same seed draws the same thoughts", async () => {
  const player = await thinker("think:400?temperature=1&always=true&threads=1");
  const think = async (seed: number) => {
    await player.newGame({ seed });
    const { thoughts, move } = await player.choose(parseFen(START_FEN), {});
    return { thoughts, move };
  };
  const first = await think(3);
  assert.deepEqual(await think(3), first);
  assert.notDeepEqual(await think(4), first);
});

test("a network that is no decoder cannot think", async () => {
  await assert.rejects(resolvePlayer("nnue@think"), /cannot be played with @think/);
});
