import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { estimate, type Pentanomial } from "./elo.js";
import { gauntlet, roundRobin } from "./pairing.js";
import { type Encounter, ratePlayers } from "./ratings.js";

const NONE: Pentanomial = [0, 0, 0, 0, 0];
const met = (first: number, second: number, wins: number, draws: number, losses: number): Encounter => ({
  first,
  second,
  games: { wins, draws, losses },
  pairs: NONE,
});

test("scores of 75 %, 75 % and 90 % mean exactly -190.85, 0 and 190.85 (Laskos, talkchess 44180)", () => {
  // Ordo prints 190.1 for these games; 400 log10 3 = 190.85 solves them exactly.
  const { players, bounded } = ratePlayers(3, [met(0, 2, 24, 6, 0), met(0, 1, 18, 9, 3), met(1, 2, 18, 9, 3)]);
  const exact = 400 * Math.log10(3);
  assert.equal(bounded, false);
  for (const [i, { rating }] of players.entries()) {
    assert.ok(Math.abs(rating - [exact, 0, -exact][i]) < 1e-6, `${rating}`);
  }
  assert.deepEqual(
    players.map(({ games, score }) => [games, score]),
    [
      [60, 49.5],
      [60, 30],
      [60, 10.5],
    ],
  );
});

test("two players are rated as their match is", () => {
  const pairs: Pentanomial = [20, 100, 346, 223, 28];
  const points = pairs.reduce((sum, count, half) => sum + (count * half) / 2, 0);
  const games = { wins: points - 200, draws: 400, losses: 2 * 717 - points - 200 };
  const match = estimate(games, pairs);
  const { players } = ratePlayers(2, [{ first: 0, second: 1, games, pairs }]);
  assert.ok(Math.abs(players[0].rating - players[1].rating - match.elo!) < 1e-6);
  // the errors of both against their average add up to that of the difference; 1 % for the bend of the curve
  assert.ok(Math.abs((2 * players[0].error!) / match.error! - 1) < 0.01);
});

test("somebody who won everything gets a finite rating, and it is said", () => {
  const { players, bounded } = ratePlayers(3, [met(0, 1, 10, 0, 0), met(1, 2, 3, 4, 3), met(0, 2, 10, 0, 0)]);
  assert.equal(bounded, true);
  assert.ok(players[0].rating > 200 && players[0].rating < 2000);
  assert.ok(Math.abs(players[1].rating - players[2].rating) < 1e-6);
});

test("no games at all give no error bars", () => {
  assert.deepEqual(ratePlayers(2, []).players, [
    { rating: 0, error: null, games: 0, score: 0 },
    { rating: 0, error: null, games: 0, score: 0 },
  ]);
});

test("simulated tournaments: 95 % of the error bars hold the true rating", () => {
  const random = new Random(11);
  const truth = [300, 180, 90, 40, 0, -110, -200, -300];
  let held = 0;
  const tournaments = 250;
  for (let t = 0; t < tournaments; t++) {
    const encounters: Encounter[] = [];
    for (const { first, second } of roundRobin(truth.length, 1)) {
      const pairs: Pentanomial = [0, 0, 0, 0, 0];
      const games = { wins: 0, draws: 0, losses: 0 };
      for (let i = 0; i < 40; i++) {
        let half = 0;
        for (let game = 0; game < 2; game++) {
          const expected = 1 / (1 + 10 ** ((truth[second] - truth[first]) / 400));
          const drawn = 0.8 * Math.min(expected, 1 - expected);
          const x = random.next();
          const points = x < drawn ? 1 : x < drawn / 2 + expected ? 2 : 0;
          half += points;
          games[points === 2 ? "wins" : points === 1 ? "draws" : "losses"]++;
        }
        pairs[half]++;
      }
      encounters.push({ first, second, games, pairs });
    }
    const { players } = ratePlayers(truth.length, encounters);
    players.forEach(({ rating, error }, i) => {
      if (Math.abs(rating - truth[i]) <= error!) held++;
    });
  }
  const share = held / (tournaments * truth.length);
  // 3 standard errors of 95 % in 2,000 are 1.5 %
  assert.ok(Math.abs(share - 0.95) < 0.015, `held ${share}`);
});

test("a round robin pairs everybody once a round, and nobody with himself", () => {
  for (const players of [2, 3, 4, 7, 10]) {
    const pairings = roundRobin(players, 3);
    assert.equal(pairings.length, (3 * players * (players - 1)) / 2);
    const met = new Set(pairings.map(({ first, second, round }) => `${round} ${first} ${second}`));
    assert.equal(met.size, pairings.length);
    assert.ok(pairings.every(({ first, second }) => first < second && second < players));
  }
});

test("a gauntlet pairs the first with all others", () => {
  assert.deepEqual(gauntlet(3, 2), [
    { first: 0, second: 1, round: 0 },
    { first: 0, second: 2, round: 0 },
    { first: 0, second: 1, round: 1 },
    { first: 0, second: 2, round: 1 },
  ]);
});
