import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci, type Move, parseFen, parseSan, parseUci, START_FEN } from "#chess";
import { BOARD_TOKENS, decodeBoard68, MOVE_TABLES, tokenId } from "#encodings";
import { createRecords, type DataRecord } from "#formats";
import { DECODER, DECODER_SIZES, loadNetwork, POSITION_TOKENS } from "#models";
import { parametersOf } from "#tensor";
import { Batches } from "../batches/batches.js";
import { parseSource } from "../batches/data-source.js";
import { openGraphLearner } from "../graph-learner.js";
import { train } from "../loop.js";
import { resolveRecipe } from "../recipe.js";
import { judgeDecoder } from "./judge.js";
import { decoderObjective } from "./objective.js";
import { IGNORE } from "./sequence.js";
import { DECODER_TASK } from "./task.js";
import { worthOf } from "./window-encoder.js";
import { windowRows } from "./window-rows.js";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "tabiya-decoder-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A game as records, its moves in SAN; the score of each position is its number. */
function gameOf(moves: string, fen = START_FEN, result = 1): DataRecord[] {
  const position = parseFen(fen);
  return moves.split(" ").map((san, ply) => {
    const move = parseSan(position, san)!;
    const record = { fen: formatFen(position), move: formatUci(position, move), score: 10 * ply, ply, result };
    position.play(move);
    return record;
  });
}

async function save(records: readonly DataRecord[]): Promise<string> {
  const path = join(folder(), "games.bin");
  const writer = await createRecords(path);
  await writer.write(records);
  await writer.commit();
  return path;
}

async function open(path: string, context: number, resultShare = 0) {
  const batches = await Batches.open({
    sources: [parseSource(path)],
    format: windowRows({ context, resultShare }),
    seed: 1,
  });
  onTestFinished(() => batches.close());
  return batches;
}

const START = tokenId("start_pos");
const SPECIAL = [
  gameOf("e4 Nf6 e5 d5 exd6 g6 Nf3 Bg7 Be2 O-O O-O Qxd6"), // en passant, castling
  gameOf("axb8=N Kg7 Nd7 h1=R+ Kc2 Rh8 Nb8 Rxb8", "1n5k/P7/8/8/8/8/7p/2K5 w - - 0 1"), // underpromotions of both sides
].flat();

test("the moves and boards of a window are those of its game: en passant, castling, underpromotions", async () => {
  const context = 4;
  const batches = await open(await save(SPECIAL), context);
  let record = 0;
  for await (const { tokens } of batches.batches({ size: 2 * context })) {
    for (let at = 0; at < tokens.length; at += POSITION_TOKENS, record++) {
      const { fen, move } = SPECIAL[record];
      const position = parseFen(fen);
      const [board, rest] = [tokens.subarray(at, at + BOARD_TOKENS), tokens.subarray(at + BOARD_TOKENS)];
      assert.equal(decodeBoard68(board).split(" ").slice(0, 3).join(), fen.split(" ").slice(0, 3).join());
      assert.equal(formatUci(position, MOVE_TABLES.moves1924.decode(position, rest[0])!), move);
    }
  }
  assert.equal(record, SPECIAL.length);
});

test("a window ends with its game, and the rest of it is padding that nothing is learnt from", async () => {
  const records = [...gameOf("e4 e5 Nf3"), ...gameOf("d4 d5 c4 e6 Nc3")];
  const batches = await open(await save(records), 4);
  assert.equal(batches.positions, 8);
  for await (const { moveTargets, boardTargets, legal } of batches.batches({ size: 8 })) {
    const moves = [...moveTargets].filter((target) => target !== IGNORE);
    assert.equal(moves.length, 3 + 4);
    const length = 4 * POSITION_TOKENS;
    assert.equal(boardTargets[3 * POSITION_TOKENS - 1], IGNORE); // after the last position of a game no board follows
    assert.ok(boardTargets.subarray(3 * POSITION_TOKENS, length).every((target) => target === IGNORE));
    assert.notEqual(boardTargets[length + POSITION_TOKENS - 1], IGNORE);
    const listed = (row: number) => legal.data.subarray(row * legal.shape[1]).filter((_, k) => k < legal.shape[1]);
    assert.equal(listed(0).filter((move) => move >= 0).length, 20); // the first position of the first window
    assert.equal(listed(6).filter((move) => move >= 0).length, 0); // the fourth of the first is none
  }
});

test("boards are skipped where games are learnt, not where a network is judged", async () => {
  const format = windowRows({ context: 4, resultShare: 0, skipBoards: 1 });
  const batches = await Batches.open({ sources: [await save(SPECIAL)], format, seed: 1 });
  onTestFinished(() => batches.close());
  const boards = ({ tokens }: { tokens: Int32Array }) => tokens.filter((token) => token === START).length;
  for await (const batch of batches.batches({ size: 8, epoch: 0 })) {
    assert.equal(boards(batch), 2); // the first of each of two windows
    assert.equal(batch.moves!.filter((move) => move !== IGNORE).length, 8); // and all moves
  }
  let judged = 0;
  for await (const batch of batches.batches({ size: 8 })) judged += boards(batch);
  assert.equal(judged, SPECIAL.length);
});

