// The judge as users meet it: whole commands, run as processes where it matters that they are.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, test } from "vitest";
import { loadCommands } from "../src/cli/commands.js";
import { runProgram } from "../src/cli/program.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-judge-"));
afterAll(() => rmSync(folder, { recursive: true }));
const engine = fileURLToPath(new URL("./fixtures/engines/engine.mjs", import.meta.url));
const fixture = (mode: string) => `uci:${encodeURIComponent(process.execPath)} ${encodeURIComponent(engine)} ${mode}`;

async function tabiya(...args: string[]) {
  let stdout = "";
  let stderr = "";
  const output = { stdout: (text: string) => (stdout += text), stderr: (text: string) => (stderr += text) };
  const code = await runProgram(await loadCommands(args), args, output, { version: "test" });
  return { code, stdout, stderr };
}

async function json(...args: string[]) {
  const { code, stdout, stderr } = await tabiya(...args, "--json");
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** The games of a file, as lists of tags. */
const gamesIn = (file: string) =>
  readFileSync(file, "utf8")
    .split(/\n\n(?=\[Event )/)
    .map((text) =>
      Object.fromEntries([...text.matchAll(/^\[(\w+) "(.*)"\]$/gm)].map(([, name, value]) => [name, value])),
    );

test("a match counts from the first player's view and prints the fields of the contract", async () => {
  const result = await json("match", "random", fixture("illegal 3"), "--games", "6", "--nodes", "1");
  assert.deepEqual([result.wins, result.draws, result.losses, result.elo], [6, 0, 0, null]);
  assert.deepEqual(result.pentanomial, [0, 0, 0, 0, 3]);
  assert.equal(result.sprt, null);
  assert.deepEqual(result.faults, [{ player: fixture("illegal 3"), kind: "illegal move", count: 6 }]);
});

test("a test stops by itself", async () => {
  const result = await json("match", "random", "random", "--sprt", "-200,-100", "--max-moves", "40");
  assert.equal(result.sprt.result, "H1");
  assert.ok(result.sprt.llr >= result.sprt.upper);
  const games = result.wins + result.draws + result.losses;
  assert.ok(games > 2 && games < 200, `${games} games`);
});

test("a match killed with kill -9 goes on, without losing or repeating a game", async () => {
  const pgn = join(folder, "killed.pgn");
  const match = ["match", "random", "random", "--games", "300", "--concurrency", "2", "--max-moves", "20"];
  const args = [...match, "--pgn", pgn, "--resume", "--json"];
  const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
  const counts: number[] = [];
  for (let round = 0; round < 3; round++) {
    const child = spawn(process.execPath, [main, ...args], { stdio: "ignore" });
    const enough = 20 + 40 * round;
    while ((existsSync(pgn) ? gamesIn(pgn).length : 0) < enough)
      await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.on("exit", resolve));
    counts.push(gamesIn(pgn).length);
    appendFileSync(pgn, '[Event "Tabiya match"]\n[Site "?"]\n[White "rand'); // as a write cut off in the middle
  }
  assert.ok(counts[2] < 300, `it was over before it was killed: ${counts}`);
  const resumed = JSON.parse(
    execFileSync(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "ignore"] }).toString(),
  );
  const games = gamesIn(pgn);
  assert.equal(games.length, 300);
  assert.equal(new Set(games.map(({ GameIndex }) => GameIndex)).size, 300);
  const fresh = await json(...match, "--pgn", join(folder, "fresh.pgn"));
  for (const key of ["wins", "draws", "losses", "elo", "error", "los", "pentanomial"]) {
    assert.deepEqual(resumed[key], fresh[key], key);
  }
  assert.equal(resumed.wins + resumed.draws + resumed.losses, 300);
  // once more: nothing is left to be played
  assert.deepEqual((await json(...args.slice(0, -1))).pentanomial, fresh.pentanomial);
});

