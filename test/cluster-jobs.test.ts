// Every kind of job, done by four workers on a real Redis: the bytes must be those of this program alone. TABIYA_CLUSTER_FULL=1
// plays a match of 200 games instead of 40.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci, parseFen, START_FEN } from "#chess";
import { askByJobs, BullTransport, EmbeddedTransport, FolderStore, playByJobs, playContestByJobs, type Transport } from "#cluster"; // biome-ignore format: a list
import { type ContestInput, labelPositions, PgnStore, runContest, runSelfPlay, type SelfPlayInput, writeVariations } from "#data"; // biome-ignore format: a list
import { resolvePlayer } from "#engine";
import { Machines } from "./cluster-machines.js";
import { hasRedis } from "./redis-server.js";

const machines = new Machines();
const file = (name: string) => machines.file(name);
const bytes = (name: string) => readFileSync(file(name), "latin1");
const labeller = `${process.execPath} test/fixtures/engines/labeller.mjs ${file("labeller.log")}`;
let [threads, cluster] = [undefined as Transport | undefined, undefined as Transport | undefined];

beforeAll(async () => {
  if (!hasRedis) return;
  await machines.start();
  await machines.workers(4, { engines: { labeller } });
  cluster = await BullTransport.open(machines.url, { itemsPerJob: 5 });
  threads = new EmbeddedTransport(new FolderStore(file("files")), { threads: 1 });
});
afterAll(async () => {
  await cluster?.close();
  await threads?.close();
  machines.close();
});

/** The transports by name: where work is done, and the name of its output. */
const places = () => Object.entries({ threads: threads!, cluster: cluster! });

const MATCH: ContestInput = {
  kind: "match",
  players: ["nnue@ab:30", "builtin@ab:30"],
  games: process.env.TABIYA_CLUSTER_FULL ? 200 : 40,
  adjudication: { maxMoves: 20, material: { points: 5, moves: 2 } },
};

test.skipIf(!hasRedis)(
  "a match has the same PGN, and a test stops after the same game",
  async () => {
    const sprt = { ...MATCH, games: 400, sprt: { elo0: -300, elo1: 300 } };
    const here = await runContest(MATCH, { store: new PgnStore(file("here.pgn")) });
    const tested = await runContest(sprt, { store: new PgnStore(file("here-sprt.pgn")) });
    for (const [place, transport] of places()) {
      const play = playContestByJobs(transport);
      const { seconds: _, ...result } = await runContest(MATCH, { play, store: new PgnStore(file(`${place}.pgn`)) });
      assert.deepEqual({ ...result, seconds: here.seconds }, here);
      assert.equal(bytes(`${place}.pgn`), bytes("here.pgn"));
      const test = await runContest(sprt, { play, store: new PgnStore(file(`${place}-sprt.pgn`)) });
      assert.deepEqual({ ...test, seconds: tested.seconds }, tested);
      assert.equal(bytes(`${place}-sprt.pgn`), bytes("here-sprt.pgn"));
    }
    assert.ok(tested.kind === "match" && tested.sprt?.result !== "undecided");
  },
  240_000,
);

test.skipIf(!hasRedis)("self-play from a book has the same records", async () => {
  writeFileSync(file("book.epd"), ["k7/8/8/8/8/8/8/KQ6 w - -", "k7/8/8/8/8/8/6p1/K7 b - -"].join("\n"));
  const spec: SelfPlayInput = {
    player: "uniform@mcts",
    games: 12,
    nodes: 20,
    openings: { file: file("book.epd") },
    adjudication: { maxMoves: 12 },
  };
  await runSelfPlay(spec, file("here.jsonl"));
  for (const [place, transport] of places()) {
    await runSelfPlay(spec, file(`${place}.jsonl`), { play: playByJobs(transport) });
    assert.equal(bytes(`${place}.jsonl`), bytes("here.jsonl"));
  }
});

/** Positions after random moves. */
function fens(count: number): string[] {
  const random = new Random(5);
  const position = parseFen(START_FEN);
  return Array.from({ length: count }, () => {
    if (position.outcome()) while (position.undo() !== undefined);
    position.play(random.pick(position.moves()));
    return formatFen(position);
  });
}

