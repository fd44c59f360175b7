// The program in docs/training.md, as a reader would run it: against dist, so build first.
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

test("the program of docs/training.md runs, and leaves what it promises", () => {
  const [, code] = /```ts\n(.*?)```/s.exec(readFileSync("docs/training.md", "utf8")) ?? [];
  const dist = pathToFileURL(resolve("dist")).href;
  const script = transformSync(code.replace(/"tabiya\/(\w+)"/g, `"${dist}/$1/index.js"`), { loader: "ts" }).code;
  writeFileSync(join(folder, "program.mjs"), script);
  writeFileSync(join(folder, "games.pgn"), randomGames(60));
  const out = execFileSync(process.execPath, ["program.mjs"], { cwd: folder, encoding: "utf8" });
  assert.match(out, /^\d+ positions to learn, \d+ to judge by\n1152 numbers a position, \[ 32, 96 \] \[ 32, 96 \]/);
  assert.match(out, /epoch 1: [\d.]+, [\d.]+\nepoch 2: [\d.]+, [\d.]+/);
  const lines = (name: string) => readFileSync(join(folder, name), "utf8").trim().split("\n").length;
  const { size } = { size: readFileSync(join(folder, "games.bin")).length / 40 };
  assert.equal(lines("games.jsonl"), size);
  for (const path of ["checkpoints/run_001/best", "checkpoints/run_002/best", "checkpoints/first"])
    assert.ok(existsSync(join(folder, path, "model.safetensors")), path);
  assert.ok(!existsSync(join(folder, "checkpoints/first/optimizer.safetensors")));
  const { config } = JSON.parse(readFileSync(join(folder, "checkpoints/run_002/best/metadata.json"), "utf8"));
  assert.equal(config.start, "checkpoints/first");
}, 120_000);
