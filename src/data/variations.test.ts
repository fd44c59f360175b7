import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { parseFen, parseUci, START_FEN } from "#chess";
import { type Player, resolvePlayer } from "#engine";
import { openParquet } from "#formats";
import { journalPath } from "./ask.js";
import { type Variation, writeVariations } from "./variations.js";

const FENS = [
  START_FEN,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 3 41",
];

function files() {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-variations-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const from = join(folder, "positions.epd");
  writeFileSync(from, FENS.join("\n"));
  return { from, to: join(folder, "thoughts.parquet") };
}

const options = (create: () => Promise<Player>, signal = new AbortController().signal) => ({
  create,
  player: "builtin@ab",
  limits: { nodes: 500 },
  multiPv: 3,
  processes: 1,
  signal,
  onProgress() {},
  onTrouble(message: string) {
    assert.fail(message);
  },
});

test("variations are legal lines with values, in the columns of ChessDecoder", async () => {
  const { from, to } = files();
  const result = await writeVariations(
    from,
    to,
    options(() => resolvePlayer("builtin@ab")),
  );
  assert.deepEqual([result.positions, result.variations], [3, 9]);
  const rows = [];
  for await (const batch of await openParquet(to, { columns: ["variations", "mcts_action", "mcts_value", "best_move", "root_q", "game_id", "ply"] })) rows.push(...batch); // biome-ignore format: one call
  assert.deepEqual(
    rows.map(({ fen }) => fen),
    FENS,
  );
  for (const { fen, variations, mcts_action } of rows) {
    const found = JSON.parse(String(variations)) as Variation[];
    assert.equal(found[0].move, mcts_action);
    for (const { pv, q, d } of found) {
      const position = parseFen(fen);
      for (const uci of pv) {
        const move = parseUci(position, uci);
        assert.ok(move !== undefined, `${uci} in ${fen}`);
        position.play(move);
      }
      assert.ok(Math.abs(q) <= 1 && d >= 0 && d <= 1 - Math.abs(q) + 0.002); // thousandths
    }
  }
});

test("what was looked at before a stop is not looked at again", async () => {
  const { from, to } = files();
  const stop = new AbortController();
  let asked = 0;
  const counting = async (): Promise<Player> => {
    const player = await resolvePlayer("builtin@ab");
    const { choose } = player;
    player.choose = (...question) => {
      asked++;
      return choose.apply(player, question);
    };
    return player;
  };
  const first = options(counting, stop.signal);
  const onProgress = ({ labelled }: { labelled: number }) => {
    if (labelled === 2) stop.abort(new Error("stopped"));
  };
  await assert.rejects(writeVariations(from, to, { ...first, onProgress }), /stopped/);
  assert.ok(existsSync(journalPath(to)));
  const { positions } = await writeVariations(from, to, options(counting));
  assert.equal(positions, 3);
  assert.equal(asked, 3);
  assert.ok(!existsSync(journalPath(to)));
});
