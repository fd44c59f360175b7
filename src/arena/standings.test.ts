import assert from "node:assert/strict";
import { test } from "vitest";
import { GameCount } from "./game-count.js";
import { Match } from "./match.js";
import { sprt, sprtGames } from "./sprt.js";
import type { Standings } from "./standings.js";
import { Tournament } from "./tournament.js";

const gamesOf = (standings: Standings<unknown>) =>
  Array.from({ length: standings.total }, (_, index) => standings.game(index));
const TEST = { elo0: 0, elo1: 50, alpha: 0.05, beta: 0.05, model: "logistic" } as const;

test("a match counts from the first player's view, whoever has White", () => {
  const match = new Match(6);
  const points = [1, 0, 1, 0.5, 0, 0]; // White's: the first player wins both, wins and draws, loses and wins
  gamesOf(match).forEach((game, i) => void match.add(game, points[i]));
  const { wins, draws, losses, pentanomial, sprt, score } = match.state();
  assert.deepEqual([wins, draws, losses, score], [4, 1, 1, 0.75]);
  assert.deepEqual(pentanomial, [0, 0, 1, 1, 1]);
  assert.equal(sprt, null);
});

test("a test is decided with the pair at which its ratio leaves the bounds, and its path leads there", () => {
  const match = new Match(undefined, TEST);
  assert.equal(match.total, sprtGames(TEST));
  let pairs = 0;
  while (!match.decided) {
    const drawn = pairs % 3 === 0;
    for (const game of [match.game(2 * pairs), match.game(2 * pairs + 1)]) {
      assert.equal(match.decided, false);
      match.add(game, drawn ? 0.5 : game.white === 0 ? 1 : 0);
    }
    pairs++;
    assert.ok(pairs < 500);
  }
  const { sprt: end, pentanomial } = match.state();
  assert.equal(end?.result, "H1");
  assert.equal(match.llrPath.length, pairs);
  assert.deepEqual(match.llrPath.at(-1), { pairs, llr: end?.llr });
  assert.equal(sprt([0, 0, 1, 0, 0], TEST).llr, match.llrPath[0].llr);
  const before = pentanomial.with(pairs % 3 === 1 ? 2 : 4, pentanomial[pairs % 3 === 1 ? 2 : 4] - 1);
  assert.equal(sprt(before as typeof pentanomial, TEST).result, "undecided");
});

test("the path of a long test keeps its length within bounds, and its points true", () => {
  const match = new Match(20_000, { ...TEST, elo0: -1, elo1: 1 });
  const points = [1, 0.5, 0, 0.5, 0.5, 0, 0.5, 1];
  gamesOf(match).forEach((game, i) => void match.add(game, points[(i * 7) % 8]));
  const path = match.llrPath;
  assert.ok(path.length > 400 && path.length <= 1_000, `${path.length}`);
  const step = path[1].pairs - path[0].pairs;
  assert.ok(path.every(({ pairs }, i) => pairs === (i + 1) * step));
});

test("a tournament ranks its players, and both halves of its cross table agree", () => {
  const cup = new Tournament(["a", "b", "c"], { rounds: 4, againstFirst: false });
  const strength = [0, 2, 1];
  gamesOf(cup).forEach((game, i) => {
    const white = strength[game.white] - strength[game.black];
    cup.add(game, i % 5 === 0 ? 0.5 : white > 0 ? 1 : 0);
  });
  const { players, crossTable } = cup.state();
  assert.deepEqual(
    players.map(({ name }) => name),
    ["b", "c", "a"],
  );
  assert.deepEqual(
    players.map(({ games }) => games),
    [16, 16, 16],
  );
  crossTable.forEach((row, i) => {
    assert.equal(row[i], null);
    row.forEach((cell, j) => {
      const other = crossTable[j][i];
      assert.deepEqual(cell && [cell.wins, cell.draws, cell.losses], other && [other.losses, other.draws, other.wins]);
    });
  });
  const gauntlet = new Tournament(["a", "b", "c"], { rounds: 1, againstFirst: true });
  assert.deepEqual(
    gamesOf(gauntlet).map(({ white, black }) => [white, black]),
    [
      [0, 1],
      [1, 0],
      [0, 2],
      [2, 0],
    ],
  );
  assert.equal(
    gauntlet
      .state()
      .crossTable.flat()
      .filter((cell) => cell === null).length,
    5,
  ); // the diagonal, and b and c
});

test("games for their own sake are counted by colour; alone, each has its own opening", () => {
  const alone = new GameCount(3, { alone: true });
  assert.deepEqual(
    gamesOf(alone).map(({ round, white }) => [round, white]),
    [
      [0, 0],
      [1, 0],
      [2, 0],
    ],
  );
  const two = new GameCount(4, { alone: false });
  assert.deepEqual(
    gamesOf(two).map(({ round, white }) => [round, white]),
    [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ],
  );
  gamesOf(two).forEach((game, i) => void two.add(game, [1, 1, 0.5, 0][i]));
  assert.deepEqual(two.state(), { kind: "games", games: 4, white: 2, draws: 1, black: 1 });
});
