import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatFen, parseFen, parseUci } from "#chess";
import { MOVE_TABLES } from "#encodings";
import { type DataRecord, openRecords, readGames } from "#formats";
import { Batches, planeRows } from "#training";
import { judgeAdjudication, type SelfPlayGame, sparsePolicy } from "./game.js";
import { drawOpening } from "./openings.js";
import { runSelfPlay } from "./run.js";
import { parseSelfPlay, type SelfPlayInput } from "./spec.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-selfplay-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string) => join(folder, name);

const SPEC: SelfPlayInput = {
  player: "rollouts@mcts",
  games: 8,
  nodes: 8,
  fullShare: 0.5,
  openings: { endgameShare: 0.5, randomPlies: 4 },
  adjudication: { maxMoves: 12 },
};

async function recordsIn(path: string): Promise<DataRecord[]> {
  const records: DataRecord[] = [];
  for await (const batch of await openRecords(path)) records.push(...batch);
  return records;
}

test("games are legal, policies add up to 1 over legal moves, and the moves between records are those of the PGN", async () => {
  const counts = await runSelfPlay(SPEC, file("games.jsonl"));
  await runSelfPlay(SPEC, file("games.pgn"));
  const records = await recordsIn(file("games.jsonl"));
  assert.equal(records.length, counts.positions);
  assert.equal(readFileSync(file("games.jsonl.meta.json"), "utf8"), '{"moves":"moves4672"}\n');
  const seen = new Map(records.map((record) => [`${record.game} ${record.ply}`, record]));
  let [games, matched] = [0, 0];
  const text = readFileSync(file("games.pgn"));
  const bytes = (async function* () {
    yield new Uint8Array(text);
  })();
  for await (const { start, moves, result } of readGames(bytes, { source: "games.pgn" })) {
    const position = start.clone();
    for (const [ply, move] of [...moves].entries()) {
      const record = seen.get(`${games} ${ply}`);
      if (record) {
        matched++;
        assert.equal(record.fen, formatFen(position));
        const shares = Object.entries(record.policy as Record<string, number>);
        for (const [index] of shares) assert.ok(MOVE_TABLES.moves4672.decode(position, Number(index)) !== undefined);
        assert.ok(Math.abs(shares.reduce((sum, [, share]) => sum + share, 0) - 1) < 1e-9);
        assert.ok(Math.abs(Number(record.root_value)) <= 1);
        const white = result === "1-0" ? 1 : result === "0-1" ? -1 : 0;
        if (white !== 0) assert.equal(record.value, position.turn === "white" ? white : -white);
      }
      position.play(move); // refuses what is not legal
    }
    games++;
  }
  assert.deepEqual([games, matched], [8, records.length]);
});

test("the value is the mover's: a mate in one is won for whoever may give it", async () => {
  for (const [name, fen] of [
    ["white", "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1"],
    ["black", "r5k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1"],
  ]) {
    writeFileSync(file(`${name}.epd`), `${fen}\n`);
    const spec = { ...SPEC, player: "uniform@mcts", games: 1, fullShare: 1, openings: { file: file(`${name}.epd`) } };
    await runSelfPlay(spec, file(`${name}.jsonl`));
    const [record, ...others] = await recordsIn(file(`${name}.jsonl`));
    assert.deepEqual([record.root_value, record.value, others.length], [1, 1, 0]);
  }
});

test("the same seed gives the same bytes, stopped in between or not; another one does not", async () => {
  await runSelfPlay(SPEC, file("whole.jsonl"));
  const stop = new AbortController();
  const onProgress = ({ games }: { games: number }) => games >= 3 && stop.abort();
  await assert.rejects(runSelfPlay(SPEC, file("stopped.jsonl"), { signal: stop.signal, onProgress }), /abort/i);
  assert.ok(!existsSync(file("stopped.jsonl")));
  await assert.rejects(runSelfPlay({ ...SPEC, nodes: 9 }, file("stopped.jsonl")), { code: "SELFPLAY_OTHER" });
  const kept = readFileSync(file("stopped.jsonl.games"), "utf8").trimEnd().split("\n").length - 1; // behind the header
  let played = 0;
  await runSelfPlay(SPEC, file("stopped.jsonl"), { onProgress: () => played++ });
  assert.ok(kept >= 3 && kept + played === SPEC.games);
  assert.equal(readFileSync(file("stopped.jsonl"), "utf8"), readFileSync(file("whole.jsonl"), "utf8"));
  assert.ok(!existsSync(file("stopped.jsonl.games")));
  await runSelfPlay({ ...SPEC, seed: 2 }, file("other.jsonl"));
  assert.notEqual(readFileSync(file("other.jsonl"), "utf8"), readFileSync(file("whole.jsonl"), "utf8"));
});

