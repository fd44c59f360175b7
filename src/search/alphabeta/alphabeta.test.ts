import assert from "node:assert/strict";
import { afterAll, beforeAll, test } from "vitest";
import { formatUci, parseFen, parseUci, START_FEN } from "#chess";
import type { Limits } from "../limits.js";
import type { SearchReport } from "../search.js";
import { allotTime } from "../time.js";
import { AlphaBeta } from "./alphabeta.js";

let search: AlphaBeta;
beforeAll(async () => {
  search = await AlphaBeta.create();
});
afterAll(() => search.close());

const best = async (fen: string, limits: Limits, engine = search) => {
  const position = parseFen(fen, { chess960: true });
  const report = await engine.search(position, limits);
  return { ...report, move: formatUci(position, report.lines[0].pv[0]), score: report.lines[0].scoreCp };
};

const MATES: [fen: string, move: string, plies: number][] = [
  ["6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", 1],
  ["5rk1/5Npp/8/3Q4/8/8/8/7K w - - 0 1", "f7h6", 5], // Philidor's legacy: double check, queen sacrifice, smothered mate
];

test("mates are found, and their length in plies is right", async () => {
  for (const [fen, move, plies] of MATES) {
    const found = await best(fen, { depth: 20 });
    assert.equal(found.move, move, fen);
    assert.equal(found.score, 32_000 - plies, fen);
  }
});

test("the side that is mated sees it too", async () => {
  const found = await best("6k1/5ppp/8/8/8/8/r7/1r5K w - - 0 1", { depth: 4 }).catch(() => undefined);
  assert.equal(found, undefined); // mated already: there is nothing to search
  const soon = await best("7k/8/8/8/8/8/1r6/r4K2 w - - 0 1", { depth: 6 }).catch(() => undefined);
  assert.equal(soon, undefined);
  const forced = await best("k7/8/1K6/8/8/8/8/7R b - - 0 1", { depth: 6 });
  assert.deepEqual([forced.move, forced.score], ["a8b8", 2 - 32_000]);
});

test("who is lost takes the perpetual check", async () => {
  // White is a queen and a rook down, but the queen checks on e8 and h5 for ever.
  const found = await best("6k1/6p1/8/7Q/8/8/qr4PP/6K1 w - - 0 1", { depth: 10 });
  assert.equal(found.move, "h5e8");
  assert.ok(Math.abs(found.score) <= 1, String(found.score));
});

test("a position that stood twice before the root counts as a draw at the third time", async () => {
  const position = parseFen("7k/8/8/8/8/8/q7/2K5 b - - 0 1");
  const shuffle = ["h8g8", "c1d1", "g8h8", "d1c1"];
  for (const word of [...shuffle, ...shuffle.slice(0, 3)]) position.play(parseUci(position, word) as number);
  assert.equal(position.turn, "white");
  const repeat = parseUci(position, "d1c1") as number;
  const { lines } = await search.search(position, { depth: 6, moves: [repeat] });
  assert.ok(Math.abs(lines[0].scoreCp) <= 1, String(lines[0].scoreCp));
});

test("with fifty moves nearly gone the win that comes too late is a draw", async () => {
  const fen = (clock: number) => `8/8/8/4k3/8/8/8/R3K3 w - - ${clock} 120`;
  assert.ok(Math.abs((await best(fen(99), { depth: 8 })).score) <= 1);
  await search.clear();
  assert.ok((await best(fen(0), { depth: 8 })).score > 300);
});

test("only the moves asked for are searched, and lines come best first and all different", async () => {
  const position = parseFen(START_FEN);
  const moves = ["a2a3", "h2h4"].map((word) => parseUci(position, word) as number);
  const only = await search.search(position, { depth: 5, moves });
  assert.ok(moves.includes(only.lines[0].pv[0]));
  const several = await search.search(position, { depth: 6, multiPv: 5 });
  assert.equal(several.lines.length, 5);
  assert.equal(new Set(several.lines.map(({ pv }) => pv[0])).size, 5);
  for (let i = 1; i < 5; i++) assert.ok(several.lines[i - 1].scoreCp >= several.lines[i].scoreCp);
});

test("Chess960 castling is searched and spelled king takes rook", async () => {
  const found = await best("1k6/8/8/8/8/8/8/RK5R w HA - 0 1", { depth: 6 });
  assert.ok(found.score > 500);
  const castle = await search.search(parseFen("1k6/8/8/8/8/8/8/RK5R w HA - 0 1", { chess960: true }), {
    depth: 4,
    moves: [parseUci(parseFen("1k6/8/8/8/8/8/8/RK5R w HA - 0 1", { chess960: true }), "b1h1") as number],
  });
  assert.equal(castle.lines[0].pv.length > 0, true);
});

test("on one thread two searches with an empty memory count the same nodes", async () => {
  const count = async () => {
    await search.clear();
    return (await search.search(parseFen(START_FEN), { depth: 9 })).nodes;
  };
  assert.equal(await count(), await count());
});

test("once cleared, a search counts the same nodes whatever was searched before", async () => {
  // Many positions here are worth exactly 0. The table knows 32 ages; with three searches a round, 32 rounds see each.
  const position = parseFen("4k3/pppp4/8/8/8/8/4PPPP/4K3 w - - 0 1");
  const counts = new Set<number>();
  for (let i = 0; i < 32; i++) {
    await search.clear();
    counts.add((await search.search(position, { depth: 10 })).nodes);
    for (const fen of [START_FEN, MATES[1][0]]) await search.search(parseFen(fen), { depth: 3 });
  }
  assert.equal(counts.size, 1, [...counts].join());
});

