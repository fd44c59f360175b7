import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { Random } from "#base";
import { START_FEN } from "#chess";
import { tokenId, VOCABULARY } from "#encodings";
import { createRecords } from "#formats";
import { DECODER, DECODER_SIZES, POSITION_TOKENS } from "#models";
import { Batches } from "../batches/batches.js";
import { resolveRecipe } from "../recipe.js";
import { moveLists, NO_MOVE } from "./move-lists.js";
import { IGNORE, SequenceRows } from "./sequence.js";
import { DECODER_TASK } from "./task.js";
import { orderByChance, thoughtOf } from "./thought.js";
import { windowRows } from "./window-rows.js";

const variation = (line: string, visits: number | null, q: number) => {
  const pv = line.split(" ");
  return { move: pv[0], visits, q, d: 0.5, pv };
};
const ROW_LINE = variation("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", 300, 0.25);
const ROW = {
  fen: START_FEN,
  mcts_action: "d2d4",
  variations: JSON.stringify([
    ROW_LINE,
    variation("d2d4 d7d5", 500, 0.5),
    variation("g1f3", 100, 0.125),
    variation("a2a3", 1, -0.5),
  ]),
};

test("a thought has the most visited moves, values that change sides, and true boards", () => {
  const seen = new Set<number>();
  for (let seed = 0; seed < 50; seed++) {
    const thought = thoughtOf(ROW, new Random(seed), 20 * POSITION_TOKENS);
    assert.equal(thought.move, tokenId("d2d4"));
    assert.equal(thought.winLoss, 0.5);
    const firsts = thought.variations.map(([{ move }]) => VOCABULARY[move]);
    assert.deepEqual([...firsts].sort(), ["d2d4", "e2e4", "g1f3"]);
    const [line] = thought.variations.filter(([{ move }]) => move === tokenId("e2e4"));
    seen.add(line.length);
    line.forEach(({ winLoss, board }, i) => {
      assert.equal(winLoss, i % 2 === 0 ? 0.25 : -0.25);
      assert.equal(VOCABULARY[board[67]], i % 2 === 0 ? "black_to_move" : "white_to_move");
    });
    assert.equal(VOCABULARY[line[0].board[1 + 28]], "P"); // e4
  }
  assert.deepEqual([...seen].sort(), [1, 2, 3, 4, 5]); // deep as chance has it, never deeper than five
});

test("a noisy thought shows other values than those it teaches, one error for each variation", () => {
  const length = 20 * POSITION_TOKENS;
  const rows = new SequenceRows(1, length);
  rows.writeThought(0, thoughtOf({ ...ROW, variations: [ROW_LINE], mcts_action: "e2e4" }, new Random(3), length, 0.2));
  const shown = [...rows.tokens.keys()]
    .filter((i) => rows.tokens[i] === tokenId("wl_value"))
    .map((i) => rows.values[i]);
  const taught = [...rows.winLossTargets].filter((target) => target !== IGNORE);
  const errors = shown.slice(0, -1).map((value, i) => (value - taught[i]) * (i % 2 === 0 ? 1 : -1));
  assert.equal(shown.at(-1), taught.at(-1)); // the move that is played
  assert.ok(errors.length > 1 && Math.abs(errors[0]) > 0.01 && Math.abs(errors[0]) < 0.8, errors.join());
  for (const error of errors) assert.ok(Math.abs(error - errors[0]) < 1e-6);
});

test("a thought keeps to its length, and always has room for the move", () => {
  for (let seed = 0; seed < 20; seed++) {
    const rows = new SequenceRows(1, 4 * POSITION_TOKENS);
    rows.writeThought(0, thoughtOf(ROW, new Random(seed), rows.length));
    assert.ok(rows.tokens.includes(tokenId("end_think")));
  }
});

test("variations come in an order of chance that favours what was looked at most", () => {
  const list = [variation("e2e4", 60, 0), variation("d2d4", 30, 0), variation("g1f3", 10, 0)];
  const random = new Random(1);
  let first = 0;
  const orders = new Set<string>();
  for (let i = 0; i < 2000; i++) {
    const order = orderByChance(list, random).map(({ move }) => move);
    if (order[0] === "e2e4") first++;
    orders.add(order.join());
  }
  // Shares 0.6, 0.3, 0.1; the variance of 1.8, 0.9, 0.3 is 0.38, tau 0.414: 0.6^2.416 of the sum of all three is 0.83.
  assert.ok(Math.abs(first / 2000 - 0.83) < 0.03, `${first / 2000}`); // three standard errors
  assert.ok(orders.size >= 4);
});

test("lists of moves say who speaks, of which board, and what it is worth", () => {
  const rows = new SequenceRows(2, 4 * POSITION_TOKENS);
  rows.writeThought(1, thoughtOf({ ...ROW, variations: [variation("e2e4", 1, 0.25)], mcts_action: "e2e4" }, new Random(1), rows.length)); // biome-ignore format: one call
  const { speakers, boards, moves, thinks, winLoss, choices, shares } = moveLists(rows, 4);
  assert.deepEqual([...moves.subarray(0, 4)], [IGNORE, IGNORE, IGNORE, IGNORE]);
  assert.deepEqual([...moves.subarray(4)], [tokenId("e2e4"), tokenId("e2e4"), IGNORE, IGNORE]);
  assert.deepEqual([...thinks.subarray(4, 6)], [1, 0]);
  // start_think stands at 68, end_think behind move, value, board and end_var; both speak of the board at 0.
  assert.deepEqual([...speakers.subarray(4, 6)], [68 * 2 + 1, (69 + 71 + 1) * 2 + 1]);
  assert.deepEqual([...boards.subarray(4, 6)], [1, 1]);
  assert.deepEqual([...winLoss.subarray(4, 6)], [0.25, 0.25]);
  const k = choices.shape[1];
  assert.deepEqual([choices.data[5 * k], shares.data[5 * k], choices.data[5 * k + 1]], [tokenId("e2e4"), 1, NO_MOVE]);
});

test("a tiny decoder learns a thought by heart, from a table mixed with nothing else", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-thought-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "thoughts.parquet");
  const writer = await createRecords(path);
  await writer.write([{ ...ROW, variations: JSON.stringify([variation("e2e4", 1, 0.25)]), mcts_action: "d2d4" }]);
  await writer.commit();
  const settings = {
    family: "decoder",
    size: "tiny",
    context: 3,
    batchSize: 3,
    thinking: true,
    ema: 0,
    threads: 1,
    data: path,
  };
  const recipe = resolveRecipe(settings, "test");
  const format = windowRows({ context: 3, resultShare: 0, thinking: true });
  const batches = await Batches.open({ sources: [path], format, seed: 1 });
  onTestFinished(() => batches.close());
  const network = DECODER.build(DECODER_SIZES.tiny, new Random(1));
  const learner = await DECODER_TASK.learner(network, recipe);
  let last: Record<string, number> = {};
  for await (const batch of batches.batches({ size: 3 })) {
    for (let step = 0; step < 60; step++) last = await learner.step([batch], { learningRate: 0.01 });
  }
  await learner.close();
  assert.ok(last.boardTop1 > 0.97 && last.thinkingTop1 === 1 && last.policyTop1 === 1, JSON.stringify(last));
});
