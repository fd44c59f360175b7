import assert from "node:assert/strict";
import { test } from "vitest";
import { formatSan, parseFen, parseUci, START_FEN } from "#chess";
import { resolvePlayer } from "./players.js";
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

test("a player of 1500 answers 1. e4 as people do, whatever its errors", async () => {
  const player = await resolvePlayer("nets/768x256.tnn@ab?limitStrength=true&elo=1500");
  const position = parseFen(START_FEN);
  position.play(parseUci(position, "e2e4") as number);
  const answers = new Set<string>();
  for (let seed = 1; seed <= 12; seed++) {
    await player.newGame({ seed });
    answers.add(formatSan(position, (await player.choose(position, {})).move));
  }
  await player.close();
  assert.ok(answers.size > 1, "not always the same");
  for (const answer of answers)
    assert.ok(["e5", "c5", "e6", "c6", "d5", "d6", "Nf6", "Nc6", "g6"].includes(answer), answer);
});
