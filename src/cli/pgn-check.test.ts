import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import pgnCheck from "./pgn-check.js";
import { runProgram } from "./program.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-pgn-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function run(...argv: string[]) {
  let stdout = "";
  let stderr = "";
  const output = { stdout: (text: string) => (stdout += text), stderr: (text: string) => (stderr += text) };
  const code = await runProgram([pgnCheck], ["pgn", "check", ...argv], output, { version: "0" });
  return { code, stdout, stderr };
}

const GOOD = '[Event "a"]\n\n1. e4 e5 2. Nf3 *\n\n';
const BROKEN = '[Event "b"]\n\n1. e4\nKe2 *\n\n';

test("games, plies, errors and bytes are summed over files", async () => {
  const { code, stdout } = await run(file("a.pgn", GOOD + BROKEN), file("b.pgn", GOOD), "--json");
  const { games, plies, errors, bytes, seconds, bad } = JSON.parse(stdout);
  assert.equal(code, 1);
  assert.deepEqual({ games, plies, errors, bytes }, { games: 2, plies: 6, errors: 1, bytes: 2 * GOOD.length + BROKEN.length }); // biome-ignore format: one line
  assert.ok(seconds > 0);
  assert.deepEqual(bad, [
    { file: join(folder, "a.pgn"), game: 2, line: 8, reason: "the move Ke2 (move 1, Black) is not legal." },
  ]);
});

test("people are told where a broken game stands and why", async () => {
  const { stdout } = await run(file("c.pgn", GOOD + BROKEN));
  assert.match(stdout, /^1 games, 3 plies/);
  assert.match(stdout, /1 broken games were skipped:\n {2}.*c\.pgn: game 2, line 8: the move Ke2/);
});

test("the exit code says whether games were broken", async () => {
  assert.equal((await run(file("good.pgn", GOOD))).code, 0);
  assert.equal((await run(file("bad.pgn", BROKEN + GOOD))).code, 1);
});

test("what is no file of games gives one clear message and exit code 1", async () => {
  const cases: [string, RegExp][] = [
    [file("empty.pgn", ""), /empty\.pgn: the file is empty/],
    [file("blank.pgn", "\n\n"), /no game in this file/],
    [file("picture.pgn", new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0, 1])), /binary file/],
    [file("letter.pgn", "Dear Sir,\nthank you."), /no game in this file.*\n.*"Dear" \(move 1, White\) is not a move/],
    [join(folder, "missing.pgn"), /missing\.pgn/],
  ];
  for (const [path, message] of cases) {
    const { code, stdout, stderr } = await run(path, "--json");
    assert.equal(code, 1, path);
    assert.equal(stdout, "");
    assert.match(stderr, message);
  }
});

const zstd = spawnSync("zstd", ["-q", "-c"], { input: GOOD.repeat(5000) });
test.skipIf(zstd.status !== 0)("a compressed file is read; one cut off is an error", async () => {
  const whole = await run(file("d.pgn.zst", zstd.stdout), "--json");
  assert.equal(JSON.parse(whole.stdout).games, 5000);
  const { code, stderr } = await run(file("e.pgn.zst", zstd.stdout.subarray(0, zstd.stdout.length - 20)));
  assert.equal(code, 1);
  assert.match(stderr, /e\.pgn\.zst/);
});
