import assert from "node:assert/strict";
import { test } from "vitest";
import { formatSource, parseSource } from "./data-source.js";

test("a file may carry its weight in the mix and its own share of the result", () => {
  assert.deepEqual(parseSource("games.bin"), { path: "games.bin" });
  assert.deepEqual(parseSource("a/games.bin?weight=3&resultShare=0.5"), { path: "a/games.bin", weight: 3, resultShare: 0.5 }); // biome-ignore format: a list
  assert.deepEqual(parseSource("what?.bin"), { path: "what?.bin" });
});

test("a setting that a file does not have is named, with the nearest that it has", () => {
  assert.throws(() => parseSource("games.bin?wieght=3"), /games\.bin\?wieght=3: .*"wieght".*weight/s);
  assert.throws(() => parseSource("games.bin?resultShare=2"), /resultShare is "2", expected a number from 0 to 1/);
  assert.throws(() => parseSource("games.bin?weight="), /weight is ""/);
});

test("games may be those of one player, and a share of them held out; any name survives the way there and back", () => {
  const source = { path: "a.pgn", player: "O'Kelly & Søn = 100 %?", heldOut: 0.1 };
  assert.deepEqual(parseSource(formatSource(source)), source);
  assert.deepEqual(parseSource("a.pgn?player=Carlsen, Magnus"), { path: "a.pgn", player: "Carlsen, Magnus" });
  assert.throws(() => parseSource("a.pgn?player=100%"), /player is "100%", expected a name/);
  assert.throws(() => parseSource("a.pgn?heldOut=2"), /heldOut is "2"/);
});
