import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { loadCommands } from "../src/cli/commands.js";
import { runProgram } from "../src/cli/program.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-convert-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const golden = (extension: string) => `test/fixtures/formats/golden.${extension}`;
const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

async function run(...argv: string[]) {
  let stdout = "";
  let stderr = "";
  const output = { stdout: (text: string) => void (stdout += text), stderr: (text: string) => void (stderr += text) };
  const line = ["data", ...argv, "--json"];
  const code = await runProgram(await loadCommands(line), line, output, { version: "test" });
  return { code, stderr, json: stdout === "" ? undefined : JSON.parse(stdout) };
}
const lines = (file: string) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("every format of scored records becomes every other and comes back", async () => {
  for (const extension of ["binpack", "plain", "jsonl", "parquet", "bin.gz", "jsonl.gz"]) {
    const { code, json } = await run("convert", golden("bin"), "-o", at(`a.${extension}`));
    assert.equal(code, 0, extension);
    assert.deepEqual([json.records, json.bad], [8, 0]);
    assert.equal((await run("convert", at(`a.${extension}`), at("back.bin"))).code, 0); // a bare second path is OUT too
    assert.ok(readFileSync(at("back.bin")).equals(readFileSync(golden("bin"))), extension);
  }
});

test("info tells format, records, bytes and the first records", async () => {
  const { json } = await run("info", golden("bin"), "--first", "2");
  assert.equal(json.format, "bin");
  assert.equal(json.records, 8);
  assert.equal(json.bytes, 320);
  assert.deepEqual(json.first, lines(golden("jsonl")).slice(0, 2));
  assert.equal((await run("info", golden("binpack"))).json.records, 8);
});

test("scores become win probabilities, moves and states", async () => {
  await run("convert", golden("bin"), "-o", at("s@2.bagz"), "--kind", "state_value");
  await run("convert", at("s@2.bagz"), "-o", at("s.jsonl"));
  const states = lines(at("s.jsonl"));
  assert.equal(states.length, 8);
  assert.ok(Math.abs(states[0].win_prob - 1 / (1 + Math.exp(-0.00368208 * 31))) < 1e-12);
  assert.equal(states[2].win_prob, 0.5);
  await run("convert", golden("bin"), "-o", at("b.jsonl"), "--kind", "behavioral_cloning");
  assert.deepEqual(lines(at("b.jsonl"))[0], { fen: START, move: "e2e4" });
});

test("every valued move becomes an action value, mates included", async () => {
  writeFileSync(at("all.jsonl"), `${JSON.stringify({ fen: START, moves: { e2e4: 0, d2d4: "#3", f2f3: "#-2" } })}\n`);
  const { json } = await run("convert", at("all.jsonl"), "-o", at("all.bag"), "--kind", "action_value");
  assert.equal(json.records, 3);
  const { first } = (await run("info", at("all.bag"), "--first", "9")).json;
  assert.deepEqual(
    first.map(({ move, win_prob }: { move: string; win_prob: number }) => [move, win_prob]),
    [["e2e4", 0.5], ["d2d4", 1], ["f2f3", 0]], // biome-ignore format: a table
  );
});

test("valued moves become a policy that prefers the best, and the value of it", async () => {
  writeFileSync(at("valued.jsonl"), `${JSON.stringify({ fen: START, moves: { e2e4: 20, d2d4: 14, f2f3: -200 } })}\n`);
  assert.equal((await run("convert", at("valued.jsonl"), "-o", at("p.jsonl"), "--kind", "policy")).json.records, 1);
  const [{ move, policy, value }] = lines(at("p.jsonl"));
  assert.equal(move, "e2e4"); // the best, for networks that read a move
  const [pawn, queen, f3] = [76, 75, 13].map((index) => policy[index]);
  assert.ok(pawn > queen && queen > 0.3 && f3 < 1e-4, JSON.stringify(policy));
  assert.ok(Math.abs(pawn + queen - 1) < 1e-4);
  assert.ok(Math.abs(value - (2 / (1 + Math.exp(-0.00368208 * 20)) - 1)) < 1e-4);
  assert.deepEqual(JSON.parse(readFileSync(at("p.jsonl.meta.json"), "utf8")), { moves: "moves4672" });
  writeFileSync(at("illegal.jsonl"), `${JSON.stringify({ fen: START, moves: { e2e5: 20 } })}\n`);
  const refused = await run("convert", at("illegal.jsonl"), "-o", at("q.jsonl"), "--kind", "policy");
  assert.match(refused.stderr, /e2e5 is no legal move/);
});

