import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatSan, parseFen, parseUci, START_FEN } from "#chess";
import { type DataRecord, openRecords, parseGames } from "#formats";
import { timeClassOf } from "./filter.js";
import { readGameChunks } from "./game-chunks.js";
import { type ImportOptions, importGames } from "./import.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-import-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string) => join(folder, name);

const OPTIONS: ImportOptions = {
  games: { variants: ["standard", "from-position"] },
  positions: { value: "eval", policy: "played", needsEvalAfter: false, fromPly: 0 },
  validation: 0,
  seed: 1,
  dedupe: false,
  threads: 1,
  signal: new AbortController().signal,
  onBad() {},
  onProgress() {},
};

const write = (name: string, text: string) => {
  writeFileSync(file(name), text);
  return file(name);
};

async function recordsOf(path: string): Promise<DataRecord[]> {
  const records: DataRecord[] = [];
  for await (const batch of await openRecords(path)) records.push(...batch);
  return records;
}

const game = (tags: Record<string, string>, moves: string) =>
  `${Object.entries({ Event: "x", Result: "1-0", ...tags })
    .map(([name, value]) => `[${name} "${value}"]`)
    .join("\n")}\n\n${moves}\n\n`;

const FOOL = "1. f3 { [%eval -0.5] } e5 { [%eval -0.4] } 2. g4 { [%eval #-1] } Qh4# 0-1";

test("an evaluation is the score of the position after its move, seen by the mover; a mate is 32000 less its plies", async () => {
  const pgn = write("fool.pgn", game({ Result: "0-1" }, FOOL));
  const result = await importGames([pgn], file("fool.jsonl"), OPTIONS);
  const records = await recordsOf(file("fool.jsonl"));
  assert.deepEqual(
    records.map(({ move, score, ply, result: end }) => [move, score, ply, end]),
    [
      ["e7e5", 50, 1, 1], // Black to move after 1. f3, White is worse by half a pawn; Black wins
      ["g2g4", -40, 2, -1],
      ["d8h4", 31999, 3, 1],
    ],
  );
  // The start has no evaluation, and the mated position at the end none either.
  assert.deepEqual(result, { games: 1, kept: 1, positions: 3, skipped: {}, skippedPositions: { "no eval": 2 } });
});

test("an evaluation before the first move belongs to the start, and one after the last move is counted apart", async () => {
  const pgn = write("start.pgn", game({}, "{ [%eval 0.2] } 1. e4 { [%eval 0.3] } e5 { [%eval 0.1] } 1-0"));
  const result = await importGames([pgn], file("start.jsonl"), OPTIONS);
  assert.deepEqual(
    (await recordsOf(file("start.jsonl"))).map(({ score }) => score),
    [20, -30],
  );
  assert.deepEqual(result.skippedPositions, { "last position": 1 });
});

test("with --value result positions need no evaluation, and the last one is left out", async () => {
  const pgn = write("plain.pgn", game({ Result: "1/2-1/2" }, "1. e4 e5 2. Nf3 1/2-1/2"));
  const positions = { ...OPTIONS.positions, value: "result" as const };
  const { positions: count } = await importGames([pgn], file("plain.bin"), { ...OPTIONS, positions });
  assert.equal(count, 3);
  const records = await recordsOf(file("plain.bin"));
  assert.deepEqual(
    records.map(({ move, score, result }) => [move, score, result]),
    [
      ["e2e4", 0, 0],
      ["e7e5", 0, 0],
      ["g1f3", 0, 0],
    ],
  );
});

test("every kind of record says the same of a position", async () => {
  const pgn = write("kinds.pgn", game({ Result: "0-1" }, FOOL));
  const kinds = {
    action_value: ["kinds-a.bagz", { move: "e7e5" }, 0.53675],
    state_value: ["kinds-s.bag", {}, 0.54591],
    behavioral_cloning: ["kinds-b.bag", { move: "e7e5" }, undefined],
  } as const;
  for (const [kind, [name, fields, probability]] of Object.entries(kinds)) {
    const positions = { ...OPTIONS.positions, needsEvalAfter: kind === "action_value" };
    await importGames([pgn], file(name), { ...OPTIONS, positions, kind: kind as keyof typeof kinds });
    const [{ fen, win_prob, ...rest }] = await recordsOf(file(name));
    assert.equal(fen, "rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - 0 1");
    assert.deepEqual(rest, fields);
    if (probability === undefined) assert.equal(win_prob, undefined);
    else assert.ok(Math.abs((win_prob ?? 0) - probability) < 1e-4, `${kind}: ${win_prob}`);
  }
  await importGames([pgn], file("kinds.jsonl"), { ...OPTIONS, kind: "move_index", moves: "actions1968" });
  const [indexed] = await recordsOf(file("kinds.jsonl"));
  assert.equal(indexed.value, Math.tanh(50 / 400));
  assert.equal(readFileSync(file("kinds.jsonl.meta.json"), "utf8"), '{"moves":"actions1968"}\n');
});

