// The programs in docs/training.md and docs/library.md, as a reader would run them: against dist, so build first.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatSan, parseFen, START_FEN } from "#chess";

const folder = mkdtempSync(join(tmpdir(), "tabiya-library-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** PGN of random games. */
function randomGames(count: number): string {
  const random = new Random(9);
  return Array.from({ length: count }, () => {
    const position = parseFen(START_FEN);
    const words: string[] = [];
    while (words.length < 60 && !position.outcome()) {
      const move = random.pick(position.moves());
      words.push(formatSan(position, move));
      position.play(move);
    }
    const result = random.pick(["1-0", "0-1", "1/2-1/2"]);
    return `[Event "x"]\n[Result "${result}"]\n\n${words.join(" ")} ${result}\n\n`;
  }).join("");
}

/** The programs of a document. */
const programsOf = (path: string) =>
  [...readFileSync(path, "utf8").matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);

/** Runs a program; what it prints. */
function run(code: string): string {
  const dist = pathToFileURL(resolve("dist")).href;
  const script = transformSync(code.replace(/"tabiya\/(\w+)"/g, `"${dist}/$1/index.js"`), { loader: "ts" }).code;
  writeFileSync(join(folder, "program.mjs"), script);
  return execFileSync(process.execPath, ["program.mjs"], { cwd: folder, encoding: "utf8" });
}

/** What the programs of docs/library.md print, by the door that each is about. */
const PRINTED: Record<string, RegExp> = {
  base: /^the same seed gives the same numbers\n true\ntrue FILE_MISSING\n$/,
  chess: /^rnbqkbnr\/pppppppp\/8\/8\/4P3\/8\/PPPP1PPP\/RNBQKBNR b KQkq - 0 1 undefined\n.*\ba6\b.*\n\w{4} 13160\n$/,
  tensor: /^([\d.]+\n){3}$/,
  encodings: /^rnbqkbnr\/pppppppp\/8\/8\/8\/8\/PPPPPPPP\/RNBQKBNR w KQkq - 0 1 \d+\n$/,
  formats: /^Anna 5 1-0\n4k3\/8\/8\/8\/8\/8\/4P3\/4K3 w - - 0 1 120\n$/,
  models: /^\d+ parameters\nresidual\n$/,
  training: /^loss [\d.]+, top-1 [\d.]+\nfinished 4 \[ 'best', 'epoch_001' \] 2\n$/,
  search: /^Ra8#\n$/,
  engine: /^Ra8#\n$/,
  arena: /^[\d.]+ [\d.]+ [\d.-]+\n$/,
  data: /^(game \d\n){4}match\n$/,
};

test("docs/library.md has a program for every door, and each prints what it should", () => {
  const headings = [...readFileSync("docs/library.md", "utf8").matchAll(/^## tabiya\/(\w+)/gm)].map(([, door]) => door);
  assert.deepEqual(headings, Object.keys(PRINTED));
  const programs = programsOf("docs/library.md");
  headings.forEach((door, i) => {
    assert.match(programs[i], new RegExp(`"tabiya/${door}"`));
    assert.match(run(programs[i]), PRINTED[door], door);
  });
});

test("the program of docs/training.md runs, and leaves what it promises", () => {
  writeFileSync(join(folder, "games.pgn"), randomGames(60));
  const out = run(programsOf("docs/training.md")[0]);
  assert.match(
    out,
    /^\d+ positions to learn, \d+ to validate on\n1152 numbers per position, \[ 32, 96 \] \[ 32, 96 \]/,
  );
  assert.match(out, /epoch 1: [\d.]+, [\d.]+\nepoch 2: [\d.]+, [\d.]+/);
  const lines = (name: string) => readFileSync(join(folder, name), "utf8").trim().split("\n").length;
  const { size } = { size: readFileSync(join(folder, "games.bin")).length / 40 };
  assert.equal(lines("games.jsonl"), size);
  for (const path of ["checkpoints/run_001/best", "checkpoints/run_002/best", "checkpoints/first"])
    assert.ok(existsSync(join(folder, path, "model.safetensors")), path);
  assert.ok(!existsSync(join(folder, "checkpoints/first/optimizer.safetensors")));
  const { config } = JSON.parse(readFileSync(join(folder, "checkpoints/run_002/best/metadata.json"), "utf8"));
  assert.equal(config.start, "checkpoints/first");
});
