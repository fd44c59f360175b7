import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { test } from "vitest";
import { concatBytes, openBytes, Random } from "#base";
import { formatFen, formatSan, parseFen, START_FEN } from "#chess";
import type { BadGame } from "./bad-game.js";
import { NO_CLOCK, NO_EVAL } from "./block.js";
import { type Game, parseGames, readGameBlocks, readGames } from "./game.js";

/** Reads a text, with the reasons why games were refused. */
function read(text: string | Uint8Array): { games: Game[]; bad: BadGame[] } {
  const bad: BadGame[] = [];
  return { games: parseGames(text, { source: "x.pgn", onBad: (error) => bad.push(error) }), bad };
}

/** The moves of a game, written again. */
function sans(game: Game): string {
  const position = game.start;
  return Array.from(game.moves, (move) => {
    const san = formatSan(position, move);
    position.play(move);
    return san;
  }).join(" ");
}

/** The moves of the only game in a text, which must be in order. */
function only(text: string | Uint8Array): Game {
  const { games, bad } = read(text);
  assert.deepEqual(
    bad.map((error) => error.message),
    [],
  );
  assert.equal(games.length, 1);
  return games[0];
}

/** What is wrong with the only game in a text. */
function trouble(text: string): string {
  const { games, bad } = read(text);
  assert.equal(games.length, 0);
  assert.equal(bad.length, 1);
  return bad[0].message;
}

test("tags, moves and the result come out of an ordinary game", () => {
  const game = only('[Event "A"]\n[White "Réti, R"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3\nNc6 1-0\n');
  assert.deepEqual([...game.tags], [["Event", "A"], ["White", "Réti, R"], ["Result", "1-0"]]); // biome-ignore format: pairs
  assert.equal(sans(game), "e4 e5 Nf3 Nc6");
  assert.equal(game.result, "1-0");
});

test("move numbers may be glued, repeated, doubled or missing", () => {
  for (const text of ["1.e4 e5 2.Nf3", "1.e4 1...e5 2. Nf3", "e4 e5 Nf3", "1 e4 e5 2 Nf3", "1. e4 1. ... e5 2.Nf3", "1e4 e5 2Nf3"])
    assert.equal(sans(only(`${text} *`)), "e4 e5 Nf3"); // biome-ignore format: one line
});

test("Windows line ends, a byte order mark and a missing last line end do no harm", () => {
  const game = only('\ufeff[Event "A"]\r\n[Site "B"]\r\n\r\n1. e4\r\ne5 *');
  assert.deepEqual([...game.tags.values()], ["A", "B"]);
  assert.equal(sans(game), "e4 e5");
});

test("Latin-1 text is understood where it is not UTF-8", () => {
  const bytes = new Uint8Array([...'[White "R?ti"]\n\n1. e4 {?} *'].map((c) => (c === "?" ? 0xe9 : c.charCodeAt(0))));
  const game = only(bytes);
  assert.equal(game.tags.get("White"), "Réti");
  assert.deepEqual(game.comments(1), ["é"]);
});

test("quotes and backslashes in tags are unescaped; a quote nobody escaped is kept", () => {
  const game = only('[A "say \\"x\\" \\\\ y"]\n[B "The "Big" One"]\n[C "c:\\dir"]\n[D ""]\n\n*');
  assert.deepEqual([...game.tags.values()], ['say "x" \\ y', 'The "Big" One', "c:\\dir", ""]);
});

test("comments, semicolons, escaped lines and variations are skipped", () => {
  const text = `% an escape\n1. e4 {one (two) [x]\n1-0} e5 ; to the end 2. Qh5\n%d4\n2. Nf3 (2. f4 {x)} (2. d4) exf4) 2... Nc6 *`;
  const game = only(text);
  assert.equal(sans(game), "e4 e5 Nf3 Nc6");
  assert.deepEqual(game.comments(1), ["one (two) [x] 1-0"]);
  assert.deepEqual(game.comments(2), ["to the end 2. Qh5"]);
  assert.deepEqual(game.comments(3), []);
});

