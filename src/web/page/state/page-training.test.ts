import assert from "node:assert/strict";
import { test } from "vitest";
import type { Channel } from "#base";
import type { FromTrainer, ToTrainer } from "../minds/train-protocol.js";
import { PageTraining } from "./page-training.js";

/** A training whose workers do nothing by themselves: what they are told, and what they are made to say. */
function opened() {
  const told: ToTrainer[] = [];
  let hear = (_: unknown): void => {};
  let closed = 0;
  let nowMs = 0;
  const start = (): Channel => ({
    post: (message) => told.push(message as ToTrainer),
    listen: (onMessage) => {
      hear = onMessage;
    },
    close: async () => void closed++,
  });
  const training = new PageTraining(start, () => nowMs);
  const say = (message: FromTrainer) => hear(message);
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { training, told, say, wait, closed: () => closed };
}

const GAMES = { format: "pgn", kind: "games", records: 9, isWhole: true, families: [], warnings: [], first: [], players: [] } as const; // biome-ignore format: one line
const PLAN = { player: "", start: "", steps: 100, value: "eval", threads: 1 } as const;
const step = (number: number): FromTrainer => ({
  type: "step",
  report: { step: number, steps: 100, epoch: 1, loss: 3, learningRate: 0.001, positionsPerSecond: 500 },
});
const network = (number: number): FromTrainer => ({
  type: "network",
  network: { epoch: 1, step: number, bytes: new Uint8Array(1) },
  boards: [],
});

async function begun() {
  const all = opened();
  await all.training.look("a.pgn", "blob:x");
  all.say({ type: "looked", games: { ...GAMES, families: [], warnings: [], first: [], players: [] } });
  all.training.train(PLAN);
  all.say({ type: "begun", positions: 300, unseen: 30 });
  return all;
}

test("the time left is told once enough steps were taken to mean something", async () => {
  const { training, say, wait } = await begun();
  say(step(1));
  wait(500);
  say(step(6));
  assert.equal(training.secondsLeft, undefined);
  wait(500);
  say(step(11));
  assert.equal(training.secondsLeft, (1 / 10) * 89);
});

test("a training that was stopped keeps its networks and goes on in the same worker", async () => {
  const { training, told, say, closed } = await begun();
  const before = closed();
  say(step(50));
  say(network(50));
  training.stop();
  assert.equal(training.phase, "stopping");
  say(network(53));
  say({ type: "ended", isWhole: false });
  assert.equal(training.phase, "stopped");
  assert.deepEqual(
    training.networks.map((each) => each.step),
    [50, 53],
  );
  training.train(PLAN, { resume: true });
  assert.deepEqual(told.at(-1), { type: "train", plan: { ...PLAN, address: "blob:x#a.pgn" }, resume: true });
  assert.equal(closed(), before);
  say(network(50)); // resumed before it: what came after counts no more
  assert.deepEqual(
    training.networks.map((each) => each.step),
    [50],
  );
});

test("a file that cannot be read is gone; a training that fails leaves what was trained before", async () => {
  const one = opened();
  await one.training.look("a.pgn", "blob:x");
  one.say({ type: "failed", message: "blob:http://x/y#a.pgn: there is nothing in it." });
  assert.deepEqual([one.training.phase, one.training.trouble], ["empty", "a.pgn: there is nothing in it."]);
  const { training, say } = await begun();
  say(network(50));
  say({ type: "failed", message: "no room" });
  assert.deepEqual([training.phase, training.networks.length, training.isBusy], ["finished", 1, false]);
});