test("limits hold: nodes exactly, time nearly", async () => {
  assert.equal((await search.search(parseFen(START_FEN), { nodes: 5000 })).nodes, 5000);
  const start = performance.now();
  await search.search(parseFen(START_FEN), { moveTimeMs: 100 });
  const took = performance.now() - start;
  assert.ok(took > 80 && took < 1000, `${took} ms`); // the machine may be busy
});

/** Starts an endless search and stops it after a while. */
async function stopped(engine: AlphaBeta): Promise<SearchReport> {
  return engine.search(parseFen(START_FEN), {}, { signal: AbortSignal.timeout(150) });
}

test("a signal ends an endless search", async () => {
  const report = await stopped(search);
  assert.ok(report.depth >= 1 && report.timeMs < 2000);
});

test("a signal that has fired before the question still gets a move", async () => {
  const report = await search.search(parseFen(START_FEN), {}, { signal: AbortSignal.abort() });
  assert.equal(report.lines[0].pv.length > 0, true);
});

test("on the opponent's time no clock runs; from the moment it is ours, it does", async () => {
  const clock = { whiteMs: 1000, blackMs: 1000, whiteIncrementMs: 0, blackIncrementMs: 0 };
  const hit = new AbortController();
  let isDone = false;
  const asked = search.search(parseFen(START_FEN), { clock }, { ponderHit: hit.signal });
  void asked.then(() => (isDone = true));
  await new Promise((resolve) => setTimeout(resolve, 300)); // three times what the clock would have allowed
  assert.equal(isDone, false);
  hit.abort();
  const { timeMs } = await asked;
  assert.ok(timeMs > 290 && timeMs < 2000, `${timeMs} ms`);
});

test("without shared memory signals, limits and results are the same", async () => {
  const plain = await AlphaBeta.create({ shared: false, threads: 4 });
  try {
    assert.equal(plain.threads, 1);
    const report = await stopped(plain);
    assert.ok(report.depth >= 1 && report.timeMs < 4000);
    assert.equal((await best(MATES[1][0], { depth: 20 }, plain)).move, MATES[1][1]);
    await plain.clear();
    await search.clear();
    // A shallow search fits in one slice, and then nothing distinguishes the two builds.
    const [a, b] = [await best(START_FEN, { depth: 7 }, plain), await best(START_FEN, { depth: 7 })];
    assert.deepEqual([a.move, a.score, a.nodes], [b.move, b.score, b.nodes]);
  } finally {
    await plain.close();
  }
});

test("two threads share the work and the answer", async () => {
  const pair = await AlphaBeta.create({ threads: 2 });
  try {
    for (const [fen, move] of MATES) assert.equal((await best(fen, { depth: 20 }, pair)).move, move);
    const report = await stopped(pair);
    assert.ok(report.nodes > 0);
  } finally {
    await pair.close();
  }
});

test("time: the clock is never emptied, and more time means more thought", () => {
  for (const leftMs of [1, 10, 50, 1000, 60_000, 3_600_000]) {
    for (const incrementMs of [0, 10, 5000]) {
      for (const movesToGo of [undefined, 1, 2, 40]) {
        const { softMs, hardMs } = allotTime({ leftMs, incrementMs, movesToGo, overheadMs: 20 });
        assert.ok(softMs >= 1 && softMs <= hardMs);
        assert.ok(hardMs <= Math.max(1, leftMs - 20), `${leftMs} ${incrementMs} ${movesToGo}: ${hardMs}`);
      }
    }
  }
  const short = allotTime({ leftMs: 1000, incrementMs: 0, overheadMs: 0 });
  assert.ok(allotTime({ leftMs: 10_000, incrementMs: 0, overheadMs: 0 }).softMs > short.softMs * 5);
});

test("noise bends every evaluation, by no more than was said, and each seed in its own way", async () => {
  const position = parseFen("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3");
  const score = async (noise?: { cp: number; seed: number }) => {
    await search.clear();
    const { lines } = await search.search(position, { depth: 1, moves: [parseUci(position, "a2a3") as number], noise });
    return lines[0].scoreCp;
  };
  const exact = await score();
  const bent: number[] = [];
  for (let seed = 1; seed <= 8; seed++) bent.push(await score({ cp: 40, seed }));
  assert.ok(new Set(bent).size > 3, bent.join());
  for (const each of bent) assert.ok(Math.abs(each - exact) <= 40, `${each}, without noise ${exact}`);
  assert.equal(await score({ cp: 0, seed: 1 }), exact);
});

test("the answer is the line that was reported last, wherever a limit of nodes cuts an iteration", async () => {
  for (const fen of [START_FEN, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"]) {
    for (let nodes = 500; nodes < 12_000; nodes += 250) {
      let reported: SearchReport | undefined;
      const onReport = (report: SearchReport) => {
        reported = report;
      };
      await search.clear();
      const { lines } = await search.search(parseFen(fen), { nodes }, { onReport });
      assert.deepEqual(reported?.lines[0].pv, lines[0].pv, `${fen}, ${nodes} nodes`);
    }
  }
});
