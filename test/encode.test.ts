import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "vitest";
import { MOVE_TABLE_NAMES } from "#encodings";
import { loadCommands } from "../src/cli/commands.js";
import { runProgram } from "../src/cli/program.js";

async function run(...argv: string[]) {
  let stdout = "";
  let stderr = "";
  const output = { stdout: (text: string) => void (stdout += text), stderr: (text: string) => void (stderr += text) };
  const code = await runProgram(await loadCommands(argv), argv, output, { version: "test" });
  return { code, stderr, lines: stdout.trimEnd().split("\n") };
}
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const CASTLE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

test("encode prints one JSON line for each position and echoes the FEN", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-encode-"));
  writeFileSync(join(folder, "fens.txt"), `${START}\n\n4k3/8/8/8/8/8/8/4K3 w - -\n`);
  const { code, lines } = await run("encode", "halfkp", "--fens", join(folder, "fens.txt"), "--json");
  rmSync(folder, { recursive: true });
  assert.equal(code, 0);
  const records = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    records.map(({ fen, white, black }) => [fen, white.length, black.length]),
    [[START, 30, 30], ["4k3/8/8/8/8/8/8/4K3 w - -", 0, 0]], // biome-ignore format: a table
  );
});

test("encode knows tokens, planes and moves", async () => {
  const [tokens, board, planes13, planes18, moves] = await Promise.all(
    ["fen-tokens", "board68", "planes13", "planes18", "moves"].map(async (name) =>
      JSON.parse((await run("encode", name, "--fen", CASTLE, "--json")).lines[0]),
    ),
  );
  assert.equal(tokens.tokens.length, 77);
  assert.equal(board.tokens.length, 68);
  assert.equal(planes13.data.length, 832);
  assert.equal(planes18.data.length, 1152);
  assert.deepEqual(Object.keys(moves.moves.e1g1), MOVE_TABLE_NAMES);
  const chess960 = await run("encode", "moves", "--fen", CASTLE, "--chess960", "--json");
  assert.equal(JSON.parse(chess960.lines[0]).moves.e1h1.moves4288, 4 * 64 + 7);
});

test("encode refuses what it does not know in one message", async () => {
  const unknown = await run("encode", "fen-token", "--fen", START);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /Did you mean "fen-tokens"/);
  assert.match((await run("encode", "moves")).stderr, /--fen, or a file of them with --fens/);
  assert.equal((await run("encode", "moves", "--fen", "nonsense")).code, 1);
});
