import assert from "node:assert/strict";
import { test } from "vitest";
import { ELO_RANGE, strengthOf } from "./strength.js";

test("more Elo means more nodes and smaller errors, without a jump, from one end of the scale to the other", () => {
  let before = strengthOf(ELO_RANGE.min);
  for (let elo = ELO_RANGE.min + 1; elo <= ELO_RANGE.max; elo++) {
    const now = strengthOf(elo);
    assert.ok(now.nodes >= before.nodes && now.nodes <= before.nodes * 1.05 + 1, `${elo}: ${now.nodes} nodes`);
    assert.ok(now.noiseCp <= before.noiseCp && now.noiseCp >= before.noiseCp - 4, `${elo}: ${now.noiseCp} cp`);
    before = now;
  }
  assert.ok(strengthOf(ELO_RANGE.min).noiseCp > before.noiseCp * 10);
});