test("variations are read on request, with their comments and variations", () => {
  const game = only("1. e4 e5 2. Nf3 (2. f4 $1 {x)} (2. d4 exd4) exf4 {[%eval -0.2]} 3. Nf3) (2. Nc3 Nf6) 2... Nc6 *");
  const [first, second] = game.variations(3);
  assert.equal(sans(first), "f4 exf4 Nf3");
  assert.deepEqual(first.nags(1), [1]);
  assert.deepEqual(first.comments(1), ["x)"]);
  assert.equal(first.evals[2], -20);
  assert.deepEqual(first.variations(1).map(sans), ["d4 exd4"]);
  assert.equal(sans(second), "Nc3 Nf6");
  assert.deepEqual(game.variations(2), []);
});

test("a broken variation is told on request and does not harm its game", () => {
  const game = only("1. e4 (1. Ke2) (1. d4 d5) e5 *");
  const bad: BadGame[] = [];
  assert.deepEqual(game.variations(1, (error) => bad.push(error)).map(sans), ["d4 d5"]);
  assert.deepEqual(
    bad.map((error) => error.reason),
    ["in a variation, the move Ke2 (move 1, White) is not legal."],
  );
  assert.throws(() => game.variations(1), { code: "PGN_GAME" });
});

test("annotations come out as NAGs, however they are written", () => {
  const game = only("1. e4! e5?! $14 2. Nf3 !! Nc6 +- 3. Bb5 +/= $1 a6 = *");
  assert.deepEqual([1, 2, 3, 4, 5].map((ply) => game.nags(ply)), [[1], [6, 14], [3], [18], [14, 1]]); // biome-ignore format: one line
  assert.equal(game.plies, 6);
});

test("evaluations are centipawns in White's view, also before the first move and with a depth", () => {
  const game = only(
    "{ [%eval 0.17] } 1. e4 { [%eval -0.5,18] } e5 {good [%eval +12] move} 2. Nf3 { [%eval .256] } Nc6 *",
  );
  assert.deepEqual([...game.evals], [17, -50, 1200, 26, NO_EVAL]);
  assert.deepEqual(game.comments(2), ["good move"]);
  assert.deepEqual(game.comments(1), []);
});

test("mates count the plies to the end from the side to move", () => {
  // After 1. e4 Black is to move: a white mate in 3 takes 6 plies, a black mate in 3 takes 5.
  assert.deepEqual([...only("1. e4 {[%eval #3]} e5 {[%eval #3]} *").evals], [NO_EVAL, 31994, 31995]);
  assert.deepEqual([...only("1. e4 {[%eval #-3]} e5 {[%eval #-3]} *").evals], [NO_EVAL, -31995, -31994]);
  assert.deepEqual([...only("1. e4 {[%eval -M3]} e5 {[%eval #0]} *").evals], [NO_EVAL, -31995, -32000]);
});

test("a comment after the result is read like one before it", () => {
  const before = only("1. e4 {+0.20/6 0.1s} e5 {-0.10/6 0.1s [%eval 0.3] [%clk 0:01:00]} 1-0");
  const after = only("1. e4 {+0.20/6 0.1s} e5 1-0 {-0.10/6 0.1s [%eval 0.3] [%clk 0:01:00]}");
  assert.deepEqual([...before.evals], [20, 10, 30]);
  assert.deepEqual([...after.evals], [...before.evals]);
  assert.deepEqual([...after.clocksMs], [...before.clocksMs]);
});

test("an evaluation nobody can read stays in its comment", () => {
  const game = only("1. e4 {[%eval ?] [%clk soon] [%eval 1.2x] [%emt 0:00:01]} e5 {[%eval 999999999999]} *");
  assert.deepEqual([...game.evals], [NO_EVAL, NO_EVAL, 30000]);
  assert.deepEqual(game.comments(1), ["[%eval ?] [%clk soon] [%eval 1.2x] [%emt 0:00:01]"]);
});