test("each filter counts the games it removes, and with those kept they are all", async () => {
  const moves = "1. e4 { [%eval 0.3] } e5 { [%eval 0.3] } 2. Nf3 { [%eval 0.3] } 1-0";
  const good = { WhiteElo: "2500", BlackElo: "2600", TimeControl: "600+5" };
  const pgn = write(
    "filters.pgn",
    game(good, moves) +
      game({ ...good, WhiteElo: "1500" }, moves) +
      game({ ...good, WhiteElo: "?" }, moves) +
      game({ ...good, TimeControl: "60+0" }, moves) +
      game({ ...good, TimeControl: "?" }, moves) +
      game({ ...good, Variant: "Three-check" }, moves) +
      game({ ...good, Variant: "Chess960" }, moves) +
      game({ ...good, Result: "*" }, "1. e4 { [%eval 0.3] } e5 2. Nf3 *") +
      game({ ...good, Result: "0-1" }, "1. e4 { [%eval 0.3] } e5 2. Nf3 0-1") +
      game(good, "1. e4 { [%eval 0.3] } e5 1-0") +
      game(good, "1. e4 e5 2. Nf3 1-0") +
      game(good, "1. e4 e5 2. Ke3 1-0"),
  );
  const bad: string[] = [];
  const result = await importGames([pgn], file("filters.bin"), {
    ...OPTIONS,
    games: { variants: ["standard"], minRating: 2400, timeClasses: ["rapid"], results: ["1-0"], minPlies: 3 },
    onBad: (error) => bad.push(error.message),
  });
  assert.equal(result.kept, 1);
  assert.deepEqual(result.skipped, {
    rating: 1,
    "no rating": 1,
    "time class bullet": 1,
    "no time control": 1,
    "variant Three-check": 1,
    "variant Chess960": 1,
    "no result": 1,
    "result 0-1": 1,
    "too short": 1,
    "no positions": 1,
    broken: 1,
  });
  assert.equal(bad.length, 1);
  assert.match(bad[0], /filters\.pgn: game 12, line \d+: .*Ke3/);
});

test("with --policy best a position is kept only if the move played in it did not lose", async () => {
  const pgn = write(
    "best.pgn",
    game({}, "{ [%eval 0.2] } 1. e4 { [%eval 0.1] } f6 { [%eval 0.9] } 2. d4 { [%eval 0.9] } 1-0"),
  );
  const positions = { ...OPTIONS.positions, policy: "best" as const };
  const result = await importGames([pgn], file("best.jsonl"), { ...OPTIONS, positions });
  assert.deepEqual(
    (await recordsOf(file("best.jsonl"))).map(({ move }) => move),
    ["e2e4", "d2d4"],
  );
  assert.equal(result.skippedPositions["not the best move"], 1);
});

/** Games of random moves. All evaluations of game i are i centipawns for White, by which it is known again. */
function manyGames(): string {
  const random = new Random(5);
  let text = "";
  for (let i = 1; i <= 200; i++) {
    const position = parseFen(START_FEN);
    const words: string[] = [];
    const plies = 4 + random.below(30);
    for (let ply = 0; ply < plies && !position.outcome(); ply++) {
      const move = random.pick(position.moves());
      words.push(`${formatSan(position, move)} { [%eval ${(i / 100).toFixed(2)}] }`);
      position.play(move);
    }
    text += game({ Round: String(i) }, `${words.join(" ")} 1-0`);
  }
  return text;
}