test("Ctrl-C ends a match with 130, its engines with it, and keeps the finished games", async () => {
  const pgn = join(folder, "interrupted.pgn");
  const mode = `ok ${process.pid}`; // to be found in the list of processes
  const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
  const args = [
    "match",
    "random",
    fixture(mode),
    "--games",
    "5000",
    "--nodes",
    "1",
    "--pgn",
    pgn,
    "--concurrency",
    "2",
  ];
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  while ((existsSync(pgn) ? gamesIn(pgn).length : 0) < 5) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGINT");
  const code = await new Promise((resolve) => child.on("exit", resolve));
  assert.equal(code, 130);
  assert.match(stderr, /interrupted: .*--resume/s);
  const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
  assert.deepEqual(
    left.filter((line) => line.includes(`engine.mjs ${mode}`)),
    [],
  );
  const kept = gamesIn(pgn).length;
  const more = ["--resume", "--games", String(kept + 2)];
  const result = await json(...args.slice(0, 3), ...args.slice(5), ...more);
  assert.equal(result.wins + result.draws + result.losses, kept + 2);
});

test("a book of games gives its openings, cut where asked", async () => {
  const book = join(folder, "book.pgn");
  writeFileSync(book, '[Event "a"]\n\n1. e4 e5 2. Nf3 *\n\n[Event "b"]\n\n1. d4 d5 2. c4 *\n');
  const pgn = join(folder, "from-book.pgn");
  await json("match", "random", "random", "--games", "4", "--openings", book, "--plies", "2", "--pgn", pgn);
  const text = readFileSync(pgn, "utf8");
  assert.equal(text.match(/^1\. e4 e5 2\. (?!Nf3 )/gm)?.length, 2); // not the book's third ply
  assert.equal(text.match(/^1\. d4 d5 2\. (?!c4 )/gm)?.length, 2);
});

test("agreement reads games and valued moves", async () => {
  const games = join(folder, "seen.pgn");
  writeFileSync(games, '[Event "a"]\n[Result "1-0"]\n\n1. e4 {[%eval 0.3]} e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 1-0\n');
  const result = await json("agreement", "random", games, "--skip", "2", "--per-game", "3");
  assert.equal(result.positions, 3);
  assert.ok(result.moveMatch >= 0 && result.high < 1 && result.valueMae === null);
  const labels = join(folder, "labels.jsonl");
  writeFileSync(labels, '{"fen":"7k/8/8/8/8/8/8/K7 w - - 0 1","moves":{"a1a2":0,"a1b1":0,"a1b2":0}}\n');
  const best = await json("agreement", "random", labels);
  assert.deepEqual([best.positions, best.moveMatch, best.regret], [1, 1, 0]);
});

test("a file of games is neither overwritten nor mixed with other conditions", async () => {
  const pgn = join(folder, "kept.pgn");
  await json("match", "random", "random", "--games", "4", "--pgn", pgn);
  const again = await tabiya("match", "random", "random", "--games", "4", "--pgn", pgn);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /kept\.pgn: this file exists.*--resume/s);
  const other = await tabiya("match", "random", "random", "--games", "8", "--pgn", pgn, "--resume", "--seed", "2");
  assert.equal(other.code, 1);
  assert.match(other.stderr, /other conditions: it has seed=1, this run seed=2/);
  assert.equal(
    (await json("match", "random", "random", "--games", "8", "--pgn", pgn, "--resume")).wins !== undefined,
    true,
  );
  assert.equal(gamesIn(pgn).length, 8);
  const foreign = join(folder, "foreign.pgn");
  writeFileSync(foreign, '[Event "x"]\n[White "a"]\n\n1. e4 1-0\n\n');
  const refused = await tabiya("match", "random", "random", "--pgn", foreign, "--resume");
  assert.match(refused.stderr, /foreign\.pgn: game 1 was not written by a contest/);
});