test("clocks are milliseconds", () => {
  const game = only("1. e4 {[%clk 1:02:03]} e5 {[%clk 0:00:09.4]} 2. Nf3 {[%clk 2:05]} Nc6 *");
  assert.deepEqual([...game.clocksMs], [NO_CLOCK, 3_723_000, 9400, 125_000, NO_CLOCK]);
});

test("a FEN tag sets the start, with or without SetUp", () => {
  const game = only('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40"]\n\n40... Kd7 41. e4 *');
  assert.equal(formatFen(game.start), "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40");
  assert.equal(sans(game), "Kd7 e4");
});

test("a Chess960 game castles from where its pieces stand", () => {
  const game = only(
    '[Variant "Chess960"]\n[FEN "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1"]\n\n1. c3 c6 2. Bc2 Bc7 3. O-O-O *',
  );
  assert.equal(game.plies, 5);
  assert.equal(game.start.chess960, true);
  assert.equal(only('[Variant "Fischerandom"]\n\n1. e4 *').start.chess960, true);
});

test("a game of another variant keeps its tags, has no moves, and is not broken", () => {
  const { games, bad } = read(
    '[Event "A"]\n[Variant "Crazyhouse"]\n\n1. e4 d5 2. exd5 Qxd5 3. P@e4 1-0\n\n[Event "B"]\n\n1. d4 *',
  );
  assert.deepEqual(bad, []);
  assert.equal(games[0].unsupportedVariant, "Crazyhouse");
  assert.equal(games[0].tags.get("Event"), "A");
  assert.equal(games[0].plies, 0);
  assert.equal(games[0].result, "1-0");
  assert.equal(games[1].unsupportedVariant, undefined);
  assert.equal(sans(games[1]), "d4");
});

test("results are read in every spelling, and from the tag where the moves have none", () => {
  assert.equal(only("1. e4 1/2-1/2").result, "1/2-1/2");
  assert.equal(only("1. e4 1/2").result, "1/2-1/2");
  assert.equal(only("1. e4 0-1").result, "0-1");
  assert.equal(only("1. e4*").result, "*");
  assert.equal(only('[Result "0-1"]\n\n1. e4').result, "0-1");
  assert.equal(only("1. e4 e5").result, "*");
});

test("games need neither blank lines nor results between them", () => {
  const { games, bad } = read(
    '[Event "1"]\n1. e4 1-0\n[Event "2"]\n1. d4\n[Event "3"]\n\n[Event "4"]\n[X "y"] 1. c4 * 1. f4 *',
  );
  assert.deepEqual(bad, []);
  assert.deepEqual(games.map(sans), ["e4", "d4", "", "c4", "f4"]);
  assert.deepEqual(games.map((game) => game.tags.get("Event")), ["1", "2", "3", "4", undefined]); // biome-ignore format: one line
});

test("a comment on the line of the result belongs to the game", () => {
  const { games } = read('1. e4 1-0 {resigns}\n\n[Event "2"]\n\n{before} 1. d4 *');
  assert.deepEqual(games[0].comments(1), ["resigns"]);
  assert.deepEqual(games[1].comments(0), ["before"]);
});

test("castling with zeros, long forms and e.p. are understood", () => {
  const game = only("1. e2-e4 e7e5 2. Ng1f3 Nb8-c6 3. Bf1c4 Bc5 4. 0-0 d5 5. exd5 e4 6. a3 f5 7. d4 exd3 e.p. *");
  assert.equal(sans(game), "e4 e5 Nf3 Nc6 Bc4 Bc5 O-O d5 exd5 e4 a3 f5 d4 exd3");
});

