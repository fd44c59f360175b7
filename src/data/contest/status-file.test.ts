import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test, vi } from "vitest";
import { Match } from "#arena";
import type { ContestEvent } from "./events.js";
import { GameList } from "./game-list.js";
import { PgnStore } from "./pgn-store.js";
import { pointsOf } from "./pgn-text.js";
import { runContest } from "./run.js";
import { parseContest } from "./spec.js";
import { loadContestStatus, newStatus, StatusWriter, saveContestStatus, statusPath } from "./status-file.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-status-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SPEC = parseContest({
  kind: "match",
  players: ["random", "random"],
  games: 12,
  adjudication: { material: { points: 3, moves: 1 }, maxMoves: 15 },
  sprt: { elo0: 0, elo1: 100 },
});
const now = () => 1000;

/** Plays the contest into a PGN of that name with a status beside it. */
async function play(name: string, onEvent: (event: ContestEvent) => void = () => {}) {
  const pgn = join(folder, `${name}.pgn`);
  const status = new StatusWriter(pgn, SPEC, now);
  const note = (event: ContestEvent) => {
    status.note(event);
    onEvent(event);
  };
  const result = await runContest(SPEC, { store: new PgnStore(pgn), onEvent: note });
  await status.close("finished");
  return { pgn, result };
}

test("the status of a finished contest says what was played, and how it stands", async () => {
  const { pgn, result } = await play("whole");
  const status = await loadContestStatus(statusPath(pgn));
  const { names: _, llrPath: __, faults: ___, seconds: ____, ...state } = result;
  assert.deepEqual(status.state, state);
  assert.deepEqual(status.spec, SPEC);
  assert.deepEqual([status.phase, status.played, status.total], ["finished", 12, 12]);
});

test("while a game is played its board can be followed", async () => {
  const status = new StatusWriter(join(folder, "live.pgn"), SPEC, now);
  const label = { index: 3, round: 1, white: "a", black: "b" };
  const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  const after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
  const state = new Match(2).state();
  status.note({ type: "start", spec: SPEC, names: ["a", "b"], total: 2, saved: 0, state });
  status.note({ type: "begin", ...label, fen: start, chess960: false, moves: [] });
  const report = { lines: [{ scoreCp: 31, pv: [] }], timeMs: 1 };
  status.note({ type: "move", index: 3, ply: 1, move: "e2e4", fen: after, report, clockMs: 900 });
  const { live, phase } = await vi.waitFor(() => loadContestStatus(join(folder, "live.contest.json")), 10_000);
  assert.equal(phase, "running");
  assert.deepEqual(live, [
    { ...label, fen: start, chess960: false, moves: ["e2e4"], now: after, clocksMs: { white: 900 }, whiteCp: 31 },
  ]);
  await status.close("stopped");
  assert.deepEqual((await loadContestStatus(join(folder, "live.contest.json"))).live, []);
});

test("a contest that could not start leaves a finished one as it was, and tells one that waits", async () => {
  const path = join(folder, "never.contest.json");
  const refuse = async () => new StatusWriter(join(folder, "never.pgn"), SPEC, now).close("failed", "no such book");
  await refuse();
  await assert.rejects(loadContestStatus(path), { code: "FILE_MISSING" });
  await saveContestStatus(path, { ...newStatus(SPEC, 1), phase: "finished" });
  await refuse();
  assert.equal((await loadContestStatus(path)).phase, "finished");
  await saveContestStatus(path, newStatus(SPEC, 1));
  await refuse();
  assert.equal((await loadContestStatus(path)).message, "no such book");
});

test("a contest whose process died has been stopped", async () => {
  const path = join(folder, "dead.contest.json");
  await saveContestStatus(path, { ...newStatus(SPEC, 1), phase: "running", process: "1@1" });
  assert.equal((await loadContestStatus(path)).phase, "stopped");
});

test("a file that is no status is refused by name", async () => {
  const path = join(folder, "bad.contest.json");
  for (const text of ["", "[]", '{"spec":1}', JSON.stringify({ ...newStatus(SPEC, 1), spec: { kind: "chess" } })]) {
    writeFileSync(path, text);
    await assert.rejects(loadContestStatus(path), /bad\.contest\.json/);
  }
});

test("the games of a growing file are listed as they come, with what each pair did to the test", async () => {
  const { pgn, result } = await play("list");
  const bytes = readFileSync(pgn);
  const copy = join(folder, "growing.pgn");
  const list = new GameList(copy, SPEC);
  assert.equal(await list.update(), true);
  for (let at = 0; at < bytes.length; at += 1000) {
    appendFileSync(copy, bytes.subarray(at, at + 1000));
    assert.equal(await list.update(), true);
  }
  assert.equal(list.games.length, 12);
  assert.deepEqual(
    list.llrPath.map(({ llr }) => llr),
    result.llrPath?.map(({ llr }) => llr),
  );
  const steps = list.games.reduce((sum, { llrStep }) => sum + (llrStep ?? 0), 0);
  assert.ok(Math.abs(steps - list.llrPath[5].llr) < 1e-9); // the steps add up to the path's end
  const points = list.games.reduce((sum, { index, result }) => sum + Math.abs((index % 2) - pointsOf(result)), 0);
  assert.equal(points, "wins" in result ? result.wins + result.draws / 2 : 0);
  const text = await list.text(list.games[4].index);
  assert.match(text ?? "", new RegExp(`\\[GameIndex "${list.games[4].index}"\\]`));
  assert.equal(await list.text(99), undefined);
  truncateSync(copy, 10);
  assert.equal(await list.update(), false);
});
