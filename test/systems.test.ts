// What differs between Linux, macOS and Windows, simulated here: line ends, paths with drives and backslashes, names of files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, win32 } from "node:path";
import { afterAll, test } from "vitest";
import { parseTask } from "../src/arena/index.js";
import { openBytes, readLines } from "../src/base/index.js";
import { loadBook, openSets } from "../src/data/index.js";
import { parsePlayer, resolvePlayer, runUci } from "../src/engine/index.js";
import { openRecords, parseGames, readPuzzles } from "../src/formats/index.js";
import { parseLearnRecipe } from "../src/learn/index.js";
import { parseRecipe, parseSource } from "../src/training/index.js";
import { START_RUN, UPLOAD_NAME } from "../src/web/protocol/requests.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-systems-"));
afterAll(() => rmSync(folder, { recursive: true }));
const save = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const linesOf = async (path: string) => readLines(await openBytes(path), basename(path));

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const recordsOf = async (path: string) => (await all(await openRecords(path))).flat();
const FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

/** Readers of text: a name for the file, a text, and what is made of it. */
const READERS: Record<string, [string, string, (path: string) => Promise<unknown>]> = {
  PGN: [
    "a.pgn",
    '[White "A"]\n\n1. e4 {a comment\nof two lines} e5 ; to the end\n2. Nf3 *\n\n[White "B"]\n\n1. d4 1-0\n',
    async (path) =>
      parseGames(readFileSync(path)).map((game) => [
        [...game.tags],
        [...game.moves],
        game.comments(1).map((text) => text.replaceAll("\r\n", "\n")),
        game.comments(2),
        game.result,
      ]),
  ],
  "openings (EPD)": [
    "a.epd",
    `${FEN} id "x";\n# comment\n\n4k3/8/8/8/8/8/3P4/4K3 w - -\n`,
    async (path) => {
      const book = await loadBook(path, 8);
      return Array.from({ length: book.length }, (_, i) => book.at(i));
    },
  ],
  "a test suite (EPD)": [
    "b.epd",
    `${FEN} bm e4; id "one";\n4k3/8/8/8/8/8/4P3/4K3 w - - am e3;\n`,
    async (path) => (await all(await linesOf(path))).map((line) => parseTask(line, path)),
  ],
  "puzzles (CSV)": [
    "a.csv",
    "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n" +
      "00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1798,77,95,8190,crushing,https://x,\n",
    async (path) => all(readPuzzles(await linesOf(path), path)),
  ],
  JSONL: ["a.jsonl", `{"fen":"${FEN}","score":12}\n{"fen":"${FEN}","score":-3}\n`, recordsOf],
  ".plain": ["a.plain", `fen ${FEN}\nmove e2e4\nscore 12\nply 1\nresult 1\ne\n`, recordsOf],
  "a recipe (YAML)": [
    "a.yaml",
    "# tiny\nfamily: nnue\nsize: tiny\nquick:\n  epochs: 1\n",
    async (path) => parseRecipe(readFileSync(path, "utf8"), path),
  ],
  "a recipe of self-play (YAML)": [
    "b.yaml",
    "search: ab\ngenerations: 2\ntrain: { family: nnue, size: tiny }\nselfplay: { games: 4, nodes: 8 }\nmatch: { nodes: 4 }\n",
    async (path) => parseLearnRecipe(readFileSync(path, "utf8"), path),
  ],
};

for (const [name, [file, text, read]] of Object.entries(READERS))
  test(`${name} with the line ends of Windows is read like any other`, async () => {
    const expected = await read(save(file, text));
    assert.ok(JSON.stringify(expected).length > 10);
    assert.deepEqual(await read(save(file, text.replaceAll("\n", "\r\n"))), expected);
  });

test("a chess program that ends its lines as Windows does is understood", async () => {
  const printed: string[] = [];
  async function* lines() {
    yield* ["uci\r", "isready\r", "position startpos moves e2e4 e7e5\r", "go nodes 1\r", "quit\r"];
  }
  const player = await resolvePlayer("builtin@ab");
  await runUci(lines(), (line) => printed.push(line), { version: "test", player });
  for (const word of ["uciok", "readyok", "bestmove"])
    assert.ok(
      printed.some((line) => line.startsWith(word)),
      `${word}: ${printed}`,
    );
  assert.ok(!printed.some((line) => line.includes("\r")));
});