test("values of windows are shown with one error, and learnt and judged without", async () => {
  const source = await save(gameOf("e4 e5 Nf3 Nc6", START_FEN, 0));
  const format = windowRows({ context: 4, resultShare: 0, valueNoise: 0.2 });
  const batches = await Batches.open({ sources: [source], format, seed: 2 });
  onTestFinished(() => batches.close());
  const errors = ({ values, winLossTargets }: { values: Float32Array; winLossTargets: Float32Array }) =>
    [0, 1, 2, 3].map((k) => {
      const move = k * POSITION_TOKENS + BOARD_TOKENS;
      return (values[move + 1] - winLossTargets[move]) * (k % 2 === 0 ? 1 : -1); // for White
    });
  for await (const batch of batches.batches({ size: 4, epoch: 0 })) {
    const [first, ...others] = errors(batch);
    assert.ok(Math.abs(first) > 0.001 && Math.abs(first) < 0.9, `${first}`);
    for (const other of others) assert.ok(Math.abs(other - first) < 1e-6, `${other} after ${first}`);
  }
  for await (const batch of batches.batches({ size: 4 })) assert.ok(errors(batch).every((error) => error === 0));
});

const MATERIAL = 78; // nothing is taken in its games

test("a value is what the reply's position is worth to the opponent, or the last position's own", async () => {
  const batches = await open(await save(gameOf("e4 e5 Nf3 Nc6")), 4);
  for await (const { winLossTargets, drawTargets } of batches.batches({ size: 4 })) {
    const at = (k: number) => winLossTargets[k * POSITION_TOKENS + BOARD_TOKENS];
    for (let k = 0; k < 3; k++) assert.equal(at(k), Math.fround(-worthOf(10 * (k + 1), MATERIAL, 0, 0).winLoss));
    assert.equal(at(3), Math.fround(worthOf(30, MATERIAL, 0, 0).winLoss));
    assert.equal(drawTargets[BOARD_TOKENS + 1], Math.fround(worthOf(10, MATERIAL, 0, 0).draw));
  }
});

/** What a network might make of games: half of each policy is the first legal move's. */
async function saveTaught(records: readonly DataRecord[]): Promise<string> {
  const path = join(folder(), "taught.jsonl");
  const writer = await createRecords(path, { moves: "moves4672" });
  await writer.write(
    records.map(({ fen, move, result }, ply) => {
      const position = parseFen(fen);
      const index = (each: Move) => MOVE_TABLES.moves4672.encode(position, each);
      const shares = new Map([[index(parseUci(position, move!)!), 0.5]]);
      const first = index(position.moves()[0]);
      shares.set(first, (shares.get(first) ?? 0) + 0.5);
      return { fen, move, policy: Object.fromEntries(shares), value: result, root_value: 0.1 * ply, game: 0, ply };
    }),
  );
  await writer.commit();
  return path;
}

test("games that a network has judged give the same sequences, with its policy and its values to learn", async () => {
  const records = SPECIAL.slice(0, 12);
  const [plain, taught] = [await open(await save(records), 4), await open(await saveTaught(records), 4, 0.5)];
  const [games, judged] = [plain.batches({ size: 12 }), taught.batches({ size: 12 })];
  for await (const { tokens, moveTargets, legal, policy, winLossTargets } of judged) {
    const { value: game } = await games.next();
    assert.deepEqual(tokens, game!.tokens);
    assert.deepEqual(moveTargets, game!.moveTargets);
    assert.deepEqual(legal, game!.legal);
    const [k, row] = [legal.shape[1], 3 * 1]; // rows are 3: the second position of the first window
    const listed = (data: ArrayLike<number>) => Array.from({ length: k }, (_, i) => data[row * k + i]);
    assert.equal(listed(game!.policy.data).indexOf(1), listed(legal.data).indexOf(moveTargets[2 * BOARD_TOKENS + 2]));
    assert.deepEqual(
      listed(policy.data).map((share, i) => share - 0.5 * listed(game!.policy.data)[i]),
      listed(legal.data).map((_, i) => (i === 0 ? 0.5 : 0)),
    );
    // Half the result, a win for each mover here, and half what the network said of the reply's position.
    assert.ok(Math.abs(winLossTargets[BOARD_TOKENS] + 0.5 * (1 + 0.1)) < 1e-6);
  }
});

