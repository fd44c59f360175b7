import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { resultOf } from "#arena";
import { formatFen, parseFen, parseUci } from "#chess";
import type { ContestEvent } from "./events.js";
import { MemoryStore } from "./game-store.js";
import { PgnStore } from "./pgn-store.js";
import { runContest } from "./run.js";
import { type ContestInput, describeSettings, parseContest } from "./spec.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-contests-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MATCH: ContestInput = {
  kind: "match",
  players: ["random", "random"],
  games: 12,
  adjudication: { maxMoves: 15 },
};

/** Stops a contest after so many of its games. */
function stopAfter(games: number) {
  const stop = new AbortController();
  const onEvent = ({ type }: ContestEvent) => {
    if (type === "game" && --games === 0) stop.abort();
  };
  return { signal: stop.signal, onEvent };
}

test("a contest that is stopped rejects, and the store knows how to resume it", async () => {
  const whole = new MemoryStore();
  const { seconds: _, ...expected } = await runContest(MATCH, { store: whole });
  for (const store of [new MemoryStore(), new PgnStore(join(folder, "stopped.pgn"), { resume: true })]) {
    await assert.rejects(runContest(MATCH, { store, ...stopAfter(5) }), { name: "AbortError" });
    const events: ContestEvent[] = [];
    const { seconds: _, ...resumed } = await runContest(MATCH, { store, onEvent: (event) => events.push(event) });
    assert.deepEqual(resumed, expected);
    const start = events.find((event) => event.type === "start");
    assert.equal(start?.saved, 5);
    assert.equal(events.filter(({ type }) => type === "game").length, 7);
    if (store instanceof MemoryStore) {
      const games = (from: MemoryStore) =>
        from.games.map(({ index, record }) => [index, record.moves.map(({ move }) => move)]);
      assert.deepEqual(games(store), games(whole));
    }
  }
});

test("events are plain data from which every board and result can be followed", async () => {
  const boards = new Map<number, ReturnType<typeof parseFen>>();
  const results = new Map<number, string>();
  const store = new MemoryStore();
  let last: ContestEvent | undefined;
  await runContest(
    {
      ...MATCH,
      kind: "tournament",
      players: ["random", "random", "random"],
      games: undefined,
      rounds: 1,
      concurrency: 2,
    },
    {
      store,
      onEvent(sent) {
        const event: ContestEvent = JSON.parse(JSON.stringify(sent));
        if (event.type === "begin") {
          const board = parseFen(event.fen);
          for (const word of event.moves) board.play(parseUci(board, word) ?? assert.fail(word));
          boards.set(event.index, board);
        } else if (event.type === "move") {
          const board = boards.get(event.index) ?? assert.fail();
          board.play(parseUci(board, event.move) ?? assert.fail(event.move));
          assert.equal(formatFen(board), event.fen);
          assert.equal(board.history.length, event.ply);
        } else if (event.type === "game") {
          assert.equal(boards.get(event.index)?.history.length, event.plies);
          results.set(event.index, event.result);
        }
        last = event;
      },
    },
  );
  assert.equal(results.size, 6);
  for (const { index, record } of store.games) assert.equal(results.get(index), resultOf(record));
  assert.ok(last?.type === "state" && last.played === 6 && last.state.kind === "tournament");
});

test("a test ends a match by itself, and a resumed one is still decided", async () => {
  const store = new MemoryStore();
  const spec: ContestInput = { ...MATCH, games: undefined, sprt: { elo0: -200, elo1: -100 } };
  const result = await runContest(spec, { store });
  assert.ok(result.kind === "match" && result.sprt?.result === "H1");
  assert.equal(result.llrPath?.at(-1)?.llr, result.sprt?.llr);
  const count = store.games.length;
  const again = await runContest(spec, { store });
  assert.deepEqual([store.games.length, again.llrPath], [count, result.llrPath]);
});

test("games of other conditions are refused, more games and another test are not", async () => {
  const path = join(folder, "kept.pgn");
  await runContest({ ...MATCH, games: 2 }, { store: new PgnStore(path) });
  const store = () => new PgnStore(path, { resume: true });
  await assert.rejects(
    runContest({ ...MATCH, seed: 2 }, { store: store() }),
    /kept\.pgn: .* it has seed=1, this run seed=2/s,
  );
  await assert.rejects(runContest({ ...MATCH, limits: { nodes: 5 } }, { store: store() }), /this run limits\.nodes=5/);
  await assert.rejects(runContest(MATCH, { store: new PgnStore(path) }), { code: "GAMES_EXIST" });
  const text = readFileSync(path, "utf8");
  writeFileSync(path, `${text}[Event "cut`);
  await runContest({ ...MATCH, games: 3, concurrency: 2, sprt: { elo0: 0, elo1: 5 } }, { store: store() });
  assert.ok(readFileSync(path, "utf8").startsWith(text));
  assert.equal(readFileSync(path, "utf8").match(/^\[Event /gm)?.length, 3);
  const book = (file: string) => describeSettings(parseContest({ ...MATCH, openings: { file } }));
  assert.equal(book("/here/book.epd"), book("there/book.epd"));
});

test("what is wrong with a spec is said with its place and what is expected", () => {
  const wrong = (value: object, message: RegExp) =>
    assert.throws(() => parseContest({ ...MATCH, ...value }, "cup.json"), { name: "UserError", message });
  wrong({ gamse: 3 }, /^cup\.json: there is no "gamse"\. Did you mean "games"\?/);
  wrong(
    { openings: { fiel: "x" } },
    /there is no "openings\.fiel"\. Did you mean "file"\? There is: file, plies, randomPlies, shuffle/,
  );
  wrong({ games: "three" }, /cup\.json: games is "three"\. .*expected/);
  wrong({ adjudication: { resign: { moves: 3 } } }, /adjudication\.resign\.scoreCp is missing/);
  wrong({ players: ["random"] }, /cup\.json: players has 1; a match is between two players/);
  wrong({ kind: "gauntlet" }, /games is for matches; a gauntlet has rounds/);
  wrong({ sprt: { elo0: 5, elo1: 0 } }, /sprt has elo0 5, which must be below elo1 0/);
  wrong({ sprt: { elo0: 0, elo1: 5, alpha: 0.7 } }, /sprt\.alpha is 0\.7/);
  wrong({ timeControl: "fast" }, /time control "fast"/);
});

test("players that would think for ever ask for a limit", async () => {
  const ask = (players: string[], more: object = {}) =>
    runContest({ ...MATCH, players, games: 1, ...more } as ContestInput);
  await assert.rejects(ask(["random", "uci:anything"]), /how long may uci:anything think\?/);
  await assert.rejects(ask(["nnue@ab", "random"]), /how long may nnue@ab think\?/);
  await assert.rejects(ask(["random", "nnue"]), { code: "LIMIT_MISSING" });
  assert.equal((await ask(["builtin@ab:20", "random"])).kind, "match");
});
