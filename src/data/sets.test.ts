import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSets, type SetOptions } from "./sets.js";

const GAME = (eval1: string) =>
  `[Event "x"]\n[Result "1-0"]\n\n1. e4 { ${eval1} } e5 { [%eval 0.2] } 2. Nf3 { [%eval 0.3] } 1-0\n`;

function places() {
  const root = mkdtempSync(join(tmpdir(), "tabiya-sets-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "sets"));
  const notes: string[] = [];
  const open = (sets: string[], options: Partial<SetOptions> = {}) =>
    openSets(sets, { folder: join(root, "run/data"), role: "learn", note: (text) => notes.push(text), ...options });
  return { root, notes, open, at: (name: string) => join(root, name) };
}

test("a folder stands for the files of records in it; validation files are to judge by", async () => {
  const { open, at } = places();
  for (const name of ["b.bin", "a.binpack", "a.validation.bin", "notes.txt"]) writeFileSync(at(`sets/${name}`), "");
  const files = [at("sets/a.binpack"), at("sets/b.bin")];
  assert.deepEqual(await open([at("sets")]), files);
  assert.deepEqual(await open([`${at("sets")}/`]), files);
  assert.deepEqual(await open([`${at("sets")}?resultShare=1`]), files.map((file) => `${file}?resultShare=1`)); // biome-ignore format: one thought
  assert.deepEqual(await open([at("sets")], { role: "judge" }), [at("sets/a.validation.bin")]);
  rmSync(at("sets/a.validation.bin"));
  assert.deepEqual(await open([at("sets")], { role: "judge" }), files);
  assert.deepEqual(await open([at("missing.bin")]), [at("missing.bin")]); // whoever opens it says that it is missing
});

test("a folder without records or games is refused", async () => {
  const { open, at } = places();
  writeFileSync(at("sets/notes.txt"), "");
  await assert.rejects(open([at("sets")]), /sets: the folder has no files of records/);
});

test("games become records once, by their evals or, where only results count, by these", async () => {
  const { open, at, notes } = places();
  writeFileSync(at("sets/g.pgn"), GAME("[%eval 0.1]"));
  const [byEval] = await open([at("sets")]);
  assert.equal(statSync(byEval).size, 2 * 40); // before 1... and 2.; after 2. Nf3 there is no move to learn
  const { mtimeMs } = statSync(byEval);
  assert.deepEqual(await open([at("sets/g.pgn")]), [byEval]);
  assert.equal(statSync(byEval).mtimeMs, mtimeMs);
  assert.equal(notes.length, 2);
  const [byResult] = await open([`${at("sets/g.pgn")}?resultShare=1`]);
  expect(byResult).toMatch(/result\.bin\?resultShare=1$/);
  assert.equal(statSync(byResult.replace(/\?.*/, "")).size, 3 * 40);
  assert.equal((await open([at("sets/g.pgn")], { resultShare: 1 }))[0], byResult.replace(/\?.*/, ""));
});

test("files of one name in two folders do not become one file of records", async () => {
  const { open, at } = places();
  mkdirSync(at("more"));
  writeFileSync(at("sets/g.pgn"), GAME("[%eval 0.1]"));
  copyFileSync(at("sets/g.pgn"), at("more/g.pgn"));
  const files = await open([at("sets"), at("more")]);
  assert.equal(new Set(files).size, 2);
});

test("games without evals are refused with a way out, and leave nothing behind", async () => {
  const { open, at } = places();
  writeFileSync(at("g.pgn"), "1. e4 e5 2. Nf3 1-0\n");
  await assert.rejects(open([at("g.pgn")]), /g\.pgn: no position .* \[%eval\].*\n.*resultShare: 1/);
  await assert.rejects(open([at("g.pgn")]), /g\.pgn: no position/);
});

test("games without evals are told of early, with the setting that goes without", async () => {
  const { open, at, notes } = places();
  writeFileSync(at("g.pgn"), "1. e4 e5 2. Nf3 1-0\n".repeat(1_200) + GAME("[%eval 0.1]"));
  await open([at("g.pgn")]);
  assert.match(notes[1], /g\.pgn: the first 1000 games have no evaluations .*--set resultShare=1/);
});

test("games of one player give that player's moves, and those held out are judged by, never learnt from", async () => {
  const { open, at } = places();
  const game = (white: string, black: string, round: number) =>
    `[Event "x"]\n[Round "${round}"]\n[White "${white}"]\n[Black "${black}"]\n[Result "1-0"]\n\n1. ${"abcdefgh"[round % 8]}4 e5 2. ${round % 3 ? "Nf3" : "Nc3"} 1-0\n`;
  const games = Array.from({ length: 40 }, (_, i) => game(i % 2 ? "Ann" : "Bob", i % 2 ? "Bob" : "Cy", i));
  writeFileSync(at("g.pgn"), games.join("\n"));
  const set = `${at("g.pgn")}?player=ann&heldOut=0.3`;
  const [learnt] = await open([set], { resultShare: 1 });
  const [judged] = await open([set], { resultShare: 1, role: "judge" });
  const [size, held] = [statSync(learnt).size / 40, statSync(judged).size / 40];
  assert.equal(size + held, 2 * 20); // the two moves of each game of Ann's, with White
  assert.ok(held > 0 && held < size, `${held} held out of ${size + held}`);
  await assert.rejects(open([`${at("g.pgn")}?heldOut=0.0001`], { resultShare: 1 }), /leaves nothing on one side/);
  await assert.rejects(open([`${at("g.pgn")}?heldOut=0.0001`], { resultShare: 1 }), /leaves nothing on one side/);
  writeFileSync(at("r.bin"), "");
  await assert.rejects(open([`${at("r.bin")}?player=ann`]), /only games \(\.pgn\) have players/);
});
