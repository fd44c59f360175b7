import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { parseUci, START_FEN } from "#chess";
import type { Choice, Player } from "#engine";
import { inspectData } from "./inspect.js";
import { findMistakes } from "./mistakes.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-inspect-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, ...lines: (string | object)[]): string {
  const path = join(folder, name);
  writeFileSync(path, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return path;
}

const scored = (move: string, score: number, result: number) => ({ fen: START_FEN, move, score, ply: 0, result });

test("a file of records tells its kind, its number and who learns from it", async () => {
  const path = file("a.jsonl", scored("e2e4", 30, 1), scored("d2d4", 20, -1));
  const { kind, records, isWhole, families, warnings, first } = await inspectData(path);
  assert.deepEqual([kind, records, isWhole, warnings], ["scored", 2, true, []]);
  assert.deepEqual(families, ["residual", "decoder", "nnue"]);
  assert.equal(first[0].move, "e2e4");
  const moves = await inspectData(file("b.jsonl", { fen: START_FEN, moves: { e2e4: 30, d2d4: 20 } }));
  assert.deepEqual([moves.kind, moves.families], ["all_moves", ["moe"]]);
});

test("scores that are all 0 and games without evals are warned of before anybody trains", async () => {
  const zeros = await inspectData(file("c.jsonl", scored("e2e4", 0, 1), scored("d2d4", 0, -1)));
  assert.match(zeros.warnings[0], /Every score is 0.*resultShare/);
  const games = await inspectData(file("d.pgn", '[Result "1-0"]', "", "1. e4 e5 1-0", ""));
  assert.deepEqual([games.kind, games.records], ["games", 1]);
  assert.match(games.warnings[0], /No game has \[%eval\]/);
});

test("a file of games names its players, those with most games first, and no unknown ones", async () => {
  const game = (white: string, black: string) => [`[White "${white}"]`, `[Black "${black}"]`, "", "1. e4 e5 1-0", ""];
  const path = file("p.pgn", ...game("Ann", "Bob"), ...game("?", "Bob"), ...game("Bob", "Cy"));
  const { players } = await inspectData(path);
  assert.deepEqual(players[0], { name: "Bob", games: 3 });
  assert.deepEqual(new Set(players.map(({ name }) => name)), new Set(["Ann", "Bob", "Cy"]));
});

test("an empty file and one of an unknown kind are refused", async () => {
  await assert.rejects(inspectData(file("e.jsonl")), { code: "FILE_EMPTY" });
  await assert.rejects(inspectData(file("blank.jsonl", "\n")), { code: "DATA_EMPTY" });
  await assert.rejects(inspectData(file("f.txt", "x")), { code: "FORMAT_UNKNOWN" });
});

/** Likes e2e4 by three quarters, and the position by 100 centipawns. */
const player: Player = {
  name: "fake",
  options: {},
  newGame: async () => {},
  setOption: async () => {},
  close: async () => {},
  async choose(position): Promise<Choice> {
    const move = parseUci(position, "e2e4") ?? assert.fail();
    const policy = { e2e4: 0.75, d2d4: 0.25 };
    return { move, lines: [{ pv: ["e2e4"], scoreCp: 100 }], policy, timeMs: 1 };
  },
};

test("the worst mistake comes first: surprise at the move, and the error of the value", async () => {
  const path = file("g.jsonl", scored("e2e4", 100, 1), scored("d2d4", 100, 1), scored("e2e4", -800, 1));
  const found = await findMistakes(player, path, { sample: 10 });
  assert.deepEqual(
    found.map(({ move, target }) => [move, target?.toFixed(3)]),
    [
      ["e2e4", "0.018"],
      ["d2d4", "0.622"],
      ["e2e4", "0.622"],
    ],
  );
  assert.ok(Math.abs(found[2].loss - Math.log(4 / 3)) < 1e-9); // the value is right, so only the move counts
  assert.equal(found[1].moveShare, 0.25);
  const byResult = await findMistakes(player, path, { sample: 10, resultShare: 1 });
  assert.equal(byResult[0].target, 1);
});