test("Ctrl-Break, the signal that Windows has instead of SIGTERM, stops a command as Ctrl-C does", () => {
  const signal = 'data:text/javascript,setInterval(()=>process.emit("SIGBREAK"),1500).unref()';
  const args = [
    "data",
    "generate",
    "builtin@ab",
    "-o",
    join(folder, "long.pgn"),
    "--games",
    "100000",
    "--nodes",
    "200",
  ];
  const { status, stderr } = spawnSync(process.execPath, ["--import", signal, "dist/cli/main.js", ...args], {
    encoding: "utf8",
    timeout: 120_000,
  });
  assert.equal(status, 130, stderr);
}, 150_000);

test("paths of Windows name players, engines and files of data", () => {
  const net = parsePlayer("C:\\nets\\my net.tnn@ab:200?Hash=16");
  assert.ok(net.kind === "network");
  assert.deepEqual([net.network, net.search, net.nodes, [...net.options]], ["C:\\nets\\my net.tnn", "ab", 200, [["Hash", "16"]]]); // biome-ignore format: one thought
  const bare = parsePlayer("D:/runs/first");
  assert.ok(bare.kind === "network" && bare.network === "D:/runs/first" && bare.search === undefined);
  const engine = parsePlayer("uci:C:\\engines\\stockfish.exe?Hash=16");
  assert.ok(engine.kind === "uci");
  assert.deepEqual([engine.program, engine.args], ["C:\\engines\\stockfish.exe", []]);
  assert.deepEqual(parseSource("C:\\games\\a.pgn?weight=2"), { path: "C:\\games\\a.pgn", weight: 2 });
});

const FORBIDDEN = /[<>:"|?*\\/]|[ .]$/; // in the name of a file on Windows

test("files that are made of games have names that every system takes", async () => {
  const pgn = save("g.pgn", '[White "O*Neil: \\"x\\"?"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n'.repeat(3));
  const open = (set: string) =>
    openSets([set], { folder: join(folder, "data"), role: "learn", resultShare: 1, note() {} });
  const [path] = await open(`${pgn}?player=${encodeURIComponent('O*Neil: "x"?')}`);
  assert.doesNotMatch(basename(path), FORBIDDEN);
  // A path with a drive: what is found at it is another question.
  await assert.rejects(open("C:\\games\\missing.pgn"), /missing\.pgn: no such file/);
  assert.equal(win32.basename("C:\\a\\b.pgn"), "b.pgn");
});

test("the studio takes no name for a run or an upload that Windows would not keep", () => {
  for (const name of ["CON", "nul.pgn", "Lpt1", "trailing.", "blank ", "a:b", "a*b", "a\\b", "a/b", ".."]) {
    assert.equal(UPLOAD_NAME.safeParse(name).success, false, name);
    assert.equal(START_RUN.safeParse({ name, settings: {} }).success, false, name);
  }
  for (const name of ["console", "my run 2", "games.pgn.zst", "a-b_c"])
    assert.ok(UPLOAD_NAME.safeParse(name).success, name);
});

test("no path is made from the path of an address, which on Windows begins with a slash and keeps %20", () => {
  for (const root of ["src", "test", "fuzz", "bench", "scripts"])
    for (const name of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      if (!/\.(ts|mjs)$/.test(name) || name.startsWith("torch")) continue;
      const found = /import\.meta\.url\)\.pathname/.test(readFileSync(join(root, name), "utf8"));
      // The one exception compares it with the lines of a stack, which hold addresses.
      assert.equal(found, join(root, name) === join("src", "tensor", "graph.ts"), join(root, name));
    }
});

test("workers are started and modules loaded by address or by the name of a package, never by a path with a drive", () => {
  for (const name of readdirSync("src", { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
    const source = readFileSync(join("src", name), "utf8");
    for (const [, argument] of source.matchAll(/new Worker\(([^,)]+)/g))
      assert.match(argument, /URL|url|beside|address/i, name);
    for (const [, argument] of source.matchAll(/\bimport\(([^)"`]+)\)/g))
      assert.match(argument, /href|url|^name$/i, name);
  }
});
