import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatFen, parseFen, START_FEN } from "#chess";

const folder = mkdtempSync(join(tmpdir(), "tabiya-label-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => join(folder, name);

/** Different positions, one a line, and two of them again with other clocks. */
function fens(count: number): string[] {
  const random = new Random(2);
  const found = new Map<bigint, string>();
  while (found.size < count) {
    const position = parseFen(START_FEN);
    for (let ply = 0; ply < 40 && found.size < count && !position.outcome(); ply++) {
      position.play(random.pick(position.moves()));
      if (!position.outcome()) found.set(position.key, formatFen(position));
    }
  }
  return [...found.values()];
}

const FENS = fens(150);
const input = file("positions.fen");
const again = FENS.slice(0, 2).map((fen) => fen.replace(/ \d+ \d+$/, " 7 33"));
writeFileSync(input, `${[...FENS, ...again].join("\n")}\n`);

const engine = (log: string, ...trouble: string[]) =>
  ["node", "test/fixtures/engines/labeller.mjs", file(log), ...trouble].join(" ");
const asked = (log: string) => readFileSync(file(log), "utf8").trim().split("\n");

function start(...args: string[]): {
  child: ChildProcess;
  ended: Promise<{ code: number | null; out: string; err: string }>;
} {
  const child = spawn(process.execPath, ["dist/cli/main.js", "data", ...args]);
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    err += text;
  });
  return { child, ended: once(child, "close").then(([code]) => ({ code: code as number | null, out, err })) };
}

const label = (out: string, command: string, ...more: string[]) =>
  start("label", input, "-o", file(out), "--engine", command, "--depth", "3", "--json", ...more);

test("every position is asked once and written in the order of the input, whoever values it", async () => {
  const one = await label("one.jsonl", engine("one.log")).ended;
  assert.equal(one.code, 0, one.err);
  const { seconds: _, ...counts } = JSON.parse(one.out) as { seconds: number };
  assert.deepEqual(counts, { positions: 152, labelled: 150, cached: 2, failed: 0, over: 0, written: 152 });
  const two = await label("two.jsonl", engine("two.log"), "--processes", "3").ended;
  assert.equal(two.code, 0, two.err);
  assert.equal(readFileSync(file("one.jsonl"), "utf8"), readFileSync(file("two.jsonl"), "utf8"));
  assert.equal(asked("two.log").length, 150);
  const records = readFileSync(file("one.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    records.map(({ fen }) => fen),
    [...FENS, ...again],
  );
  assert.ok(!existsSync(file("one.jsonl.labels")));
});

test("all moves are valued, mates by their distance", async () => {
  const { code, err } = await label("all.jsonl", engine("all.log"), "--multipv", "all", "--processes", "2").ended;
  assert.equal(code, 0, err);
  const records = readFileSync(file("all.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  for (const { fen, moves } of records as { fen: string; moves: Record<string, number | string> }[]) {
    assert.equal(Object.keys(moves).length, parseFen(fen).moves().length);
  }
  const values = records.flatMap(({ moves }) => Object.values(moves));
  assert.ok(values.includes("#2") && values.includes("#-1") && values.some((value) => typeof value === "number"));
});

test("killed with -9 and started again it asks nothing twice, and ends with the same file", async () => {
  const command = engine("killed.log", "slow", "10");
  const { child, ended } = label("killed.jsonl", command);
  const journal = file("killed.jsonl.labels");
  while (!existsSync(journal) || statSync(journal).size < 2000) await sleep(20);
  child.kill("SIGKILL");
  await ended;
  const before = readFileSync(journal, "utf8").trim().split("\n").length - 1;
  assert.ok(before > 5 && before < 150, `${before} labels`);
  assert.ok(!existsSync(file("killed.jsonl")));
  writeFileSync(journal, `${readFileSync(journal, "utf8")}{"key":"12`); // a line cut off by the kill
  const { code, out, err } = await label("killed.jsonl", command).ended;
  assert.equal(code, 0, err);
  assert.ok(JSON.parse(out).cached >= before);
  // At most the position in work when it was killed is asked again.
  assert.ok(asked("killed.log").length <= 151, `${asked("killed.log").length} questions`);
  assert.equal(readFileSync(file("killed.jsonl"), "utf8"), readFileSync(file("one.jsonl"), "utf8"));
});

test("Ctrl-C leaves what is known, and the same command goes on", async () => {
  const command = engine("stopped.log", "slow", "10");
  const { child, ended } = label("stopped.jsonl", command);
  while (!existsSync(file("stopped.jsonl.labels")) || statSync(file("stopped.jsonl.labels")).size < 2000)
    await sleep(20);
  child.kill("SIGINT");
  const { code, err } = await ended;
  assert.equal(code, 130, err);
  assert.match(err, /run the same command to continue/);
  const other = await label("stopped.jsonl", command, "--nodes", "5").ended;
  assert.equal(other.code, 1);
  assert.match(other.err, /made otherwise/);
  assert.equal((await label("stopped.jsonl", command).ended).code, 0);
  assert.equal(readFileSync(file("stopped.jsonl"), "utf8"), readFileSync(file("one.jsonl"), "utf8"));
});

test("an engine that crashes or hangs is started again, and nothing is lost", async () => {
  for (const trouble of ["crash", "hang"]) {
    const command = engine(`${trouble}.log`, trouble, "40");
    const { code, out, err } = await label(`${trouble}.jsonl`, command, "--processes", "2", "--timeout", "5").ended; // a busy machine takes a second to start an engine
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).failed, 0);
    assert.match(err, /asked again/);
    assert.equal(readFileSync(file(`${trouble}.jsonl`), "utf8"), readFileSync(file("one.jsonl"), "utf8"), trouble);
  }
});

