import assert from "node:assert/strict";
import { test } from "vitest";
import { formatUci, type Position, parseFen, parseUci, START_FEN } from "#chess";
import type { Evaluation, Evaluator } from "../evaluator.js";
import type { Limits } from "../limits.js";
import { UniformEvaluator } from "../uniform.js";
import { Mcts } from "./mcts.js";
import type { MctsSettings } from "./options.js";

const uniform = new UniformEvaluator();

/** An evaluator that says what it is told to, and remembers what it was asked. */
class Fake implements Evaluator {
  readonly asked: Position[] = [];
  readonly batches: number[] = [];
  readonly batchSize: number = 8;
  constructor(private readonly judge: (position: Position) => Partial<Evaluation> = () => ({})) {}

  async evaluate(positions: readonly Position[]): Promise<Evaluation[]> {
    this.asked.push(...positions.map((position) => position.clone()));
    this.batches.push(positions.length);
    return positions.map((position) => this.answer(position));
  }
  recall(_: Position): Evaluation | undefined {
    return undefined;
  }
  async close(): Promise<void> {}

  protected answer(position: Position): Evaluation {
    const moves = position.moves();
    return { value: 0, moves, policy: new Float32Array(moves.length).fill(1 / moves.length), ...this.judge(position) };
  }
}

const PIECE_VALUES = { pawn: 1, knight: 3, bishop: 3, rook: 5, queen: 9, king: 0 };

/** Counts the pieces: a judge whose sign can be seen. */
function material(position: Position): Partial<Evaluation> {
  let sum = 0;
  for (const { role, color } of position.pieces()) sum += (color === position.turn ? 1 : -1) * PIECE_VALUES[role];
  return { value: Math.tanh(sum / 10) };
}

/** The same position with colours swapped. */
function mirrored(fen: string): string {
  const [board, turn, castling] = fen.split(" ");
  const swap = (text: string) =>
    text.replace(/[a-z]/gi, (c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase()));
  const rows = swap(board).split("/").reverse().join("/");
  return `${rows} ${turn === "w" ? "b" : "w"} ${[...swap(castling)].sort().join("")} - 0 1`;
}

async function think(
  fen: string,
  limits: Limits,
  settings: Partial<MctsSettings> = {},
  evaluator: Evaluator = uniform,
) {
  const position = parseFen(fen, { chess960: true });
  const report = await new Mcts(evaluator, settings).search(position, limits);
  return { ...report, position, best: formatUci(position, report.lines[0].pv[0]), scoreCp: report.lines[0].scoreCp };
}

const MATES_IN_1 = [
  "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1",
  "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 0 4",
  "6rk/6pp/8/6N1/8/8/8/6K1 w - - 0 1",
];
const MATES_IN_2 = [
  "kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", // Morphy: Ra6, and bxa6 b7 or a bishop move Rxa7
  "6k1/8/8/8/8/8/1R6/R6K w - - 0 1", // two rooks
  "7k/8/4K3/8/8/8/8/6Q1 w - - 0 1",
  "r2qkb1r/pp2nppp/3p4/2pNN1B1/2BnP3/3P4/PPP2PPP/R2bK2R w KQkq - 1 1", // Nf6+ gxf6 Bxf7
  "4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 1", // Morphy's opera game: Qb8+ Nxb8 Rd8
];

for (const root of ["puct", "gumbel"] as const) {
  test(`mates in 1 are found within 200 simulations by both colours (${root})`, async () => {
    for (const fen of MATES_IN_1.flatMap((each) => [each, mirrored(each)])) {
      const { scoreCp, nodes } = await think(fen, { nodes: 200 }, { root });
      assert.equal(scoreCp, 31_999, fen);
      assert.ok(nodes <= 200);
    }
  });

  test(`mates in 2 are proven within 5,000 simulations by both colours (${root})`, async () => {
    for (const fen of MATES_IN_2.flatMap((each) => [each, mirrored(each)])) {
      // Where the policy says nothing, halving must begin with all moves.
      const { scoreCp, lines } = await think(fen, { nodes: 5000 }, { root, gumbelMoves: 64 });
      // Halving may prove a longer mate first; what is proven is never searched further.
      assert.ok(root === "puct" ? scoreCp === 31_997 : scoreCp >= 31_995, `${fen}: ${scoreCp}`);
      assert.ok(lines[0].pv.length >= 3, fen);
    }
  });
}

test("who is mated by force knows it, and holds out as long as possible", async () => {
  // Kh8 is mated at once by Ra8, and so is Kf8; the pawn gives Black one more move.
  const { best, lines } = await think("6k1/1R6/8/8/8/6p1/R7/7K b - - 0 1", { nodes: 3000, multiPv: 3 });
  assert.deepEqual([best, lines[0].scoreCp, lines[0].pv.length], ["g3g2", 4 - 32_000, 4]);
  assert.deepEqual(
    lines.slice(1).map(({ scoreCp }) => scoreCp),
    [2 - 32_000, 2 - 32_000],
  );
});