test("figurines, UCI moves, small promotions and a glued e.p. are understood", () => {
  const game = only("1. e4 ♞f6 2. e5 d5 3. exd6e.p. ♛xd6 4. g1f3 b8c6 5. f1b5 c8d7 6. e1g1 e8c8 7. ♖e1 a7a5 *");
  assert.equal(sans(game), "e4 Nf6 e5 d5 exd6 Qxd6 Nf3 Nc6 Bb5 Bd7 O-O O-O-O Re1 a5");
  for (const queen of ["h8=q", "h8q", "h7h8q", "h8=♕", "h7h8=Q"])
    assert.equal(sans(only(`[FEN "8/7P/8/8/8/k7/8/K7 w - - 0 1"]\n\n1. ${queen} *`)), "h8=Q", queen);
  for (const ep of ["exd6ep", "exd6 ep", "exd6 e.p. +", "exd6e.p.!"])
    assert.equal(only(`1. e4 Nf6 2. e5 d5 3. ${ep} exd6 *`).plies, 6, ep);
});

test("brackets that close nothing mean nothing", () => {
  for (const text of ["1. e4 ) e5", "1. e4 } e5 ]", "<1. e4> e5,", "1. e4 [ e5", "1. e4 [%clk 0:01] e5 [only move]\n"])
    assert.equal(sans(only(`${text} *`)), "e4 e5", text);
});

test("zeros and the end mark of DOS are white space", () => {
  assert.equal(sans(only("1. e4\0\0 e5\0 *\n\x1a")), "e4 e5");
  assert.equal(read("1. e4 e5 *\n\x1a\0\0").bad.length, 0);
});

test("a comment may quote the start of a game", () => {
  const { games, bad } = read('1. e4 { as in\n[Event "x"]\n1. e4 c5 } e5 *\n\n[Event "2"]\n\n1. d4 {x} *');
  assert.deepEqual([bad, games.map(sans)], [[], ["e4 e5", "d4"]]);
});

test("what cutechess and fastchess write after a move is the evaluation before it, in White's view", () => {
  const game = only("1. e4 {+0.19/6 0.063s} e5 { -1.20/12 0.1s, other} 2. Nf3 {+M5/20 1s} Nc6 {-M4/20 1s} 3. d4 {0.00/1 0s} d5 {book} *"); // biome-ignore format: one line
  assert.deepEqual([...game.evals], [19, 120, 31995, 31996, 0, NO_EVAL, NO_EVAL]);
  // As older versions of fastchess wrote it, with the reason of the end (its app/tests/pgn_builder_test.cpp).
  const older = only("1. e4 {+1.00/15, 1.321s} e5 {+1.23/15, 0.430s} 2. Nf3 {+1.45/16, 0.310s} Nf6 {+10.15/18, 1.821s, engine2 got checkmated} 1-0"); // biome-ignore format: one line
  assert.deepEqual([...older.evals], [100, -123, 145, -1015, NO_EVAL]);
  assert.deepEqual([...only("1. e4 {[%eval 0.3]} e5 {+0.40/3 0s} 2. d4 {1/2-1/2} *").evals], [NO_EVAL, 30, NO_EVAL, NO_EVAL]); // biome-ignore format: one line
});

test("a broken game is reported with file, number, line, move and reason, and the rest goes on", () => {
  const { games, bad } = read(
    '[Event "1"]\n\n1. e4 *\n\n[Event "2"]\n\n1. e4 e5\n2. Ke3 Nc6 {[Event "no"]} 0-1\n\n[Event "3"]\n\n1. d4 *',
  );
  assert.deepEqual(games.map(sans), ["e4", "d4"]);
  assert.deepEqual(games.map((game) => [game.number, game.line]), [[1, 1], [3, 10]]); // biome-ignore format: pairs
  assert.deepEqual(bad.map((error) => error.message), ["x.pgn: game 2, line 8: the move Ke3 (move 2, White) is not legal."]); // biome-ignore format: one line
});