test("what cannot work is refused before the engine thinks", async () => {
  const wrong = async (expected: RegExp, ...args: string[]) => {
    const { code, err } = await start("label", input, ...args).ended;
    assert.equal(code, 1);
    assert.match(err, expected);
  };
  await wrong(/--engine/, "-o", file("x.jsonl"));
  await wrong(/--nodes 5000 or --depth/, "-o", file("x.jsonl"), "--engine", "stockfish");
  await wrong(/all moves fit into/, "-o", file("x.bin"), "--engine", "stockfish", "--depth", "1", "--multipv", "all");
  await wrong(/choose the kind/, "-o", file("x.bagz"), "--engine", "stockfish", "--depth", "1");
  await wrong(/no such program/, "-o", file("x.jsonl"), "--engine", "no-such-engine-here", "--depth", "1");
});

test("games from random openings can be stopped, resumed, and imported with their evaluations", async () => {
  const games = file("games.pgn");
  const player = `uci:${engine("games.log", "slow", "1")}`;
  const generate = ["generate", player, "-o", games, "--games", "6", "--depth", "1", "--max-moves", "12", "--json"];
  const { child, ended } = start(...generate);
  while (!existsSync(games) || !/1\/2|1-0|0-1/.test(readFileSync(games, "utf8"))) await sleep(20);
  child.kill("SIGKILL");
  await ended;
  const again = await start(...generate, "--resume").ended;
  assert.equal(again.code, 0, again.err);
  const text = readFileSync(games, "utf8");
  assert.equal(text.match(/^\[Event /gm)?.length, 6);
  const whole = await start(...generate.map((word) => (word === games ? file("whole.pgn") : word))).ended;
  assert.equal(whole.code, 0, whole.err);
  const moves = (pgn: string) =>
    pgn
      .replace(/\[%emt [^\]]*\]|\[Date [^\]]*\]/g, "")
      .replace(/\s+/g, " ") // lines break where the times end
      .split("[Event ")
      .sort();
  assert.deepEqual(moves(text), moves(readFileSync(file("whole.pgn"), "utf8")));
  const { code, out, err } = await start("import", games, "-o", file("games.bin"), "--json").ended;
  assert.equal(code, 0, err);
  const { kept, positions } = JSON.parse(out);
  assert.equal(kept, 6);
  assert.ok(positions > 60);
});
