import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { ASSUMPTIONS } from "./assumptions.js";
import { Server, Timeline } from "./events.js";
import { type Assumptions, saturation, simulate } from "./simulate.js";

const close = (found: number, expected: number, share: number) =>
  assert.ok(Math.abs(found / expected - 1) < share, `${found}, expected ${expected}`);

/** Nothing costs anything but the work itself. */
const FREE: Assumptions = {
  ...ASSUMPTIONS, coresPerWorker: 1, jobSeconds: 60, jobSpread: 0, positionsPerJob: 600, resultBytes: 0, networkBytes: 0,
  redisAddMs: 0, redisDoMs: 0, redisRenewMs: 0, redisStoreMs: 0, collectMs: 0, roundTripMs: 0, windowJobs: 0,
}; // biome-ignore format: a table

for (const load of [0.3, 0.8])
  test(`a server with random arrivals and equal services waits as an M/D/1 queue does, at load ${load}`, () => {
    const timeline = new Timeline();
    const server = new Server(timeline);
    const random = new Random(7);
    const arrive = () => {
      server.serve(1, () => {});
      timeline.plan(timeline.now - Math.log(1 - random.next()) / load, arrive);
    };
    timeline.plan(0, arrive);
    timeline.runUntil(400_000);
    close(server.meanWait, load / (2 * (1 - load)), 0.03); // Pollaczek-Khinchine; 3 %: 300,000 services
    close(server.busySeconds / 400_000, load, 0.01);
  });

test("events happen in the order of their times, those of one time as they were planned", () => {
  const timeline = new Timeline();
  const seen: string[] = [];
  for (const [at, name] of [[3, "d"], [1, "a"], [2, "b"], [2, "c"], [9, "later"]] as const) timeline.plan(at, () => seen.push(name)); // biome-ignore format: a table
  timeline.runUntil(5);
  assert.deepEqual(seen, ["a", "b", "c", "d"]);
  assert.equal(timeline.now, 5);
});

test("without contention workers do what their cores can", () => {
  for (const workers of [1, 100, 3000]) {
    const { positionsPerSecond, efficiency, limit } = simulate(workers, FREE, 1);
    close(positionsPerSecond, workers * 10, 1e-9);
    close(efficiency, 1, 1e-9);
    assert.equal(limit, "cores");
  }
  // Jobs of different length change nothing in the mean; 2,000 of them tell it to 2 %.
  close(simulate(20, { ...FREE, jobSpread: 0.5 }, 1).positionsPerSecond, 200, 0.05);
});

test("a full server gives what it can, and is named", () => {
  const slow = {
    redis: { redisDoMs: 100 },
    command: { collectMs: 100 },
    link: { resultBytes: 1_250_000, linkMegabits: 100 },
  };
  for (const [limit, changes] of Object.entries(slow)) {
    const assumptions = { ...FREE, ...changes };
    const found = simulate(2000, assumptions, 1); // 33 jobs a second are wanted, 10 are possible
    close(found.positionsPerSecond, 10 * 600, 0.01);
    assert.equal(found.limit, limit);
    close(saturation(assumptions)[limit as "redis"], 600, 1e-9);
  }
});

test("a window smaller than the cores leaves the others idle", () => {
  const { positionsPerSecond, limit, efficiency } = simulate(200, { ...FREE, windowJobs: 50 }, 1);
  close(positionsPerSecond, 500, 1e-9);
  close(efficiency, 0.25, 1e-9);
  assert.equal(limit, "window");
});

test("the same seed gives the same numbers, another one others", () => {
  const spread = { ...ASSUMPTIONS, jobSpread: 0.5 };
  assert.deepEqual(simulate(30, spread, 1), simulate(30, spread, 1));
  assert.notDeepEqual(simulate(30, spread, 1), simulate(30, spread, 2));
});

test("money, tests and generations follow from the rate", () => {
  const prices = { coreHourPrice: 0.036, requestPrice: 0, serverHourPrice: 0 };
  const tasks = { generationPositions: 10_000, trainingSeconds: 40, sprtGames: 1000, gamesPerJob: 10 };
  const found = simulate(10, { ...FREE, ...prices, ...tasks }, 1); // 100 positions and 1.67 games a second
  close(found.dollarsPerMillion, 1, 1e-9); // 10,000 s of 10 cores at 0.00001 dollars a second
  close(found.staleShare, (40 + 60) / 100, 1e-9);
  close(found.idleShare, 40 / 140, 1e-9);
  close(found.sprtSeconds, 600 + 60, 1e-9);
  close(found.sprtWaste, 100 / 1100, 1e-9);
});