test("a proven win is played by the shortest way, however little the policy likes it", async () => {
  const [fen] = MATES_IN_1; // Ra8; a rook move along the first rank mates a move later
  const shy = new Fake((position) => {
    const moves = position.moves();
    const policy = Float32Array.from(moves, (move) => (formatUci(position, move) === "a1a8" ? 1e-6 : 1));
    return { policy: policy.map((share) => share / moves.length) };
  });
  const { best, scoreCp } = await think(fen, { nodes: 300 }, {}, shy);
  assert.deepEqual([best, scoreCp], ["a1a8", 31_999]);
});

test("a game is mated out in as many moves as were announced", async () => {
  const position = parseFen(MATES_IN_2[1]);
  const search = new Mcts(uniform);
  let promised = 32_000 - (await search.search(position, { nodes: 5000 })).lines[0].scoreCp;
  while (!position.outcome()) {
    const { lines } = await search.search(position, { nodes: 500 });
    assert.equal(Math.abs(lines[0].scoreCp), 32_000 - promised, "the mate came no nearer");
    position.play(lines[0].pv[0]);
    promised--;
  }
  assert.equal(position.outcome()?.reason, "checkmate");
  assert.equal(promised, 0);
});

test("a draw by repetition is worth exactly 0 to the side that would lose otherwise", async () => {
  // White is a queen and a rook down, but the queen checks on e8 and h5 for ever. Black's king has one square each time.
  const fen = "6k1/6p1/8/7Q/8/8/qr4PP/6K1 w - - 0 1";
  for (const each of [fen, mirrored(fen)]) {
    const { best, scoreCp } = await think(each, { nodes: 4000 }, {}, new Fake(material));
    assert.deepEqual([best, scoreCp], [each === fen ? "h5e8" : "h4e1", 0]);
  }
});

test("a repetition counts the first time, or only the third if told so", async () => {
  const fen = "6k1/6p1/8/7Q/8/8/qr4PP/6K1 w - - 0 1"; // as above
  const scores = await Promise.all(
    [true, false].map(async (twoFold) => (await think(fen, { nodes: 1500 }, { twoFold }, new Fake(material))).scoreCp),
  );
  assert.ok(scores[0] === 0 && scores[1] < 0, `${scores}`); // so few simulations do not reach the third
});

test("the sign is right: hanging pieces are taken by either side, and left hanging by a judge that lies", async () => {
  const fen = "4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1";
  for (const root of ["puct", "gumbel"] as const) {
    assert.equal((await think(fen, { nodes: 400 }, { root }, new Fake(material))).best, "c3d5");
    assert.equal((await think(mirrored(fen), { nodes: 400 }, { root }, new Fake(material))).best, "c6d4");
    const liar = new Fake((position) => ({ value: -(material(position).value as number) }));
    assert.notEqual((await think(fen, { nodes: 400 }, { root }, liar)).best, "c3d5");
  }
});

test("fifty moves without progress and bare kings are draws in the tree", async () => {
  const late = await think("8/8/8/4k3/8/8/8/R3K3 w - - 99 120", { nodes: 200 }, {}, new Fake(material));
  assert.equal(late.root.value, 0);
  const early = await think("8/8/8/4k3/8/8/8/R3K3 w - - 0 1", { nodes: 200 }, {}, new Fake(material));
  assert.ok(early.root.value > 0.3);
  const bare = await think("8/8/8/8/8/8/4q3/4K2k w - - 0 1", { nodes: 50 });
  assert.equal(bare.scoreCp, 0);
});

test("nothing is searched past a proven result", async () => {
  // After Qxg7 mate, or any stalemate, no position may be asked about.
  const evaluator = new Fake();
  await think("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", { nodes: 2000 }, { smartPruning: 0 }, evaluator);
  for (const position of evaluator.asked) assert.equal(position.outcome(), undefined);
  // The mate in one ends the search: nothing but the root needs an evaluation.
  assert.equal(evaluator.asked.length, 1);
});

test("only moves asked for are searched", async () => {
  const position = parseFen(START_FEN);
  const moves = ["a2a3", "h2h4"].map((word) => parseUci(position, word) as number);
  for (const root of ["puct", "gumbel"] as const) {
    const report = await new Mcts(uniform, { root }).search(position, { nodes: 100, moves, multiPv: 5 });
    assert.deepEqual(report.lines.map(({ pv }) => pv[0]).sort(), [...moves].sort());
    const others = report.root.moves.map((move, i) => (moves.includes(move) ? 0 : report.root.visits[i]));
    assert.equal(Math.max(...others), 0);
  }
});