test("a network's policies are learnt beside thoughts too: the lists of moves have their shares", async () => {
  const path = await saveTaught(SPECIAL.slice(0, 4));
  const format = windowRows({ context: 4, resultShare: 0.5, thinking: true });
  const batches = await Batches.open({ sources: [parseSource(path)], format, seed: 1 });
  onTestFinished(() => batches.close());
  const { value } = await batches.batches({ size: 4 }).next();
  const { legal, policy, choices, shares, moves } = value!;
  assert.deepEqual(choices, legal); // one window, so its positions stand in the same order
  assert.deepEqual(shares, policy);
  const k = choices!.shape[1];
  const [first, played] = [shares!.data[k], choices!.data.indexOf(moves![1], k)]; // of the second position
  assert.deepEqual([first, shares!.data[played]], [0.5, 0.5]);
});

test("a judged game that goes on longer without captures than a .bin file can tell is read like any other", async () => {
  const records = SPECIAL.slice(0, 4);
  const late = records.map((record) => ({ ...record, fen: record.fen.replace(/ \d+ (\d+)$/, " 130 $1") }));
  const [plain, taught] = [await open(await saveTaught(records), 4), await open(await saveTaught(late), 4)];
  const [{ value: wanted }, { value: found }] = await Promise.all(
    [plain, taught].map((batches) => batches.batches({ size: 4 }).next()),
  );
  assert.deepEqual(found?.tokens, wanted?.tokens);
});

test("lines without policies, or none of games, are refused by name", async () => {
  const path = join(folder(), "moves.jsonl");
  const writer = await createRecords(path);
  await writer.write(gameOf("e4 e5 Nf3 Nc6"));
  await writer.commit();
  const batches = await open(path, 4);
  await assert.rejects(batches.batches({ size: 4 }).next(), /moves\.jsonl.*no "policy".*tabiya data distil/s);
});

const SETTINGS = { ...DECODER_TASK.defaults, context: 2 };

test("a tiny decoder learns two windows by heart: boards, moves and values", async () => {
  const batches = await open(await save(gameOf("e4 e5 Nf3 Nc6")), 2, 1);
  const network = DECODER.build(DECODER_SIZES.tiny, new Random(1));
  const { train: settings } = resolveRecipe(
    { family: "decoder", size: "tiny", ema: 0, weightDecay: 0, threads: 1 },
    "test",
  );
  const learner = await openGraphLearner(network, decoderObjective(network, SETTINGS, 2), settings);
  for await (const batch of batches.batches({ size: 4 })) {
    for (let step = 0; step < 60; step++) await learner.step([batch], { learningRate: 0.01 });
  }
  await learner.pull();
  await learner.close();
  const judged = await judgeDecoder(network, batches, SETTINGS, { threads: 1 });
  assert.equal(judged.positions, 4);
  assert.equal(judged.policyTop1, 1);
  assert.ok(judged.boardTokens > 0.97, `${judged.boardTokens}`);
  assert.ok(judged.winLossMae < 0.2 && judged.illegal < 0.2, `${judged.winLossMae}, ${judged.illegal}`);
  assert.ok(judged.winLossFirstMae < 0.2, `${judged.winLossFirstMae}`);
  const calibrated = judged.calibration.reduce((sum, { positions }) => sum + positions, 0);
  assert.equal(calibrated, 2); // the first positions of both windows
});

test("windows of one position are judged too; where no window has more, all values are first ones", async () => {
  const batches = await open(await save(gameOf("e4 e5 Nf3 Nc6")), 1, 1);
  const network = DECODER.build(DECODER_SIZES.tiny, new Random(1));
  const judged = await judgeDecoder(network, batches, { ...SETTINGS, context: 1 }, { threads: 1 });
  assert.equal(judged.positions, 4);
  assert.equal(judged.winLossFirstMae, judged.winLossMae);
});

test("a batch that is no whole number of windows is refused before the first step", async () => {
  const recipe = resolveRecipe({ family: "decoder", size: "tiny", context: 3, batchSize: 64 }, "test");
  const network = DECODER.build(DECODER_SIZES.tiny, new Random(1));
  await assert.rejects(
    async () => DECODER_TASK.learner(network, recipe),
    /batchSize is 64, expected a multiple of context/,
  );
});

test("a run that was stopped and resumed ends with the weights of one that was not", async () => {
  const moves = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O";
  const path = await save(gameOf(moves));
  const recipe = resolveRecipe(
    { family: "decoder", size: "tiny", data: path, context: 2, batchSize: 4, epochs: 2, threads: 1, boardShare: 0.5 },
    "test",
  );
  const weights = async (run: string, stopAfter?: number) => {
    const stop = new AbortController();
    const data = await DECODER_TASK.open([path], recipe);
    const onProgress = ({ step }: { step: number }) => {
      if (step === stopAfter) stop.abort();
    };
    await train(recipe, { run, data, signal: stop.signal, onProgress, resume: true, now: () => 0 });
    await data.close();
    if (stopAfter !== undefined) await weights(run);
    const { network } = await loadNetwork(join(run, "epoch_002", "model.safetensors"));
    return parametersOf(network).map(({ data: values }) => values);
  };
  const run = folder();
  assert.deepEqual(await weights(join(run, "a"), 5), await weights(join(run, "b")));
});