test("mistakes in the command line get one clear message", async () => {
  const message = async (...args: string[]) => {
    const { code, stderr, stdout } = await tabiya(...args);
    assert.equal(code, 1, stderr);
    assert.equal(stdout, "");
    return stderr;
  };
  assert.match(await message("match", "random", "uci:node"), /how long may uci:node think\?.* --tc 10/s);
  assert.match(await message("match", "random", "nnue@ab"), /how long may nnue@ab think\?/);
  assert.match(await message("match", "random"), /a match needs two players/);
  assert.match(await message("match", "random", "randon"), /Did you mean "random"/);
  assert.match(await message("match", "random", "random", "--tc", "fast"), /time control "fast": expected seconds/);
  assert.match(await message("match", "random", "random", "--resign", "3"), /--resign 3: expected moves,centipawns/);
  assert.match(await message("match", "random", "random", "--openings", "/none.epd"), /\/none\.epd: no such file/);
  assert.match(await message("match", "random", "random", "--resume"), /--resume needs --pgn/);
  assert.match(await message("tournament", "random"), /at least two players/);
  assert.match(await message("puzzles", "random", "/none.csv"), /\/none\.csv: no such file/);
  const csv = join(folder, "one.csv");
  writeFileSync(csv, "x,6k1/5ppp/8/8/8/8/r7/1R2R1K1 b - - 0 1,a2a3 b1b8,700\n");
  assert.match(await message("puzzles", "random", csv, "--rating", "800-900"), /no puzzle in it rated 800-900/);
  assert.match(await message("puzzles", "random", csv, "--rating", "900-800"), /--rating 900-800: expected/);
});

test("a tournament rates everybody and survives a resume", async () => {
  const pgn = join(folder, "cup.pgn");
  const args = ["tournament", "random", "random", fixture("illegal 9"), "--nodes", "1", "--rounds", "3", "--pgn", pgn];
  const result = await json(...args);
  assert.equal(result.players.length, 3);
  assert.deepEqual(
    result.players.map(({ games }: { games: number }) => games),
    [12, 12, 12],
  );
  assert.equal(result.players[2].name, fixture("illegal 9"));
  assert.ok(result.players[0].rating > 0 && result.players[2].rating < 0);
  const whole = readFileSync(pgn, "utf8");
  writeFileSync(pgn, whole.slice(0, Math.floor(whole.length * 0.6)));
  const resumed = await json(...args, "--resume");
  assert.deepEqual(resumed.players, result.players);
  const gauntlet = await json("tournament", "random", "random", "random", "--gauntlet", "--rounds", "2");
  const games = Object.fromEntries(gauntlet.players.map((p: { name: string; games: number }) => [p.name, p.games]));
  assert.deepEqual(games, { random: 8, "random (2)": 4, "random (3)": 4 });
});

test("puzzles and suites count what was found", async () => {
  const csv = join(folder, "puzzles.csv");
  writeFileSync(
    csv,
    "x,k7/8/K7/8/8/8/8/1q5R b - - 0 1,b1h1 a6b6,700\ny,7k/5Q2/6K1/8/8/8/8/8 b - - 0 1,h8g8 f7g7,900\n",
  );
  const bad = await tabiya("puzzles", "random", csv);
  assert.equal(bad.code, 1);
  assert.match(bad.stderr, /puzzle y, line 2: h8g8 is not legal/);
  writeFileSync(csv, "x,6k1/8/8/8/8/8/r7/7K w - - 0 1,h1g1 g8f7,700\n");
  const result = await json("puzzles", "random", csv);
  assert.deepEqual([result.total, result.byRating.length], [1, 1]);
  const epd = join(folder, "suite.epd");
  writeFileSync(
    epd,
    'k7/8/2K5/8/8/8/8/8 b - - bm Ka7 Kb8; id "all";\n7k/8/8/8/8/8/8/K7 w - - am Ka2 Kb2 Kb1; id "none";\n',
  );
  const suite = await json("suite", "random", epd);
  assert.deepEqual([suite.solved, suite.points, suite.total, suite.missed], [1, 1, 2, ["none"]]);
});