test("valued moves become records of the quiet positions behind them, seen from the other side", async () => {
  const fen = "4k3/8/8/3p4/4P3/8/8/4K2Q w - - 0 5";
  // Qg1 leaves a pawn to be taken, Qh8 checks, and a mate is no number of centipawns.
  const moves = { e4d5: 900, e4e5: "#4", h1h8: 700, h1g1: 300 };
  writeFileSync(at("children.jsonl"), `${JSON.stringify({ fen, moves })}\n`);
  await run("convert", at("children.jsonl"), "-o", at("children.bin"));
  await run("convert", at("children.bin"), "-o", at("back.jsonl"));
  assert.deepEqual(lines(at("back.jsonl")), [
    { fen: "4k3/8/8/3P4/8/8/8/4K2Q b - - 0 5", move: null, score: -900, ply: 9, result: 0 },
  ]);
});

test("move numbers are read by their table, and only by it", async () => {
  writeFileSync(at("index.jsonl"), `${JSON.stringify({ fen: START, move_index: 12 * 64 + 28, value: 0.5 })}\n`);
  const target = ["-o", at("index.bag"), "--kind", "action_value"];
  const refused = await run("convert", at("index.jsonl"), ...target);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Name the table of moves/);
  assert.ok(!existsSync(at("index.bag")));
  assert.equal((await run("convert", at("index.jsonl"), ...target, "--moves", "omegazero4672")).json.records, 1);
  const { first } = (await run("info", at("index.bag"))).json;
  assert.deepEqual(first, [{ fen: START, move: "e2e4", win_prob: 0.75 }]);
  assert.match(
    (await run("convert", at("index.jsonl"), ...target, "--moves", "moves4672")).stderr,
    /names no legal move/,
  );
  assert.match((await run("convert", at("index.jsonl"), ...target, "--moves", "x")).stderr, /no table of moves "x"/);
});

test("bad records are left out, counted and told of; a file of nothing else is an error", async () => {
  const good = readFileSync(golden("jsonl"), "utf8");
  writeFileSync(at("bad.jsonl"), `${good}{"fen": broken}\n${good.replace("e2e4", "e2e5")}`);
  const { code, json, stderr } = await run("convert", at("bad.jsonl"), "-o", at("bad.bin"));
  assert.equal(code, 0);
  assert.deepEqual([json.records, json.bad], [15, 2]);
  assert.match(stderr, /bad\.jsonl: line 9, byte \d+: no JSON/);
  assert.match(stderr, /bad\.bin: record 8: the move e2e5 is not legal/);
  writeFileSync(at("only.jsonl"), '{"fen": broken}\n');
  const only = await run("convert", at("only.jsonl"), "-o", at("only.bin"));
  assert.equal(only.code, 1);
  assert.ok(!existsSync(at("only.bin")));
});

test("what cannot be converted is refused in one message and leaves nothing behind", async () => {
  const cases = [
    [golden("bin"), "x.bag", /Say with --kind/],
    [at("s@2.bagz"), "x.bin", /state_value records do not hold what scored records need/],
    [at("s@3.bagz"), "x.jsonl", /shard 0 of 3 is missing/],
    [golden("bin"), "x.csv", /puzzles are read, not written/],
    [golden("bin"), "x.table", /its name does not say/],
    [at("missing.bin"), "x.jsonl", /no such file/],
  ] as const;
  for (const [input, output, message] of cases) {
    const { code, stderr } = await run("convert", input, "-o", at(output));
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
  assert.deepEqual(readdirSync(folder).filter((file) => /^x|\.part$/.test(file)), []); // biome-ignore format: short
});

test("what ends with nothing leaves the file that was there, and exits 1", async () => {
  const empty = join(folder, "empty.jsonl");
  writeFileSync(empty, "");
  for (const command of ["convert", "shuffle", "dedupe"]) {
    const out = join(folder, `kept-${command}.jsonl`);
    writeFileSync(out, "precious");
    const { code } = await run(command, empty, "-o", out);
    assert.equal(code, 1, command);
    assert.equal(readFileSync(out, "utf8"), "precious", command);
  }
});

test("check says that a file without records is empty, with exit code 1", async () => {
  for (const name of ["empty.bin", "empty.jsonl"]) {
    writeFileSync(at(name), "");
    const { code, stderr } = await run("check", at(name));
    assert.equal(code, 1);
    assert.match(stderr, /the file is empty/);
  }
  writeFileSync(at("blank.jsonl"), "\n");
  const { code, stderr } = await run("check", at("blank.jsonl"));
  assert.equal(code, 1);
  assert.match(stderr, /holds no records/);
  assert.equal((await run("check", golden("bin"))).code, 0);
});
