import assert from "node:assert/strict";
import { test } from "vitest";
import { parseFen, parseSan, START_FEN } from "#chess";
import type { Thought, Wish } from "../minds/protocol.js";
import { chess960Fen } from "./chess960.js";
import { ChessClock, formatTime } from "./clock.js";
import { PlayedGame } from "./game.js";
import { parseTree } from "./pgn.js";
import { HUMAN, type NetworkSeat } from "./seats.js";

const NETWORK: NetworkSeat = {
  kind: "network",
  network: "x",
  search: "ab",
  nodes: undefined,
  elo: 1500,
  moveTimeMs: 100,
};

interface Asked {
  moves: readonly string[];
  wish: Wish;
  signal: AbortSignal | undefined;
  answer(move: string, scoreCp?: number): Promise<void>;
}

/** A game whose networks answer when the test says so, and whose time stands still until it is moved. */
function table() {
  const asked: Asked[] = [];
  const time = { ms: 0 };
  const game = new PlayedGame({
    now: () => time.ms,
    think: (_, { moves }, wish, { signal }) =>
      new Promise<Thought>((resolve) => {
        asked.push({
          moves,
          wish,
          signal,
          async answer(move, scoreCp = 20) {
            resolve({ move, lines: [{ pv: [move], scoreCp }], timeMs: 1 });
            await Promise.resolve();
            await Promise.resolve();
            await Promise.resolve();
          },
        });
      }),
  });
  const start = parseFen(START_FEN);
  const san = (text: string) => game.play(parseSan(game.position, text)!);
  const line = () => game.questionAt(game.head).moves.join(" ");
  return { game, asked, time, start, san, line };
}

test("a network answers a move, and its opinion is kept in White's view", async () => {
  const { game, asked, start, san, line } = table();
  game.begin(start, { seats: { white: HUMAN, black: NETWORK } });
  assert.equal(asked.length, 0);
  san("e4");
  assert.deepEqual(asked[0].moves, ["e2e4"]);
  await asked[0].answer("e7e5", 30);
  assert.equal(line(), "e2e4 e7e5");
  assert.equal(game.head.parent!.verdict!.whiteCp, -30);
});

test("taking back removes the reply too, and a thought that comes late is not played", async () => {
  const { game, asked, start, san, line } = table();
  game.begin(start, { seats: { white: HUMAN, black: NETWORK } });
  san("e4");
  await asked[0].answer("e7e5");
  san("Nf3");
  game.takeBack();
  assert.ok(asked[1].signal!.aborted);
  await asked[1].answer("b8c6");
  assert.equal(line(), "e2e4 e7e5");
  game.takeBack();
  assert.equal(line(), "");
  game.takeBack();
  assert.equal(line(), "");
});

test("a reply while the board shows an earlier place leaves it there", async () => {
  const { game, asked, start, san, line } = table();
  game.begin(start, { seats: { white: HUMAN, black: NETWORK } });
  san("e4");
  game.toStart();
  await asked[0].answer("e7e5");
  assert.equal(game.tree.current, game.tree.root);
  assert.equal(line(), "e2e4 e7e5");
  game.toEnd();
  assert.ok(game.isAtHead);
});

test("a network can sit down in the middle of a game, and up again", async () => {
  const { game, asked, start, san } = table();
  game.begin(start, { seats: { white: HUMAN, black: HUMAN } });
  san("e4");
  game.sit("black", NETWORK);
  assert.equal(asked.length, 1);
  game.sit("black", HUMAN);
  assert.ok(asked[0].signal!.aborted);
  assert.equal(game.thinking, undefined);
});

test("two networks play by themselves until they are paused", async () => {
  const { game, asked, start, line } = table();
  game.begin(start, { seats: { white: NETWORK, black: NETWORK } });
  await asked[0].answer("e2e4");
  await asked[1].answer("e7e5");
  game.pause(true);
  await asked[2].answer("g1f3");
  assert.equal(line(), "e2e4 e7e5");
  game.pause(false);
  await asked[3].answer("g1f3");
  assert.equal(line(), "e2e4 e7e5 g1f3");
});

test("mate ends the game, and nobody is asked any more", async () => {
  const { game, asked, start, san } = table();
  game.begin(start, { seats: { white: NETWORK, black: HUMAN } });
  await asked[0].answer("f2f3");
  san("e5");
  await asked[1].answer("g2g4");
  san("Qh4");
  assert.deepEqual(game.ending, { result: "0-1", reason: "checkmate" });
  assert.equal(asked.length, 2);
});

test("a clock runs from the first move on, adds its increment, and ends the game at zero", () => {
  const { game, time, start, san } = table();
  game.begin(start, { seats: { white: HUMAN, black: HUMAN }, control: { minutes: 1, incrementSeconds: 2 } });
  time.ms = 5_000;
  san("e4");
  assert.equal(game.remaining("white"), 62_000);
  time.ms = 15_000;
  san("e5");
  assert.equal(game.remaining("black"), 52_000);
  time.ms = 80_000;
  game.tick();
  assert.deepEqual(game.ending, { result: "0-1", reason: "White ran out of time" });
});

test("a network that fails says why, and another one may sit down", () => {
  const { game, start } = table();
  const broken = new PlayedGame({ think: () => Promise.reject(new Error("no such file")) });
  broken.begin(start, { seats: { white: NETWORK, black: HUMAN } });
  return new Promise<void>((resolve) => {
    const stop = broken.subscribe(({ trouble }) => {
      if (trouble === undefined) return;
      assert.equal(trouble, "no such file");
      queueMicrotask(() => stop());
      resolve();
    });
    assert.equal(game.trouble, undefined);
  });
});

test("a game that was loaded is nobody's, and a move in its middle makes a variation", () => {
  const { game, asked, san } = table();
  game.load(parseTree("1. e4 e5 2. Nf3 *"));
  game.go(game.tree.root.children[0]);
  san("c5");
  assert.equal(game.head.san, "c5");
  assert.equal(game.tree.root.children[0].children.length, 2);
  assert.equal(asked.length, 0);
});

test("Chess960 number 518 is the usual start", () => {
  assert.equal(chess960Fen(518), START_FEN);
  const all = new Set(Array.from({ length: 960 }, (_, i) => chess960Fen(i)));
  assert.equal(all.size, 960);
  for (const fen of all) assert.ok(parseFen(fen, { chess960: true }).moves().length >= 18);
});

test("clocks are shown with tenths only when little is left", () => {
  assert.deepEqual([3_723_000, 65_000, 9_340, 0].map(formatTime), ["1:02:03", "1:05", "0:09.3", "0:00.0"]);
  assert.equal(new ChessClock({ minutes: 3, incrementSeconds: 2 }).flagged(1e9), undefined);
});
