import assert from "node:assert/strict";
import { test } from "vitest";
import { type Position, parseUci } from "#chess";
import { type Choice, type Player, PlayerFault } from "#engine";
import { readPuzzles } from "#formats";
import { examine, shareInterval } from "./examine.js";
import { PuzzleScore, solvePuzzle } from "./puzzles.js";
import { gradeMove, parseTask } from "./suite.js";

/** A player that gives prepared answers. */
class Script implements Player {
  readonly name = "script";
  readonly options = {};
  games = 0;
  closed = false;
  constructor(private readonly answers: string[]) {}
  async newGame(): Promise<void> {
    this.games++;
  }
  async choose(position: Position): Promise<Choice> {
    const text = this.answers.shift() ?? "";
    const move = parseUci(position, text);
    if (move === undefined) throw new PlayerFault("illegal move", `script answered "${text}"`);
    return { move, timeMs: 0, lines: [] };
  }
  async setOption(): Promise<void> {}
  async close(): Promise<void> {
    this.closed = true;
  }
}

const CSV = `PuzzleId,FEN,Moves,Rating,RatingDeviation
00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1784,77

backrank,6k1/5ppp/8/8/8/8/r7/1R2R1K1 b - - 0 1,a2a3 b1b8,,
`;

async function* linesOf(text: string) {
  yield* text.split("\n");
}

async function puzzles(text = CSV) {
  const found = [];
  for await (const puzzle of readPuzzles(linesOf(text), "p.csv")) found.push(puzzle);
  return found;
}

test("puzzles are read by the names of their columns, or in Lichess' order", async () => {
  const [first, second] = await puzzles();
  assert.deepEqual([first.id, first.rating, first.moves.length, first.line], ["00008", 1784, 6, 2]);
  assert.deepEqual([second.id, second.rating], ["backrank", undefined]);
  const [bare] = await puzzles(CSV.split("\n")[1]);
  assert.deepEqual(bare.moves, first.moves);
  const [turned] = await puzzles('Moves,FEN\n"a2a3 b1b8","6k1/5ppp/8/8/8/8/r7/1R2R1K1 b - - 0 1"');
  assert.deepEqual(turned.moves, ["a2a3", "b1b8"]);
});

