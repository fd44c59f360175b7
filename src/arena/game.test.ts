import assert from "node:assert/strict";
import { test } from "vitest";
import { type Color, formatFen, type Position, parseFen, parseUci, START_FEN } from "#chess";
import type { Choice, Player } from "#engine";
import { NO_CLOCK, NO_EVAL, parseGames } from "#formats";
import type { Limits } from "#search";
import type { Adjudication } from "./adjudication.js";
import { type Conditions, playGame } from "./game.js";
import { formatRecord } from "./pgn.js";
import { ChessClock, formatTimeControl, parseTimeControl } from "./time-control.js";

/** Plays its moves in turn, thinks a set time, and says what it was told to say. */
class Script implements Player {
  readonly name = "script";
  readonly options = {};
  readonly asked: Limits[] = [];
  private turn = 0;
  constructor(
    private readonly moves: string[],
    private readonly scoreCp?: number | ((turn: number) => number | undefined),
    private readonly timeMs = 0,
  ) {}
  async newGame(): Promise<void> {
    this.turn = 0;
  }
  async choose(position: Position, limits: Limits): Promise<Choice> {
    this.asked.push(limits);
    const turn = this.turn++;
    const move = parseUci(position, this.moves[turn % this.moves.length]);
    assert.ok(move !== undefined);
    const scoreCp = typeof this.scoreCp === "function" ? this.scoreCp(turn) : this.scoreCp;
    return { move, lines: [{ scoreCp, pv: [] }], depth: 7, nodes: 99, timeMs: this.timeMs };
  }
  async setOption(): Promise<void> {}
  async close(): Promise<void> {}
}

const KNIGHTS: Record<Color, string[]> = { white: ["g1f3", "f3g1"], black: ["g8f6", "f6g8"] };
const CONDITIONS: Conditions = { limits: {}, marginMs: 0, adjudication: {} };
const START = { fen: START_FEN, moves: [], chess960: false };

const play = (white: Player, black: Player, more: Partial<Conditions> = {}, opening = START) =>
  playGame({ white, black }, opening, { ...CONDITIONS, ...more }, { seed: 1, signal: new AbortController().signal });

/** Two sides that move their knights out and back and hold these opinions. */
const shuffle = (
  adjudication: Adjudication,
  white?: number | ((turn: number) => number | undefined),
  black?: number | ((turn: number) => number | undefined),
) => play(new Script(KNIGHTS.white, white), new Script(KNIGHTS.black, black), { adjudication });

test("knights that go out and back draw by threefold repetition", async () => {
  const record = await shuffle({});
  assert.deepEqual(
    [record.winner, record.reason, record.moves.length, record.ending],
    [undefined, "threefold repetition", 8, "rules"],
  );
});

test("a player that finds itself lost for so many moves resigns, if the other agrees", async () => {
  const resign = { moves: 2, scoreCp: 500 };
  const lost = await shuffle({ resign }, -600, 700);
  assert.deepEqual(
    [lost.winner, lost.reason, lost.moves.length, lost.ending],
    ["black", "white resigned", 3, "adjudication"],
  );
  assert.equal((await shuffle({ resign }, -600, 20)).reason, "threefold repetition");
  assert.equal((await shuffle({ resign }, -600, undefined)).reason, "white resigned");
  assert.equal((await shuffle({ resign }, (turn) => (turn === 1 ? 0 : -600), 700)).reason, "white resigned");
  assert.equal(
    (await shuffle({ resign: { moves: 4, scoreCp: 500 } }, (turn) => (turn === 1 ? 0 : -600), 700)).reason,
    "threefold repetition",
  );
});

test("a game is drawn when both see nothing for so many moves, from a move on", async () => {
  const draw = { from: 0, moves: 2, scoreCp: 10 };
  const drawn = await shuffle({ draw }, 5, -10);
  assert.deepEqual([drawn.winner, drawn.reason, drawn.moves.length], [undefined, "draw agreed", 4]);
  assert.equal((await shuffle({ draw: { ...draw, from: 3 } }, 5, -10)).moves.length, 6);
  assert.equal((await shuffle({ draw }, 5, 11)).reason, "threefold repetition");
  assert.equal((await shuffle({ draw }, 5)).reason, "threefold repetition");
});

test("material and length decide games of players that have no opinion", async () => {
  const ahead = { ...START, fen: "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1" };
  const rules = { adjudication: { material: { points: 9, moves: 2 } } };
  const won = await play(new Script(KNIGHTS.white), new Script(KNIGHTS.black), rules, ahead);
  assert.deepEqual([won.winner, won.reason, won.moves.length], ["white", "9 points of material ahead", 4]);
  const even = await play(new Script(KNIGHTS.white), new Script(KNIGHTS.black), rules);
  assert.equal(even.reason, "threefold repetition");
  assert.deepEqual((await shuffle({ maxMoves: 3 })).reason, "3 moves played");
});

