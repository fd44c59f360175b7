import assert from "node:assert/strict";
import { test } from "vitest";
import type { TimeControl } from "#arena";
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

interface Setup {
  fen?: string;
  human?: "white" | "black";
  control?: TimeControl;
  thinkMs?: number; // of the human, before each line
}

async function play(
  lines: string[],
  player: Player,
  { fen = START_FEN, human = "white", control, thinkMs = 0 }: Setup = {},
) {
  let time = 0;
  const printed: string[] = [];
  async function* typed() {
    for (const line of lines) {
      time += thinkMs;
      yield line;
    }
  }
  const game = await playTerminalGame(
    { player, position: parseFen(fen), human, limits: {}, control, date: new Date("2026-01-02T03:04:05Z") },
    {
      lines: typed(),
      print: (text) => printed.push(text),
      prompt: () => {},
      board: control !== undefined,
      color: false,
      now: () => time,
    },
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

test("clocks run for both: they are shown, the player is told them, and who runs out of time has lost", async () => {
  const control = { baseMs: 60_000, incrementMs: 1_000 };
  const told: unknown[] = [];
  const player = puppet("e5", "Nc6", "d6");
  const watched: Player = {
    ...player,
    choose(position, limits) {
      told.push(limits.clock?.whiteMs);
      return player.choose(position, limits);
    },
  };
  const { result, reason, moves, printed, pgn } = await play(["e4", "Nf3", "Bc4"], watched, {
    control,
    thinkMs: 25_000,
  });
  assert.deepEqual(told, [36_000, 12_000]);
  assert.deepEqual([result, reason], ["0-1", "White ran out of time"]);
  assert.equal(moves.length, 4, "the move that came too late is not played");
  assert.match(printed, /White 0:36 {3}Black 1:01/);
  assert.match(pgn, /\[TimeControl "60\+1"\]/);
});

test("the board has letters where colours are not wanted, and nothing else but text", async () => {
  const { printed } = await play(["e4"], puppet("e5"), { control: { baseMs: 60_000, incrementMs: 0 } });
  assert.match(printed, /^8 {2}r n b q k b n r/m);
  assert.ok(!printed.replaceAll("\x1b[K", "").includes("\x1b"));
});