test("every kind of trouble has its own words", () => {
  const known: [string, RegExp][] = [
    ["1. e4 hello *", /"hello" \(move 1, Black\) is not a move/],
    ["1. e4 e5 2. Nf3 Nc6 3. Nc3 Nf6 4. Ne4 *", /Ne4 \(move 4, White\) is not legal/],
    ["1. Nf3 a6 2. Nd4 a5 3. Nc3 a4 4. Ndb5 a3 5. Nd5 b6 6. Nc7 *", /Nc7 .* is ambiguous/],
    ["1. e4 -- 2. d4 *", /"--" \(move 1, Black\) is a null move/],
    ["1. e4 Z0 2. d4 *", /null move/],
    ["1. e4 { never closed", /comment .* never closed/],
    ["1. e4 (1. d4 d5", /variation .* never closed/],
    ['[Event Missing quotes]\n[Site "x"]\n\n1. e4 *', /line 1: \[Event Missing quotes\] is not a tag/],
    ['[FEN "8/8/8/8 w - - 0 1"]\n\n1. e4 *', /FEN "8\/8\/8\/8 w/],
  ];
  for (const [text, message] of known) assert.match(trouble(text), message);
});

test("an open comment or variation ends where the next game begins", () => {
  const { games, bad } = read('1. e4 { oh\n\n[Event "2"]\n\n1. d4 (1. c4\n\n[Event "3"]\n[Site "s"]\n\n1. f4 *');
  assert.equal(bad.length, 2);
  assert.deepEqual(games.map(sans), ["f4"]);
  assert.equal(games[0].tags.get("Site"), "s");
});

test("nothing comes of white space, escapes or a lone comment", () => {
  for (const text of ["", " \n\n", "% x", "; nothing\n", "{ nothing }"])
    assert.deepEqual(read(text), { games: [], bad: [] });
});

/** The text in pieces of so many bytes, like a slow pipe. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

const GAME_TEXT = '[Event "?"]\n[White "Somebody"]\n\n1. e4 { [%eval 0.3] } e5 (1... c5) 2. Nf3 Nc6 3. Bb5 1/2-1/2\n\n';

test("a stream of many megabytes gives the same games as its parts, whatever the pieces", async () => {
  const bytes = new TextEncoder().encode(GAME_TEXT.repeat(30_000)); // 2.8 MB: the input is refilled
  for (const size of [bytes.length, 65536, 99_991]) {
    let games = 0;
    let lastLine = 0;
    for await (const game of readGames(pieces(bytes, size))) {
      games++;
      lastLine = game.line;
      if (games % 1000 === 0) assert.equal(sans(game), "e4 e5 Nf3 Nc6 Bb5");
    }
    assert.equal(games, 30_000);
    assert.equal(lastLine, 29_999 * 5 + 1);
  }
});

test("a game is read whole wherever the input is cut", () => {
  const text = `[Event "a"]\n[FEN "${START_FEN}"]\n\n{[%eval 0.1]} 1. e4! $2 e5 ; x\n(1... c5) 2. Nf3 !? {[%clk 0:01:02]} 2... Nc6 1/2-1/2 {y}\n%z\n[Event "b"]\n\n1. Ke2\n\n[Event "c"]\n\n1. d4 0-1`;
  const content = ({ games, bad }: ReturnType<typeof read>) => [
    games.map((game) => [[...game.tags], sans(game), [...game.evals], [...game.clocksMs], game.result, game.line]),
    games.map((game) => [0, 1, 2, 3, 4].map((ply) => [game.comments(ply), game.nags(ply)])),
    bad.map((error) => [error.game, error.line, error.reason]),
  ];
  const bytes = new TextEncoder().encode(text);
  const spaces = new Uint8Array(1 << 20).fill(32);
  const expected = content(read(text));
  for (let cut = 1; cut < text.length; cut++) {
    // The input holds a megabyte: it is full `cut` bytes into the text. (The next test but one enlarges it for good.)
    assert.deepEqual(content(read(concatBytes([spaces.subarray(cut), bytes]))), expected, `cut at ${cut}`);
  }
});

test("a FEN tag gives the position that parseFen gives", () => {
  const random = new Random(3);
  for (let game = 0; game < 40; game++) {
    const position = parseFen(START_FEN);
    for (let moves = position.moves(); moves.length > 0 && position.history.length < 80; moves = position.moves()) {
      position.play(random.pick(moves));
      const fen = formatFen(position);
      assert.deepEqual(only(`[FEN "${fen}"]\n\n*`).start.bytes(), parseFen(fen).bytes());
    }
  }
});

test("a game longer than the input is read; one beyond all measure is reported and the next is found", async () => {
  const long = `1. e4 {${"long ".repeat(400_000)}} e5 *\n\n`; // 2 MB
  const endless = `[Event "x"]\n[Site "y"]\n\n1. d4 {${"x ".repeat(9_000_000)}} *\n\n`; // 18 MB
  const bad: BadGame[] = [];
  const found: string[] = [];
  const bytes = new TextEncoder().encode(`${long}${endless}[Event "z"]\n\n1. c4 *`);
  for await (const game of readGames(pieces(bytes, 1 << 20), { onBad: (error) => bad.push(error) }))
    found.push(sans(game));
  assert.deepEqual(found, ["e4 e5", "c4"]);
  assert.deepEqual(bad.map((error) => [error.game, error.line]), [[2, 3]]); // biome-ignore format: one line
  assert.match(bad[0].message, /longer than 16 MB/);
});

test("a game with more plies than a block holds is reported, and the next is read", () => {
  const { games, bad } = read(`${"Nf3 Nf6 Ng1 Ng8 ".repeat(20_000)} * e4 *`);
  assert.deepEqual(games.map(sans), ["e4"]);
  assert.match(bad[0].message, /more moves/);
});

test("two files can be read at the same time", async () => {
  const bytes = new TextEncoder().encode(GAME_TEXT.repeat(20_000));
  const other = new TextEncoder().encode('[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 Kd7 *\n'.repeat(20_000));
  const [a, b] = [readGames(pieces(bytes, 70_000)), readGames(pieces(other, 7000))];
  for (let i = 0; i < 20_000; i++) {
    const [first, second] = [(await a.next()).value as Game, (await b.next()).value as Game];
    if (i % 500) continue;
    assert.equal(sans(first), "e4 e5 Nf3 Nc6 Bb5");
    assert.equal(sans(second), "e4 Kd7");
  }
});

test("a binary file is refused", async () => {
  const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]);
  await assert.rejects(readGames(pieces(bytes, 3)).next(), { code: "PGN_BINARY" });
});

test("a text with a few zeros is no binary file", async () => {
  const bytes = new TextEncoder().encode(`${GAME_TEXT}\0\0\n${GAME_TEXT}`);
  let games = 0;
  for await (const _ of readGames(pieces(bytes, 1000))) games++;
  assert.equal(games, 2);
});

test("a reader without onBad throws at the first broken game", () => {
  assert.throws(() => parseGames("1. e5 *"), { code: "PGN_GAME" });
});

const DATA = "../shared/data/games";
test.skipIf(!existsSync(DATA))("every real game is read, and every evaluation", async () => {
  const counts = { games: 0, evals: 0, unsupported: 0 };
  for (const file of readdirSync(DATA).filter((name) => !/201[4-8]|202/.test(name))) {
    for await (const block of readGameBlocks(await openBytes(`${DATA}/${file}`), { source: file })) {
      counts.games += block.length;
      for (const value of block.evals) if (value !== NO_EVAL) counts.evals++;
      for (let i = 0; i < block.length; i++) if (block.unsupportedVariant(i)) counts.unsupported++;
    }
  }
  // elite 2019, TCEC, Lichess, self-play and the mixed file, as the folder's README counts them
  assert.deepEqual(counts, {
    games: 28_937 + 17_871 + 8903 + 24_172 + 3000,
    evals: 2_294_981 + 754_369 + 2_969_903,
    unsupported: 4,
  });
});