test("several lines come best first, all different, and no pruning ends the search early", async () => {
  const { lines, nodes } = await think(START_FEN, { nodes: 300, multiPv: 5 }, {}, new Fake(material));
  assert.equal(nodes, 300);
  assert.equal(new Set(lines.map(({ pv }) => pv[0])).size, 5);
  for (let i = 1; i < 5; i++) assert.ok((lines[i - 1].visits as number) >= (lines[i].visits as number));
});

test("Chess960 castling is played inside the tree", async () => {
  const fen = "1k6/8/8/8/8/8/8/RK5R w HA - 0 1";
  const position = parseFen(fen, { chess960: true });
  const castle = parseUci(position, "b1h1") as number;
  const evaluator = new Fake();
  const report = await new Mcts(evaluator).search(position, { nodes: 50, moves: [castle], multiPv: 2 });
  assert.equal(report.lines[0].pv[0], castle);
  assert.ok(report.lines[0].pv.length >= 2);
  const after = evaluator.asked.find(({ history }) => history.length === 1);
  assert.deepEqual([after?.pieceAt(6)?.role, after?.pieceAt(5)?.role], ["king", "rook"]);
});

test("a search that may run for ever stops at once, with a move", async () => {
  const stop = new AbortController();
  const running = new Mcts(uniform).search(parseFen(START_FEN), {}, { signal: stop.signal });
  await new Promise((resolve) => setTimeout(resolve, 60));
  const start = performance.now();
  stop.abort();
  const report = await running;
  assert.ok(performance.now() - start < 200, `${performance.now() - start} ms`);
  assert.ok(report.nodes > 100 && report.lines[0].pv.length > 0);
});

test("an evaluator that never answers holds up neither stop nor the clock", async () => {
  const silent = new Fake();
  silent.evaluate = () => new Promise(() => {});
  const position = parseFen(START_FEN);
  const search = new Mcts(silent);
  const stopped = await search.search(position, {}, { signal: AbortSignal.timeout(20) });
  assert.ok(position.moves().includes(stopped.lines[0].pv[0]));
  assert.ok((await search.search(position, { moveTimeMs: 30 })).timeMs < 1000);
  assert.equal((await search.search(position, {}, { signal: AbortSignal.abort() })).nodes, 0);
});

test("an evaluator that fails makes the search fail, and the next one starts afresh", async () => {
  let calls = 0;
  const failing = new Fake(() => {
    if (++calls === 20) throw new Error("the network is gone");
    return {};
  });
  const search = new Mcts(failing);
  await assert.rejects(search.search(parseFen(START_FEN), { nodes: 100 }), /the network is gone/);
  assert.equal((await search.search(parseFen(START_FEN), { nodes: 100, multiPv: 2 })).nodes, 100);
});

test("time limits hold, and a clock is not emptied", async () => {
  const search = new Mcts(uniform);
  const fixed = await search.search(parseFen(START_FEN), { moveTimeMs: 100 });
  assert.ok(fixed.timeMs >= 80 && fixed.timeMs < 600, `${fixed.timeMs}`);
  const clock = { whiteMs: 1000, blackMs: 1000, whiteIncrementMs: 0, blackIncrementMs: 0 };
  const timed = await search.search(parseFen(START_FEN), { clock });
  assert.ok(timed.timeMs < 500, `${timed.timeMs}`);
});

test("while pondering no clock runs", async () => {
  const hit = new AbortController();
  const clock = { whiteMs: 200, blackMs: 200, whiteIncrementMs: 0, blackIncrementMs: 0 };
  const running = new Mcts(uniform).search(parseFen(START_FEN), { clock }, { ponderHit: hit.signal });
  await new Promise((resolve) => setTimeout(resolve, 150));
  hit.abort();
  const { timeMs } = await running;
  assert.ok(timeMs >= 140 && timeMs < 600, `${timeMs}`);
});

test("one seed and one batch size give one result; noise and temperature follow the seed", async () => {
  const settings = { noise: 0.25, temperature: 1, batch: 4, policyTemperature: 1 };
  const once = async (seed: number) =>
    (await think(START_FEN, { nodes: 200 }, { ...settings, seed }, new Fake(material))).root;
  assert.deepEqual(await once(1), await once(1));
  assert.notDeepEqual((await once(1)).visits, (await once(2)).visits);
  const drawn = new Set<string>();
  for (let seed = 1; seed <= 12; seed++) drawn.add((await think(START_FEN, { nodes: 40 }, { ...settings, seed })).best);
  assert.ok(drawn.size > 3);
});