test("a line that is no puzzle is named", async () => {
  await assert.rejects(puzzles(`${CSV}what,is,this`), { code: "PUZZLE_LINE", message: /^p\.csv, line 5: "what/ });
  const [puzzle] = await puzzles("x,6k1/5ppp/8/8/8/8/r7/1R2R1K1 b - - 0 1,a2a3 b1c7,1");
  await assert.rejects(solvePuzzle(new Script(["b1b8"]), puzzle, {}), { code: "PUZZLE_MOVE", message: /line 1: b1c7/ });
});

test("every move of the solution must be found, the opponent's are given", async () => {
  const [puzzle] = await puzzles();
  assert.equal(await solvePuzzle(new Script(["e6e7", "b3c1", "h6c1"]), puzzle, {}), true);
  assert.equal(await solvePuzzle(new Script(["e6e7", "b3c1", "e7e1"]), puzzle, {}), false);
  assert.equal(await solvePuzzle(new Script(["h6f6"]), puzzle, {}), false);
});

test("another move that gives mate solves the puzzle too", async () => {
  const [, puzzle] = await puzzles();
  assert.equal(await solvePuzzle(new Script(["e1e8"]), puzzle, {}), true);
  assert.equal(await solvePuzzle(new Script(["e1e7"]), puzzle, {}), false);
});

test("puzzles are counted by bands of 200 rating points with their intervals", () => {
  const score = new PuzzleScore();
  const puzzle = (rating?: number) => ({ id: "", fen: "", moves: [], themes: [], rating, line: 0 });
  for (let i = 0; i < 10; i++) score.add(puzzle(1000 + i), i < 8);
  score.add(puzzle(1199), true);
  score.add(puzzle(1200), false);
  score.add(puzzle(), true);
  assert.deepEqual([score.solved, score.total], [10, 13]);
  const [low, high] = score.byRating();
  assert.deepEqual([low.from, low.to, low.solved, low.total, low.accuracy], [1000, 1199, 9, 11, 9 / 11]);
  assert.deepEqual([high.from, high.solved, high.total], [1200, 0, 1]);
});

test("the interval of a share is Wilson's", () => {
  // Newcombe 1998, Statistics in Medicine 17:857, table I, method 3: 81/263 and 15/148, 0/20, 1/29
  for (const [hits, total, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ]) {
    const found = shareInterval(hits, total);
    assert.ok(Math.abs(found.low - low) < 5e-5 && Math.abs(found.high - high) < 5e-5, JSON.stringify(found));
  }
});

test("tasks of a suite: best moves, moves to avoid, points", () => {
  const sts =
    '1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; id "STS 1"; c0 "f5=10, Be5+=2, Bf2=3, Bg4=2"; ';
  const points = (line: string, move: string) => {
    const task = parseTask(line, "x.epd, line 1");
    const found = parseUci(task.position, move);
    assert.ok(found !== undefined);
    return gradeMove(task, found);
  };
  for (const line of [sts, `${sts}c8 "10 2 3 2"; c9 "f4f5 d4e5 d4f2 f3g4";`]) {
    assert.deepEqual(points(line, "f4f5"), { solved: true, points: 10 });
    assert.deepEqual(points(line, "d4e5"), { solved: false, points: 2 });
    assert.deepEqual(points(line, "e2e3"), { solved: false, points: 0 });
    assert.equal(parseTask(line, "x").maxPoints, 10);
  }
  const avoid = '6k1/5ppp/8/8/8/8/r7/1R2R1K1 w - - 0 1 am Rb8+; id "avoid"';
  assert.deepEqual(points(avoid, "b1b8"), { solved: false, points: 0 });
  assert.deepEqual(points(avoid, "e1e8"), { solved: true, points: 1 });
  const two = "6k1/5ppp/8/8/8/8/r7/1R2R1K1 w - - bm Rb8# Re8+;";
  assert.deepEqual(points(two, "e1e8"), { solved: true, points: 1 });
  const promotion = '7k/P7/8/8/8/8/8/K7 w - - bm a8=Q+; c0 "a8=Q+=10, a8=R+=9, Kb2=1";';
  assert.deepEqual(points(promotion, "a7a8r"), { solved: false, points: 9 });
});

test("a task that makes no sense is named", () => {
  assert.throws(
    () => parseTask("7k/8/8/8/8/8/8/K7 w - - bm Ra1;", "x.epd, line 3"),
    /x\.epd, line 3: Ra1 is not a legal/,
  );
  assert.throws(
    () => parseTask('7k/8/8/8/8/8/8/K7 w - - id "a";', "x.epd, line 4"),
    /x\.epd, line 4: neither bm nor am/,
  );
  assert.throws(() => parseTask("7k/8/8 w - - bm Kb1;", "x.epd, line 5"), /x\.epd, line 5: /);
});

test("an examination asks everything once, replaces who breaks down, and closes all", async () => {
  const players: Script[] = [];
  const seen: [number, string | undefined][] = [];
  await examine({
    questions: Array.from({ length: 20 }, (_, i) => i),
    create: async () => {
      const player = new Script([]);
      players.push(player);
      return player;
    },
    ask: async (_, question) => {
      if (question === 7) throw new PlayerFault("crash", "gone");
      return `${question}`;
    },
    onAnswer: (question, answer, fault) => seen.push([question, fault ? fault.kind : answer]),
    concurrency: 3,
    signal: new AbortController().signal,
  });
  seen.sort(([a], [b]) => a - b);
  assert.deepEqual(
    seen,
    Array.from({ length: 20 }, (_, i) => [i, i === 7 ? "crash" : `${i}`]),
  );
  assert.equal(players.length, 4);
  assert.ok(players.every(({ closed }) => closed));
  assert.equal(
    players.reduce((sum, { games }) => sum + games, 0),
    20,
  );
});

test("an examination that is aborted or cannot go on closes its players", async () => {
  const player = new Script([]);
  const abort = new AbortController();
  const exam = (ask: () => Promise<string>) =>
    examine({
      questions: [1, 2, 3],
      create: async () => player,
      ask,
      onAnswer() {},
      concurrency: 1,
      signal: abort.signal,
    });
  await assert.rejects(
    exam(async () => {
      throw new Error("disk gone");
    }),
    /disk gone/,
  );
  assert.equal(player.closed, true);
  player.closed = false;
  await assert.rejects(
    exam(async () => {
      abort.abort();
      return "";
    }),
    { name: "AbortError" },
  );
  assert.equal(player.closed, true);
});
