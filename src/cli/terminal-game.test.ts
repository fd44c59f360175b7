import assert from "node:assert/strict";
import { test } from "vitest";
import { parseFen, parseSan, START_FEN } from "#chess";
import type { Player } from "#engine";
import { parseGames } from "#formats";
import { playTerminalGame } from "./terminal-game.js";

/** Plays the given moves, whoever asks. */
const puppet = (...moves: string[]): Player => ({
  name: "puppet",
  options: {},
  setOption: async () => {},
  newGame: async () => {},
  async choose(position) {
    const move = parseSan(position, moves.shift() ?? "") ?? position.moves()[0];
    return { move, timeMs: 1, lines: [{ scoreCp: 34, pv: [] }] };
  },
  close: async () => {},
});

async function play(lines: string[], player: Player, { fen = START_FEN, human = "white" as "white" | "black" } = {}) {
  const printed: string[] = [];
  async function* typed() {
    yield* lines;
  }
  const game = await playTerminalGame(
    { player, position: parseFen(fen), human, limits: {}, date: new Date("2026-01-02T03:04:05Z") },
    { lines: typed(), print: (text) => printed.push(text), prompt: () => {}, board: false, color: false },
  );
  return { ...game, printed: printed.join("\n") };
}

test("a game is played in SAN and UCI until mate, and written as PGN", async () => {
  const { result, reason, pgn, moves } = await play(["f3", "g2g4"], puppet("e5", "Qh4"));
  assert.deepEqual([result, reason, moves], ["0-1", "checkmate", ["f2f3", "e7e5", "g2g4", "d8h4"]]);
  const [game] = await parseGames(pgn);
  assert.deepEqual([game.tags.get("White"), game.tags.get("Black"), game.result], ["Human", "puppet", "0-1"]);
  assert.equal(game.moves.length, 4);
  assert.equal(game.tags.get("Date"), "2026.01.02");
});

test("undo takes back both moves, hint asks the player, and a wrong move changes nothing", async () => {
  const { moves, printed } = await play(["undo", "e4", "undo", "O-O", "hint", "d4", "fen"], puppet("e5", "Nc3", "d5"));
  assert.deepEqual(moves, ["d2d4", "d7d5"]);
  assert.match(printed, /no move of yours to take back/);
  assert.match(printed, /"O-O" is no legal move/);
  assert.match(printed, /puppet would play Nc3 \(\+0\.34\)/);
  assert.match(printed, /rnbqkbnr\/ppp1pppp\/8\/3p4\/3P4/);
});

test("whoever has Black waits for the first move; resigning loses, and the end of the lines leaves the game open", async () => {
  const resigned = await play(["resign"], puppet("e4"), { human: "black" });
  assert.deepEqual([resigned.result, resigned.reason, resigned.moves], ["1-0", "Black resigned", ["e2e4"]]);
  const left = await play(["e4"], puppet("e5"));
  assert.deepEqual([left.result, left.moves.length], ["*", 2]);
});

test("go changes sides, and the board turns with it", async () => {
  const { moves, printed, pgn } = await play(["go", "board", "e5"], puppet("d4", "c4"));
  assert.deepEqual(moves, ["d2d4", "e7e5", "c2c4"]);
  assert.match(printed, /h g f e d c b a/);
  assert.match(pgn, /\[White "puppet"\]/);
});

test("a game from a position given ends by its rules", async () => {
  const { result, reason } = await play(["Qc7"], puppet(), { fen: "k7/8/1K6/8/8/8/2Q5/8 w - - 0 1" });
  assert.deepEqual([result, reason], ["1/2-1/2", "stalemate"]);
});
