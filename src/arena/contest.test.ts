import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "vitest";
import { formatFen, parseFen } from "#chess";
import { type FaultKind, type Player, resolvePlayer } from "#engine";
import { playContest } from "./contest.js";
import type { Conditions, GameRecord } from "./game.js";
import { builtInBook, parseEpdBook, shuffleBook } from "./openings.js";
import { type ContestGame, listGames, roundRobin } from "./pairing.js";
import { parseTimeControl } from "./time-control.js";

const ENGINE = fileURLToPath(new URL("../../test/fixtures/engines/engine.mjs", import.meta.url));
const fixture = (mode: string) => `uci:${encodeURIComponent(process.execPath)} ${encodeURIComponent(ENGINE)} ${mode}`;
const QUICK: Conditions = {
  limits: {},
  timeControl: parseTimeControl("2+0.1"),
  marginMs: 500,
  adjudication: { maxMoves: 20 },
};

const PATIENT: Conditions = { ...QUICK, timeControl: parseTimeControl("60") };

/** Processes of ours that run the fixture in this mode. */
function leftBehind(mode: string): string[] {
  const all = execFileSync("ps", ["-eo", "pid,ppid,args"], { encoding: "utf8" }).split("\n");
  return all.filter(
    (line) => line.includes("engine.mjs") && line.includes(` ${mode}`) && line.includes(`${process.pid} `),
  );
}

async function play(
  names: [string, string],
  games: number,
  more: { conditions?: Conditions; concurrency?: number } = {},
) {
  const records: [ContestGame, GameRecord][] = [];
  const book = builtInBook();
  await playContest({
    games: listGames(roundRobin(2, games), games),
    create: (player) => resolvePlayer(names[player], { times: { graceMs: 600, silenceMs: 1000, startMs: 10_000 } }),
    opening: (round) => book.at(round),
    conditions: more.conditions ?? QUICK,
    concurrency: more.concurrency ?? 2,
    seed: 1,
    signal: new AbortController().signal,
    onGame: async (game, record) => {
      records.push([game, record]);
      return undefined;
    },
  });
  return records.sort((a, b) => a[0].index - b[0].index);
}

/** Replays a game by the rules. */
function replay({ startFen, chess960, moves }: GameRecord) {
  const position = parseFen(startFen, { chess960 });
  for (const { move } of moves) position.play(move);
  return position;
}

test("random players finish their games by the rules, the same ones for the same seed", async () => {
  const conditions = { ...QUICK, timeControl: undefined, adjudication: {} };
  const first = await play(["random", "random"], 6, { conditions, concurrency: 3 });
  const again = await play(["random", "random"], 6, { conditions, concurrency: 1 });
  const moves = (games: typeof first) => games.map(([, { moves }]) => moves.map(({ move }) => move));
  assert.deepEqual(moves(first), moves(again));
  for (const [, record] of first) {
    const outcome = replay(record).outcome();
    assert.equal(record.ending, "rules");
    assert.deepEqual([outcome?.winner, outcome?.reason], [record.winner, record.reason]);
  }
});

test("each opening is played with both colours", async () => {
  const games = await play(["random", "random"], 8);
  for (let i = 0; i < games.length; i += 2) {
    const [[a, first], [b, second]] = [games[i], games[i + 1]];
    assert.deepEqual([a.white, a.black], [b.black, b.white]);
    const opening = ({ moves }: GameRecord) => moves.filter(({ thought }) => !thought).map(({ move }) => move);
    assert.ok(opening(first).length >= 4);
    assert.deepEqual(opening(first), opening(second));
  }
  const begun = games.map(([, { moves }]) =>
    moves
      .slice(0, 6)
      .map(({ move }) => move)
      .join(),
  );
  assert.equal(new Set(begun).size, 4);
});

// [mode and the move it starts at, what it is blamed for]; undefined: it is odd, but plays its games.
const MODES: [string, FaultKind | undefined][] = [
  ["ok", undefined],
  ["hang 1", "hang"],
  ["crash 12", "crash"],
  ["illegal 4", "illegal move"],
  ["null-move 2", "illegal move"],
  ["garbage 1", undefined],
  ["garbage-move 5", "illegal move"],
  ["late 1", "time"],
  ["ignore-stop 1", "time"],
  ["flood 1", undefined],
  ["flood-forever 1", "time"],
  ["endless-line 1", "time"], // or "hang", if its line was cut before its time was over
  ["out-of-turn 3", "out of turn"],
  ["slow-start", undefined],
];

for (const [mode, kind] of MODES) {
  test(`an engine with the habit "${mode}" is ${kind ? `blamed for: ${kind}` : "not blamed"}; the match goes on and nothing is left running`, async () => {
    const slow = kind === "time" || kind === "hang";
    const count = slow ? 3 : 4;
    const games = await play([fixture(mode), "random"], count, {
      // little time only where the trouble is time: a busy machine must not make honest engines late
      conditions: slow ? { ...QUICK, timeControl: parseTimeControl("0.4"), marginMs: 100 } : PATIENT,
    });
    assert.equal(games.length, count);
    for (const [game, record] of games) {
      replay(record);
      if (kind === undefined) assert.equal(record.fault, undefined, record.fault?.message);
      else if (record.ending === "fault") {
        const color = game.white === 0 ? "white" : "black";
        const found = mode.startsWith("endless-line") && record.fault?.kind === "hang" ? "time" : record.fault?.kind;
        assert.deepEqual([record.fault?.color, found], [color, kind], record.fault?.message);
        assert.equal(record.winner, color === "white" ? "black" : "white");
        assert.ok(record.fault?.message.includes("engine.mjs"), record.fault?.message);
      }
    }
    if (kind !== undefined) assert.ok(games.filter(([, record]) => record.ending === "fault").length >= 3);
    assert.deepEqual(leftBehind(mode), []);
  });
}