test("the result does not depend on the number of workers, and the pieces of text fit together", async () => {
  const text = manyGames();
  const pgn = write("many.pgn", text);
  const outputs: Buffer[] = [];
  for (const threads of [1, 3]) {
    await importGames([pgn, pgn], file(`many-${threads}.bin`), { ...OPTIONS, threads });
    outputs.push(readFileSync(file(`many-${threads}.bin`)));
  }
  assert.ok(outputs[0].length > 40 * 400);
  assert.ok(outputs[0].equals(outputs[1]));

  const long = text.repeat(20);
  const bytes = new TextEncoder().encode(long);
  const pieces = (async function* () {
    for (let at = 0; at < bytes.length; at += 9973) yield bytes.subarray(at, at + 9973);
  })();
  let joined = "";
  let chunks = 0;
  for await (const chunk of readGameChunks(pieces, "x")) {
    const part = new TextDecoder().decode(chunk.bytes);
    assert.ok(part.startsWith('[Event "'));
    joined += part;
    chunks++;
  }
  assert.ok(chunks > 1);
  assert.equal(joined, long);
});

test("validation never shares a game with training, and the same game always falls on the same side", async () => {
  const pgn = write("valid.pgn", manyGames());
  const whole = await importGames([pgn, pgn], file("whole.jsonl"), OPTIONS);
  const result = await importGames([pgn, pgn], file("valid.jsonl"), { ...OPTIONS, validation: 0.3 });
  const training = await recordsOf(file("valid.jsonl"));
  const validation = await recordsOf(file("valid.validation.jsonl"));
  assert.equal(training.length + validation.length, whole.positions);
  assert.deepEqual(result.validation, {
    path: file("valid.validation.jsonl"),
    games: result.validation?.games,
    positions: validation.length,
  });
  assert.ok(Math.abs((result.validation?.games ?? 0) / result.kept - 0.3) < 0.12); // 4 standard errors
  const games = (records: DataRecord[]) => new Set(records.map(({ score }) => Math.abs(score ?? 0)));
  const shared = [...games(training)].filter((each) => games(validation).has(each));
  assert.deepEqual(shared, []);
  assert.equal(games(training).size + games(validation).size, 200);
});

test("limits stop at the exact number, and duplicates are counted", async () => {
  const pgn = write("limits.pgn", manyGames());
  const limited = await importGames([pgn], file("limited.bin"), { ...OPTIONS, limitGames: 7 });
  assert.equal(limited.kept, 7);
  const few = await importGames([pgn], file("few.bin"), { ...OPTIONS, maxPositions: 33 });
  assert.equal(few.positions, 33);
  assert.equal(readFileSync(file("few.bin")).length, 33 * 40);
  assert.ok(
    readFileSync(file("limited.bin"))
      .subarray(0, 33 * 40)
      .equals(readFileSync(file("few.bin"))),
  );
  const once = await importGames([pgn], file("once.jsonl"), { ...OPTIONS, dedupe: true });
  const keys = (await recordsOf(file("once.jsonl"))).map(({ fen }) => parseFen(fen).key);
  assert.equal(new Set(keys).size, keys.length);
  const all = await importGames([pgn], file("all.jsonl"), OPTIONS);
  assert.equal(once.positions + (once.skippedPositions.duplicate ?? 0), all.positions);
  const sampled = await importGames([pgn], file("sampled.bin"), {
    ...OPTIONS,
    positions: { ...OPTIONS.positions, perGame: 2 },
  });
  assert.ok(sampled.positions <= 2 * sampled.kept && sampled.positions > sampled.kept);
});

test("a missing file, or a name that says no format, is refused and leaves nothing", async () => {
  const before = readdirSync(folder).length;
  await assert.rejects(importGames([file("absent.pgn")], file("never.bin"), OPTIONS), /absent\.pgn: no such file/);
  const pgn = file("fool.pgn");
  await assert.rejects(importGames([pgn], file("never.bag"), OPTIONS), /action_value.*kinds/);
  await assert.rejects(importGames([pgn], file("never.xyz"), OPTIONS), /does not say what it is|holds scored/);
  const aborted = AbortSignal.abort();
  await assert.rejects(importGames([pgn], file("never.bin"), { ...OPTIONS, signal: aborted }));
  assert.equal(readdirSync(folder).length, before);
});

