import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "vitest";
import { openBytes, Random } from "#base";
import { formatFen, type Move, type Position, parseFen, parseSan, START_FEN } from "#chess";
import { NO_CLOCK, NO_EVAL, RESULTS } from "./block.js";
import { type Game, parseGames, readGames } from "./game.js";
import { formatGame, type GameText, type Line } from "./write.js";

/** Everything a line holds, as plain data. */
function content(line: Line): object {
  const plies = Array.from({ length: line.moves.length + 1 }, (_, ply) => ply);
  return {
    start: formatFen(line.start ?? parseFen(START_FEN)),
    moves: Array.from(line.moves),
    evals: plies.map((ply) => line.evals?.[ply] ?? NO_EVAL),
    clocks: plies.map((ply) => line.clocksMs?.[ply] ?? NO_CLOCK),
    comments: plies.map((ply) => line.comments?.(ply) ?? []),
    nags: plies.map((ply) => line.nags?.(ply) ?? []),
    variations: plies.map((ply) => (line.variations?.(ply) ?? []).map(content)),
  };
}

const whole = (game: GameText) => ({ tags: [...game.tags], result: game.result, ...content(game) });

function moves(text: string, start = parseFen(START_FEN)): Move[] {
  return text.split(" ").map((san) => {
    const move = parseSan(start, san);
    assert.ok(move !== undefined, san);
    start.play(move);
    return move;
  });
}

test("a game is written with tags, numbers, evaluations, clocks, comments and variations", () => {
  const text = formatGame({
    tags: new Map([["Event", 'A "great" \\ game'], ["Result", "*"]]), // biome-ignore format: pairs
    result: "0-1",
    moves: moves("f3 e5 g4 Qh4#"),
    evals: [25, -60, NO_EVAL, -31999, NO_EVAL],
    clocksMs: [NO_CLOCK, 3_723_400, NO_CLOCK, 59_000, NO_CLOCK],
    comments: (ply) => (ply === 3 ? ["oh { no }"] : []),
    nags: (ply) => (ply === 3 ? [4] : []),
  });
  assert.equal(
    text,
    '[Event "A \\"great\\" \\\\ game"]\n[Result "0-1"]\n\n' +
      "{ [%eval 0.25] } 1. f3 { [%eval -0.60] [%clk 1:02:03.4] } 1... e5 2. g4 $4\n" +
      "{ [%eval #-1] [%clk 0:00:59] oh { no ) } 2... Qh4# 0-1\n\n",
  );
});

test("variations stand in brackets and the number of the next move is repeated", () => {
  const [game] = parseGames("1. e4 e5 (1... c5 2. Nf3 (2. c3 d5)) 2. Nf3 *");
  assert.equal(formatGame(game), "1. e4 e5 (1... c5 2. Nf3 (2. c3 d5)) 2. Nf3 *\n\n");
});

test("a start that is not the usual one is written as FEN, a Chess960 game as such", () => {
  const start = parseFen("4k3/8/8/8/8/8/4P3/4K3 b - - 3 40");
  const text = formatGame({ tags: new Map(), result: "*", start, moves: moves("Kd7 e4", start.clone()) });
  assert.equal(text, '[SetUp "1"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 3 40"]\n\n40... Kd7 41. e4 *\n\n');
  const shuffled = parseFen("nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1");
  assert.match(formatGame({ tags: new Map(), result: "*", start: shuffled, moves: [] }), /\[Variant "Chess960"\]/);
});