for (const [mode, kind] of [
  ["leave", "crash"],
  ["out-of-turn", "out of turn"],
] as const) {
  test(`trouble while the other side thinks is seen at once: ${kind}`, async () => {
    const start = performance.now();
    const [[, record]] = await play([fixture(mode), fixture("ignore-stop")], 1, { conditions: PATIENT });
    assert.deepEqual([record.fault?.color, record.fault?.kind, record.winner], ["white", kind, "black"]);
    assert.ok(performance.now() - start < 30_000); // the other side would have thought for 60 s
  });
}

test("in a search without a time limit a dead engine is found out, a slow one is not", async () => {
  const conditions = { ...QUICK, timeControl: undefined, limits: { nodes: 1000 } };
  const [[, record]] = await play([fixture("hang 3"), "random"], 1, { conditions });
  assert.equal(record.fault?.kind, "hang");
});

test("an engine that is not there, does not speak or has no such option is the user's mistake", async () => {
  const message = async (name: string) => {
    try {
      await play([name, "random"], 2);
    } catch (error) {
      return `${(error as { code?: string }).code} ${(error as Error).message}`;
    }
    return "no error";
  };
  assert.match(await message("uci:stokfish-that-is-not-there"), /PROGRAM_MISSING .*no such program/);
  assert.match(await message(fixture("crash-start")), /ENGINE_START .*exit code 7/);
  assert.match(await message(`${fixture("ok")}?Hsah=4`), /ENGINE_OPTION .*"Hsah".* Did you mean "Hash"\?/);
  assert.match(await message(`${fixture("ok")}?Hash=4000`), /ENGINE_OPTION .*expected a whole number from 1 to 64/);
  assert.match(await message(`${fixture("ok")}?Style=Wild`), /expected one of: Solid, Risky, Very Risky/);
  assert.deepEqual(leftBehind("ok"), []);
});

test("an aborted contest ends at once, and its engines with it", async () => {
  const abort = new AbortController();
  const finished: number[] = [];
  const started = playContest({
    games: listGames(roundRobin(2, 50)),
    create: (player) => resolvePlayer([fixture("late"), "random"][player]),
    opening: (round) => builtInBook().at(round),
    conditions: { ...QUICK, timeControl: parseTimeControl("100") },
    concurrency: 2,
    seed: 1,
    signal: abort.signal,
    onGame: async ({ index }) => {
      finished.push(index);
      return undefined;
    },
  });
  setTimeout(() => abort.abort(), 700);
  await assert.rejects(started, { name: "AbortError" });
  assert.deepEqual(finished, []);
  assert.deepEqual(leftBehind("late"), []);
});

test("a contest stops when its judge has seen enough", async () => {
  let seen = 0;
  await playContest({
    games: listGames(roundRobin(2, 100)),
    create: () => resolvePlayer("random"),
    opening: (round) => builtInBook().at(round % 50),
    conditions: QUICK,
    concurrency: 2,
    seed: 1,
    signal: new AbortController().signal,
    onGame: async () => (++seen === 5 ? "stop" : undefined),
  });
  assert.equal(seen, 5);
});

test("a player that cannot start any more loses its games, until it is clear that it never will", async () => {
  let starts = 0;
  const results: GameRecord[] = [];
  const create = async (player: number): Promise<Player> => {
    if (player === 1) return resolvePlayer("random");
    starts++;
    if (starts > 1) throw new Error("no memory left");
    return resolvePlayer(fixture("crash 2"));
  };
  const contest = playContest({
    games: listGames(roundRobin(2, 10)),
    create,
    opening: (round) => builtInBook().at(round),
    conditions: QUICK,
    concurrency: 1,
    seed: 1,
    signal: new AbortController().signal,
    onGame: async (_, record) => {
      results.push(record);
      return undefined;
    },
  });
  await assert.rejects(contest, /no memory left/);
  assert.deepEqual(
    results.map(({ fault }) => fault?.kind),
    ["crash", "crash", "crash"],
  );
});

test("a book of positions is read in order or shuffled, and its mistakes are named", () => {
  const lines = [
    "# a comment",
    "",
    "4k3/8/8/8/8/8/8/R3K3 w Q - bm Ra8+;",
    "4k3/8/8/8/8/8/8/4K2R w K - 3 9",
    "4k3/8 w - -",
  ];
  const book = parseEpdBook(lines, "x.epd");
  assert.equal(book.length, 3);
  assert.equal(book.at(0).fen, "4k3/8/8/8/8/8/8/R3K3 w Q -");
  assert.equal(formatFen(parseFen(book.at(1).fen)), "4k3/8/8/8/8/8/8/4K2R w K - 3 9");
  assert.throws(() => book.at(2), /x\.epd, line 5: /);
  assert.throws(() => parseEpdBook(["", "#"], "x.epd"), { code: "BOOK_EMPTY" });
  const many = parseEpdBook(
    Array.from({ length: 50 }, (_, i) => `4k3/8/8/8/8/8/8/4K2R w - - 0 ${i + 1}`),
    "y.epd",
  );
  const order = (seed: number) => Array.from({ length: 50 }, (_, i) => shuffleBook(many, seed).at(i).fen);
  assert.deepEqual(order(3), order(3));
  assert.notDeepEqual(order(3), order(4));
  assert.equal(new Set(order(3)).size, 50);
});

test("a position whose castling only Chess960 can spell is played as Chess960", () => {
  const book = parseEpdBook(
    [
      "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1",
      "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
    ],
    "x.epd",
  );
  assert.equal(book.at(0).chess960, true);
  assert.equal(book.at(1).chess960, false);
});