test("time controls and variants are told as Lichess tells them", () => {
  const classes = {
    "15+0": "ultrabullet",
    "60+0": "bullet",
    "180+2": "blitz",
    "600+0": "rapid",
    "1800+5": "classical",
  };
  for (const [control, expected] of Object.entries(classes)) assert.equal(timeClassOf(control), expected);
  assert.equal(timeClassOf("40/7200:3600"), "classical");
  assert.equal(timeClassOf("1/259200"), "correspondence");
  assert.equal(timeClassOf("-"), "correspondence");
  assert.equal(timeClassOf("?"), undefined);
});

const GAMES = "../shared/data/games/lichess_evals.pgn.zst";
test.skipIf(!existsSync(GAMES))("records of real games are the positions that the moves lead to", async () => {
  await importGames([GAMES], file("real.bin"), { ...OPTIONS, limitGames: 60, threads: 2 });
  await importGames([GAMES], file("real.jsonl"), { ...OPTIONS, limitGames: 60, threads: 2 });
  const packed = await recordsOf(file("real.bin"));
  assert.deepEqual(packed, await recordsOf(file("real.jsonl")));
  for (const [i, { fen, move, ply }] of packed.entries()) {
    const position = parseFen(fen);
    const played = parseUci(position, move ?? "");
    assert.ok(played !== undefined, `${move} in ${fen}`);
    const next = packed[i + 1];
    if (next?.ply !== (ply ?? 0) + 1) continue;
    assert.equal(position.play(played).key, parseFen(next.fen).key);
  }
});

test("games in Chess960 keep the files of their rooks in text, and their castling moves", async () => {
  const start = "nrkbqrbn/pppppppp/8/8/8/8/PPPPPPPP/NRKBQRBN w KQkq - 0 1";
  const pgn = write(
    "960.pgn",
    game(
      { Variant: "Chess960", SetUp: "1", FEN: start },
      "1. Ng3 { [%eval 0.1] } Ng6 { [%eval 0.1] } 2. f3 { [%eval 0.1] } f6 { [%eval 0.1] } 1-0",
    ),
  );
  assert.equal(parseGames(readFileSync(pgn))[0].plies, 4);
  const games = { variants: ["chess960"] as const };
  await importGames([pgn], file("960.jsonl"), { ...OPTIONS, games });
  const records = await recordsOf(file("960.jsonl"));
  assert.equal(records.length, 3);
  assert.match(records[0].fen, / KQkq - /);
});

const PLAYED = "1. e4 e5 2. Nf3 Nc6 3. Bb5 1-0";

test("of one player's games only that player's moves are kept, whichever side, and capitals do not matter", async () => {
  const pgn = write(
    "player.pgn",
    game({ White: "Ann", Black: "Bob" }, PLAYED) +
      game({ White: "Bob", Black: "ann" }, PLAYED) +
      game({ White: "Bob", Black: "Cid" }, PLAYED),
  );
  const positions = { ...OPTIONS.positions, value: "result" } as const;
  const games = { ...OPTIONS.games, player: "ANN" };
  const result = await importGames([pgn], file("player.jsonl"), { ...OPTIONS, games, positions });
  const moves = (await recordsOf(file("player.jsonl"))).map(({ move }) => move);
  assert.deepEqual(moves, ["e2e4", "g1f3", "f1b5", "e7e5", "b8c6"]);
  assert.deepEqual(result.skipped, { "other players": 1 });
  assert.equal(result.skippedPositions["the opponent's move"], 5);
});

test("an import that keeps nothing says why, and leaves the file that was there", async () => {
  const pgn = write("bare.pgn", game({}, PLAYED));
  const out = write("kept.bin", "forty bytes of something worth keeping..");
  await assert.rejects(importGames([pgn], out, OPTIONS), /1 games were read and no position was kept.*\n.*no eval/s);
  const text = write("README.md", "# Not games\n");
  await assert.rejects(
    importGames([text], out, OPTIONS),
    /README\.md: 1 games were read and no position was kept.*broken/s,
  );
  assert.equal(readFileSync(out, "utf8"), "forty bytes of something worth keeping..");
});

test("games without evaluations are told of after the first thousand, not at the end", async () => {
  const pgn = write("no-evals.pgn", game({}, PLAYED).repeat(1_500));
  const told: number[] = [];
  await assert.rejects(importGames([pgn], file("none.bin"), { ...OPTIONS, onNoEvals: (games) => told.push(games) }));
  assert.deepEqual(told, [1000]);
});
