import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { parseFen, parseUci } from "#chess";
import { MOVE_TABLES } from "#encodings";
import { Dataset } from "./dataset.js";
import { type DistilGamesOptions, distilGames } from "./distil-games.js";

const GAMES = ["1. e4 e5 2. Nf3 Nc6 1-0", "1. d4 d5 0-1", "1. c4 c5 2. Nc3 1/2-1/2", "1. Nf3 *"];

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "tabiya-distil-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  writeFileSync(join(path, "games.pgn"), GAMES.map((game) => `[Event "?"]\n\n${game}\n\n`).join(""));
  return path;
}

const distil = (at: string, options: Partial<DistilGamesOptions> = {}) =>
  distilGames(join(at, "games.pgn"), join(at, "out.jsonl"), "uniform", {
    played: 0.4,
    validation: 0,
    seed: 1,
    signal: new AbortController().signal,
    onProgress: () => {},
    ...options,
  });

interface Line {
  fen: string;
  move: string;
  policy: Record<string, number>;
  value: number;
  root_value: number;
  game: number;
  ply: number;
}
const lines = (at: string): Line[] =>
  readFileSync(join(at, "out.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

test("every position of games gets the network's policy, mixed with the played move, and the result", async () => {
  const at = folder();
  assert.deepEqual(await distil(at), { games: 4, positions: 10, known: 0, bad: 0 });
  const written = lines(at);
  assert.deepEqual(
    written.map(({ game, ply, value }) => [game, ply, value]),
    [[0, 0, 1], [0, 1, -1], [0, 2, 1], [0, 3, -1], [1, 0, -1], [1, 1, 1], [2, 0, 0], [2, 1, 0], [2, 2, 0], [3, 0, 0]],
  ); // biome-ignore format: a list
  for (const { fen, move, policy } of written) {
    const position = parseFen(fen);
    const played = parseUci(position, move)!;
    const index = MOVE_TABLES.moves4672.encode(position, played);
    const equal = 0.6 / position.moves().length;
    assert.equal(Object.keys(policy).length, position.moves().length);
    for (const [key, share] of Object.entries(policy))
      assert.ok(Math.abs(share - equal - (Number(key) === index ? 0.4 : 0)) < 1e-3, `${fen} ${key} ${share}`);
  }
  assert.ok(!existsSync(join(at, "out.jsonl.taught")));
});

const FAILS_AFTER_ONE = {
  onProgress() {
    throw new Error("full");
  },
};

test("what a killed run has done is not done again, and the result is the same", async () => {
  const [whole, broken] = [folder(), folder()];
  await distil(whole);
  await assert.rejects(distil(broken, FAILS_AFTER_ONE));
  const journal = join(broken, "out.jsonl.taught");
  assert.ok(existsSync(journal) && !existsSync(join(broken, "out.jsonl")));
  const [header] = readFileSync(journal, "utf8").split("\n");
  const first = lines(whole).filter(({ game }) => game < 2);
  const games = [0, 1].map((game) => JSON.stringify(first.filter((line) => line.game === game)));
  writeFileSync(journal, `${[header, ...games].join("\n")}\n[{"fen":"rnbq`); // killed while it wrote the third
  const { known } = await distil(broken);
  assert.equal(known, 2);
  assert.deepEqual(readFileSync(join(broken, "out.jsonl")), readFileSync(join(whole, "out.jsonl")));
});

test("a run with other settings does not go on with what is there", async () => {
  const at = folder();
  await assert.rejects(distil(at, FAILS_AFTER_ONE));
  await assert.rejects(distil(at, { played: 0.1 }), /out\.jsonl\.taught is of another call/);
});

test("games that an import sets aside for validation are left out", async () => {
  const at = folder();
  const imported = join(at, "import.jsonl");
  const { validation } = await Dataset.fromPgn(join(at, "games.pgn"), imported, { value: "result", validation: 0.5 });
  await distil(at, { validation: 0.5 });
  const firstMoves = (path: string) =>
    readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line)
      .filter(({ ply }) => ply === 0)
      .map(({ move }) => move);
  const taught = firstMoves(join(at, "out.jsonl")).filter((move) => move !== "g1f3"); // unfinished: an import has no use for it
  assert.deepEqual(taught, firstMoves(imported));
  assert.ok(validation!.length > 0 && firstMoves(imported).length > 0);
  await assert.rejects(distil(folder(), { validation: 1 }), /no position in these games/);
});

test("a call that could judge nothing leaves nothing behind that the next would stumble over", async () => {
  const at = folder();
  const nowhere = { played: 0.4, validation: 0, seed: 1, signal: new AbortController().signal, onProgress() {} };
  await assert.rejects(distilGames(join(at, "none.pgn"), join(at, "out.jsonl"), "uniform", nowhere));
  await assert.rejects(distilGames(join(at, "games.pgn"), join(at, "out.jsonl"), join(at, "games.pgn"), nowhere));
  assert.equal((await distil(at)).games, 4);
});