test("clocks run, give their increment and fall", async () => {
  const timeControl = parseTimeControl("1+0.1");
  const white = new Script(KNIGHTS.white, 0, 300);
  const record = await play(white, new Script(KNIGHTS.black, 0, 200), { timeControl });
  assert.deepEqual(
    record.moves.map(({ clockMs }) => clockMs),
    [800, 900, 600, 800, 400, 700, 200, 600],
  );
  assert.deepEqual(white.asked[1].clock, {
    whiteMs: 800,
    blackMs: 900,
    whiteIncrementMs: 100,
    blackIncrementMs: 100,
    movesToGo: undefined,
  });
  assert.equal(white.asked[1].deadlineMs, 800);
  const late = await play(new Script(KNIGHTS.white, 0, 1050), new Script(KNIGHTS.black), { timeControl });
  assert.deepEqual([late.winner, late.fault?.kind, late.fault?.color], ["black", "time", "white"]);
  assert.equal(
    (await play(new Script(KNIGHTS.white, 0, 60), new Script(KNIGHTS.black), { limits: { moveTimeMs: 50 } })).fault
      ?.kind,
    "time",
  );
  const forgiven = await play(new Script(KNIGHTS.white, 0, 60), new Script(KNIGHTS.black), {
    limits: { moveTimeMs: 50 },
    marginMs: 20,
  });
  assert.equal(forgiven.fault, undefined);
});

test("time controls are read, written, and renewed after their moves", () => {
  assert.deepEqual(parseTimeControl("10+0.1"), { baseMs: 10_000, incrementMs: 100 });
  assert.deepEqual(parseTimeControl("40/60"), { baseMs: 60_000, incrementMs: 0, moves: 40 });
  for (const text of ["10+0.1", "60", "40/60+0.5"]) assert.equal(formatTimeControl(parseTimeControl(text)), text);
  for (const text of ["", "x", "0", "10+", "+1", "0/10", "-5"]) {
    assert.throws(() => parseTimeControl(text), { code: "TIME_CONTROL", message: /10\+0\.1/ });
  }
  const clock = new ChessClock(parseTimeControl("2/10"));
  assert.equal(clock.movesToGo, 2);
  clock.spend(4000);
  assert.deepEqual([clock.leftMs, clock.movesToGo], [6000, 1]);
  clock.spend(1000);
  assert.deepEqual([clock.leftMs, clock.movesToGo], [15_000, 2]);
});

test("our reader finds in the PGN what was played, thought and left on the clock", async () => {
  const fen = "1r2k2r/8/8/8/8/8/8/R3K2R w KQk - 3 20";
  const opening = { fen, moves: [], chess960: false };
  const white = new Script(["e1g1", "g1g2", "g2g1"], 123);
  const black = new Script(["e8e7", "e7e6", "e6e7"], -45, 1234);
  const record = await play(
    white,
    black,
    { timeControl: parseTimeControl("60"), adjudication: { maxMoves: 3 } },
    opening,
  );
  const text = formatRecord(record, [["Event", 'A "quoted" \\ one']], [["GameIndex", "7"]]);
  const [game, ...others] = parseGames(text);
  assert.equal(others.length, 0);
  assert.equal(game.tags.get("Event"), 'A "quoted" \\ one');
  assert.deepEqual(
    ["Termination", "Reason", "PlyCount", "GameIndex"].map((name) => game.tags.get(name)),
    ["adjudication", "3 moves played", "6", "7"],
  );
  assert.equal(game.result, "1/2-1/2");
  assert.equal(formatFen(game.start), fen);
  assert.deepEqual(
    [...game.moves],
    record.moves.map(({ move }) => move),
  );
  assert.deepEqual([...game.evals], [NO_EVAL, 123, 45, 123, 45, 123, 45]);
  assert.deepEqual([...game.clocksMs], [NO_CLOCK, 60_000, 58_766, 60_000, 57_532, 60_000, 56_298]);
  assert.ok(text.split("\n").every((line) => line.length <= 80 || line.startsWith("[")));
});

test("a game lost by a fault says so in its PGN", async () => {
  const record = await play(new Script(KNIGHTS.white, 0, 2000), new Script(KNIGHTS.black), {
    timeControl: parseTimeControl("1"),
  });
  const text = formatRecord(record, [["Event", "x"]]);
  const [game] = parseGames(text);
  assert.deepEqual(
    [game.result, game.tags.get("Termination"), game.tags.get("Reason")],
    ["0-1", "time forfeit", "white: time"],
  );
  assert.match(text, /\{ white moved after 2\.000 s; it had 1\.000 s\. \} 0-1/);
});

test("a Chess960 game castles as king takes rook and comes back whole", async () => {
  const fen = "1k3r2/8/8/8/8/5P2/8/1K3R2 w Ff - 0 1";
  const white = new Script(["b1f1", "g1h1"]);
  const black = new Script(["b8c8", "c8b8"]);
  const record = await play(white, black, { adjudication: { maxMoves: 2 } }, { fen, moves: [], chess960: true });
  const text = formatRecord(record, [["Event", "x"]]);
  assert.match(text, /1\. O-O /);
  const [game] = parseGames(text);
  assert.equal(game.start.chess960, true);
  assert.deepEqual(
    [...game.moves],
    record.moves.map(({ move }) => move),
  );
  assert.equal(parseFen(record.startFen, { chess960: true }).chess960, true);
});