test("alpha-beta plays itself for records with scores, and knows no policy", async () => {
  const spec: SelfPlayInput = { player: "builtin@ab", games: 2, nodes: 200, adjudication: { maxMoves: 10 } };
  const { positions } = await runSelfPlay(spec, file("scored.bin"));
  const records = await recordsIn(file("scored.bin"));
  assert.equal(records.length, positions);
  for (const { fen, move, score } of records) {
    assert.ok(parseUci(parseFen(fen), move ?? "") !== undefined && Number.isInteger(score));
  }
  await assert.rejects(runSelfPlay({ ...spec, player: "random" }, file("none.jsonl")), { code: "SELFPLAY_PLAYER" });
  await assert.rejects(runSelfPlay(spec, file("none.bagz")), { code: "SELFPLAY_OUTPUT" });
});

test("training reads policies and values from both files, the value blended of result and search", async () => {
  await runSelfPlay(SPEC, file("learn.jsonl"));
  await runSelfPlay(SPEC, file("learn.parquet"));
  const records = await recordsIn(file("learn.jsonl"));
  for (const name of ["learn.jsonl", "learn.parquet"]) {
    const format = planeRows({ planes: "planes18", moves: "moves4672", scoreScale: 400, resultShare: 0.5 });
    const batches = await Batches.open({ sources: [file(name)], format, seed: 1 });
    const [values, sums]: number[][] = [[], []];
    for await (const { value, policy } of batches.batches({ size: 4 })) {
      values.push(...value);
      const [n, k] = policy.shape;
      for (let i = 0; i < n; i++) sums.push(policy.data.subarray(i * k, (i + 1) * k).reduce((a, b) => a + b, 0));
    }
    await batches.close();
    assert.deepEqual(
      values,
      records.map(({ value = 0, root_value }) => Math.fround(0.5 * value + 0.5 * Number(root_value))),
    );
    assert.ok(sums.every((sum) => Math.abs(sum - 1) < 1e-5)); // of single precision
  }
});

test("a random endgame has 4 to 10 pieces and goes on", () => {
  const { openings } = parseSelfPlay({ ...SPEC, openings: { endgameShare: 1 } });
  const random = new Random(3);
  const counts = new Set<number>();
  for (let i = 0; i < 300; i++) {
    const position = parseFen(drawOpening(openings, undefined, random).fen);
    assert.equal(position.outcome(), undefined);
    counts.add([...position.pieces()].length);
  }
  assert.deepEqual(
    [...counts].sort((a, b) => a - b),
    [4, 5, 6, 7, 8, 9, 10],
  );
});

test("an adjudication that was played on against is right only if the game ended so", () => {
  const game = (result: -1 | 0 | 1): SelfPlayGame => ({
    game: 0,
    fen: formatFen(parseFen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")),
    moves: ["e2e3", "e8e7", "e3e4", "e7e8"],
    opening: 0,
    scores: [900, -900, 900, -900],
    positions: [],
    result,
    reason: "",
    isCut: false,
  });
  const resign = { moves: 2, scoreCp: 600 };
  assert.equal(judgeAdjudication(game(1), { resign }), "right");
  assert.equal(judgeAdjudication(game(0), { resign }), "wrong");
  assert.equal(judgeAdjudication(game(1), { resign: { ...resign, moves: 3 } }), undefined);
  assert.equal(judgeAdjudication({ ...game(0), isCut: true }, { resign }), undefined);
  assert.equal(judgeAdjudication(game(1), { material: { points: 1, moves: 2 } }), "right"); // a pawn, for four plies
  assert.equal(judgeAdjudication(game(-1), { draw: { from: 0, moves: 1, scoreCp: 900 } }), "wrong");
});

test("games played on against the rules are counted, right and wrong", async () => {
  // The first rule to hold is always wrong: everything is a draw after one move, but mates are given.
  const draw = { from: 0, moves: 1, scoreCp: 31_000 };
  const spec = { ...SPEC, player: "uniform@mcts", games: 6, nodes: 30, openings: { endgameShare: 1 } };
  const all = await runSelfPlay({ ...spec, adjudication: { maxMoves: 40, draw, playOn: 1 } }, file("on.jsonl"));
  assert.ok(all.plies > 40 && all.adjudications.right + all.adjudications.wrong > 0);
  const none = await runSelfPlay({ ...spec, adjudication: { maxMoves: 40, draw, playOn: 0 } }, file("off.jsonl"));
  assert.deepEqual([none.adjudications, none.wins + none.losses], [{ right: 0, wrong: 0 }, 0]);
});

test("a sparse policy adds up to 1 exactly, whatever was rounded away", () => {
  const position = parseFen("4k3/P7/8/8/8/8/8/4K3 w - - 0 1");
  const moves = position.moves();
  const shares = moves.map((_, i) => (i === 0 ? 1e-7 : 1 / 3));
  const units = Object.values(sparsePolicy(position, moves, shares)).map((share) => Math.round(share * 100_000));
  assert.equal(
    units.reduce((a, b) => a + b),
    100_000,
  );
  assert.equal(units.length, moves.length - 1);
});