test("no line is longer than 80 columns, begins with % or looks like a tag", () => {
  const words = '%x [Event "y"] [%z] and so on for quite a while, '.repeat(40).trim();
  const game: GameText = { tags: new Map(), result: "*", moves: moves("e4"), comments: (ply) => (ply ? [words] : []) };
  const text = formatGame(game);
  for (const line of text.split("\n")) {
    assert.ok(line.length <= 80, line);
    assert.ok(!/^%|^\[[A-Z]/.test(line), line);
  }
  assert.deepEqual(whole(parseGames(text)[0]), whole(game));
});

const TEXTS = ["good ) ( x", "an idea: (Nf3)", "[%csl Ra1] 1-0", 'é “quotes” "', "; % $3 *", "x".repeat(100)];
const STARTS = [
  START_FEN,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 12 77",
  "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w KQkq - 0 1",
];

/** A line of random moves with random notes. */
function randomLine(random: Random, start: Position, depth: number): Line {
  const position = start.clone();
  const list: Move[] = [];
  const notes: { comments: string[]; nags: number[]; variations: Line[] }[] = [];
  const evals: number[] = [];
  const clocksMs: number[] = [];
  const length = random.below(depth === 0 ? 40 : 6) + (depth === 0 ? 0 : 1);
  const some = <T>(share: number, make: () => T): T[] =>
    random.next() < share ? Array.from({ length: 1 + random.below(2) }, make) : [];
  for (;;) {
    // A mate takes an odd number of plies if the side to move gives it.
    const mate = 32_000 - (2 * random.below(50) + 1);
    const toMove = position.turn === "white" ? mate : -mate;
    evals.push(random.pick([NO_EVAL, NO_EVAL, random.below(60_001) - 30_000, toMove]));
    clocksMs.push(random.next() < 0.7 ? NO_CLOCK : random.below(20_000_000));
    const before = list.length === 0 ? undefined : positionBefore(position);
    notes.push({
      comments: some(0.1, () => random.pick(TEXTS)),
      nags: some(0.1, () => random.below(140)),
      variations:
        before && depth < 3 && before.moves().length > 0 ? some(0.08, () => randomLine(random, before, depth + 1)) : [],
    });
    const legal = position.moves();
    if (list.length >= length || legal.length === 0) break;
    list.push(random.pick(legal));
    position.play(list[list.length - 1]);
  }
  return {
    start,
    moves: list,
    evals,
    clocksMs,
    comments: (ply) => notes[ply].comments,
    nags: (ply) => notes[ply].nags,
    variations: (ply) => notes[ply].variations,
  };
}

/** The position before the last move, without its history. */
function positionBefore(position: Position): Position {
  const before = position.clone();
  before.undo();
  return parseFen(formatFen(before), { chess960: before.chess960 });
}

test("what is written is read back equal: 200 random games", () => {
  const random = new Random(7);
  const games = Array.from({ length: 200 }, (): GameText => {
    const fen = random.pick(STARTS);
    const tags = new Map([["Event", random.pick(TEXTS)], ["Black", 'a\\"b"'], ["Result", "?"]]); // biome-ignore format: pairs
    const result = random.pick(RESULTS);
    return { ...randomLine(random, parseFen(fen), 0), tags, result };
  });
  const read = parseGames(games.map(formatGame).join(""));
  assert.equal(read.length, games.length);
  for (const [i, game] of games.entries()) {
    assert.deepEqual(content(read[i]), content(game));
    assert.equal(read[i].result, game.result);
    assert.equal(read[i].tags.get("Black"), 'a\\"b"');
    assert.equal(formatGame(read[i]), formatGame(game)); // and nothing changes the second time
  }
});

const DATA = "../shared/data/games";
test.skipIf(!existsSync(DATA))("real games are written and read back equal", async () => {
  for (const file of [
    "elite2400_2014",
    "tcec_evals",
    "lichess_evals",
    "selfplay_sf15_n1000",
    "lichess_mixed_variants",
  ]) {
    const games: Game[] = [];
    for await (const game of readGames(await openBytes(`${DATA}/${file}.pgn.zst`))) {
      if (games.push(game) >= 60) break;
    }
    const read = parseGames(games.map(formatGame).join(""));
    assert.deepEqual(read.map(whole), games.map(whole));
  }
});

test("tags whose names are written alike stay one game", () => {
  const [game] = parseGames('[Eve$nt "one"]\n[Eve!nt "two"]\n\n1. e4 *\n');
  const text = formatGame(game);
  assert.equal(text, '[Eve_nt "one"]\n\n1. e4 *\n\n');
  assert.equal(parseGames(text).length, 1);
});