test("while a tree is young two batches share what may be awaited, so that both lanes have work", async () => {
  const evaluator = new Fake(material);
  await think(START_FEN, { nodes: 200 }, { batch: 32, pipeline: 2, parallel: 0.5, smartPruning: 0 }, evaluator);
  let visits = 1; // of the root, if all batches so far were backed up
  for (const size of evaluator.batches.slice(1, -1)) {
    assert.ok(size <= Math.max(1, 0.25 * visits), `${size} positions after ${visits} visits`);
    visits += size;
  }
  assert.ok(Math.max(...evaluator.batches) > 16);
});

test("against time the batch that is back first is used first; a search of so many nodes keeps their order", async () => {
  /** The fifth batch never comes back. */
  class Stuck extends Fake {
    override evaluate(positions: readonly Position[]) {
      const answers = super.evaluate(positions);
      return this.batches.length === 5 ? new Promise<never>(() => {}) : answers;
    }
  }
  const batchesWith = async (limits: Limits) => {
    const evaluator = new Stuck();
    const asking = { signal: AbortSignal.timeout(200) };
    await new Mcts(evaluator, { parallel: 1 }).search(parseFen(START_FEN), limits, asking);
    return evaluator.batches.length;
  };
  assert.equal(await batchesWith({ nodes: 200 }), 6);
  assert.ok((await batchesWith({ moveTimeMs: 10_000, nodes: 200 })) > 10);
});

test("a search ends early when no move can overtake the best", async () => {
  const fen = "4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1";
  const pruned = await think(fen, { nodes: 2000 }, {}, new Fake(material));
  const whole = await think(fen, { nodes: 2000 }, { smartPruning: 0 }, new Fake(material));
  assert.ok(pruned.nodes < 1900, `${pruned.nodes}`);
  assert.equal(whole.nodes, 2000);
  assert.equal(pruned.best, whole.best);
});

test("values of a network that values moves order the first visits", async () => {
  const fen = "4k3/8/8/8/8/8/PPPPPPPP/4K3 w - - 0 1";
  const foreseeing = new Fake((position) => ({
    moveValues: Float32Array.from(position.moves(), (move) => (formatUci(position, move) === "h2h3" ? 0.9 : -0.9)),
  }));
  const first = await think(fen, { nodes: 1, multiPv: 2 }, {}, foreseeing);
  assert.equal(first.best, "h2h3");
  assert.notEqual((await think(fen, { nodes: 1, multiPv: 2 }, { moveValues: false }, foreseeing)).best, "h2h3");
});

test("a full tree ends the search", async () => {
  const { nodes, hashFull } = await think(START_FEN, { nodes: 1_000_000 }, { treeMb: 1 });
  assert.ok(nodes > 500 && nodes < 3000, `${nodes}`);
  assert.ok(hashFull > 900);
});

test("the tree of the last search is used again after the moves played, and only then", async () => {
  const evaluator = new Fake(material);
  const position = parseFen(START_FEN);
  const search = new Mcts(evaluator);
  const first = await search.search(position, { nodes: 400, multiPv: 2 });
  const asked = evaluator.asked.length;
  position.play(first.lines[0].pv[0]);
  const next = await search.search(position, { nodes: 1, multiPv: 2 });
  const visits = (list: Int32Array) => list.reduce((sum, each) => sum + each, 0);
  assert.ok(visits(next.root.visits) >= 15, `${visits(next.root.visits)}`);
  assert.ok(evaluator.asked.length - asked <= 1);
  const elsewhere = await search.search(parseFen(MATES_IN_2[3]), { nodes: 1, multiPv: 2 });
  assert.equal(visits(elsewhere.root.visits), 1);
});

test("a repetition that was a draw in the last tree is looked at anew when its first occurrence was played", async () => {
  // The rook gives checks for ever; after two plies of it, one repetition of a game's position is no draw yet.
  const position = parseFen("6k1/6p1/8/7Q/8/8/qr4PP/6K1 w - - 0 1");
  const search = new Mcts(new Fake(material));
  for (const word of ["h5e8", "g8h7", "e8h5", "h7g8"]) {
    const { lines } = await search.search(position, { nodes: 1500 });
    if (position.turn === "white") assert.equal(lines[0].scoreCp, 0, word);
    position.play(parseUci(position, word) as number);
  }
  assert.equal(position.outcome(), undefined);
  assert.equal((await search.search(position, { nodes: 1500 })).lines[0].scoreCp, 0);
});

test("halving gets all its simulations, whatever was visited before", async () => {
  const position = parseFen("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1"); // one move is far better than the others
  const search = new Mcts(new Fake(material), { root: "gumbel" });
  assert.equal((await search.search(position, { nodes: 400 })).nodes, 400);
  assert.equal((await search.search(position, { nodes: 64 })).nodes, 64); // in the same tree
});