test.skipIf(!hasRedis)(
  "labels of an engine and variations of a network are the same",
  async () => {
    writeFileSync(file("positions.epd"), fens(20).join("\n"));
    const asking = { processes: 1, signal: new AbortController().signal, onProgress() {}, onTrouble: (text: string) => assert.fail(text) }; // biome-ignore format: a list
    const label = async (to: string, transport: Transport | undefined) => {
      const player = transport === cluster ? "uci:labeller" : `uci:${labeller}`; // by name; the arguments are the workers' affair
      const limits = { depth: 2 };
      const elsewhere = transport && (await askByJobs(transport, player, limits, { kind: "label", allMoves: true }, asking.onTrouble)); // biome-ignore format: a list
      const create = () => resolvePlayer(player);
      return labelPositions(file("positions.epd"), to, { ...asking, create, engine: player, limits, allMoves: true, elsewhere }); // biome-ignore format: a list
    };
    const vary = async (to: string, transport: Transport | undefined) => {
      const player = "residual@mcts";
      const limits = { nodes: 8 };
      const elsewhere = transport && (await askByJobs(transport, player, limits, { kind: "variations", multiPv: 2 }, asking.onTrouble)); // biome-ignore format: a list
      const create = () => resolvePlayer(player);
      return writeVariations(file("positions.epd"), to, { ...asking, create, player, limits, multiPv: 2, elsewhere });
    };
    const counts = await label(file("here.labels.jsonl"), undefined);
    await vary(file("here.variations.jsonl"), undefined);
    for (const [place, transport] of places()) {
      assert.deepEqual(await label(file(`${place}.labels.jsonl`), transport), counts);
      assert.equal(bytes(`${place}.labels.jsonl`), bytes("here.labels.jsonl"));
      await vary(file(`${place}.variations.jsonl`), transport);
      assert.equal(bytes(`${place}.variations.jsonl`), bytes("here.variations.jsonl"));
    }
  },
  240_000,
);

async function tabiya(...args: string[]): Promise<Record<string, unknown>> {
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (err += text));
  const [code] = await once(child, "close");
  assert.equal(code, 0, err);
  const { seconds: _, ...result } = JSON.parse(out) as Record<string, unknown>;
  return result;
}

test.skipIf(!hasRedis)(
  "puzzles, suites and games by the command line are the same with --cluster",
  async () => {
    const tasks = fens(30).map((fen) => {
      const position = parseFen(fen);
      const moves = position.moves();
      const [first, second] = [formatUci(position, moves[0]), formatUci(position.play(moves[0]), position.moves()[0])];
      return { fen, first, second };
    });
    writeFileSync(file("puzzles.csv"), tasks.map(({ fen, first, second }, i) => `p${i},${fen},${first} ${second},${1000 + 30 * i}`).join("\n")); // biome-ignore format: a list
    writeFileSync(file("suite.epd"), tasks.map(({ fen, first }, i) => `${fen.split(" ").slice(0, 4).join(" ")} bm ${first}; id "s${i}";`).join("\n")); // biome-ignore format: a list
    const there = ["--cluster", machines.url];
    const both = async (...args: string[]) => {
      const [alone, spread] = await Promise.all([tabiya(...args), tabiya(...args, ...there)]);
      assert.deepEqual(spread, alone);
    };
    await both("puzzles", "residual@none", file("puzzles.csv"), "--failed");
    await both("suite", "builtin@ab", file("suite.epd"), "--nodes", "50");
    const generate = ["data", "generate", "builtin@ab:20", "--games", "10", "--max-moves", "10", "-o"];
    const [alone, spread] = await Promise.all([tabiya(...generate, file("alone.pgn")), tabiya(...generate, file("spread.pgn"), ...there)]); // biome-ignore format: a list
    assert.deepEqual(spread, alone);
    assert.equal(bytes("spread.pgn"), bytes("alone.pgn"));
  },
  240_000,
);
