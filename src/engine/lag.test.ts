import assert from "node:assert/strict";
import { test } from "vitest";
import { parseFen } from "#chess";
import { LagMeter } from "./lag.js";

const at = (number: number, side = "w") => parseFen(`4k3/8/8/8/8/8/8/R3K3 ${side} - - 0 ${number}`);
const clock = (whiteMs: number) => ({ whiteMs, blackMs: 5000, whiteIncrementMs: 10, blackIncrementMs: 10 });

test("what the clock loses beyond our thinking is allowed for at the next move, and slowly forgotten", () => {
  const meter = new LagMeter();
  assert.equal(meter.allowance(at(1), clock(1000), 20), 20);
  meter.answered(at(1), clock(1000), 40);
  // 1000 - 40 + 10 would be 970: 60 ms were lost on the way.
  assert.equal(meter.allowance(at(2), clock(910), 20), 60);
  meter.answered(at(2), clock(910), 30);
  assert.equal(meter.allowance(at(3), clock(889), 20), 48);
});

test("another game, another side, or a clock set anew says nothing about the way", () => {
  const meter = new LagMeter();
  meter.answered(at(1), clock(1000), 40);
  assert.equal(meter.allowance(at(1), clock(500), 20), 20);
  meter.answered(at(1), clock(1000), 40);
  assert.equal(meter.allowance(at(2, "b"), clock(500), 20), 20);
  meter.answered(at(1), clock(1000), 40);
  assert.equal(meter.allowance(at(2), clock(60_000), 20), 20);
});
