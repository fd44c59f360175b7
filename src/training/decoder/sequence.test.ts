import assert from "node:assert/strict";
import { test } from "vitest";
import { BOARD_TOKENS, BOARD_VOCABULARY, tokenId, VOCABULARY } from "#encodings";
import { NO_SLOT } from "#models";
import { moveLists } from "./move-lists.js";
import { IGNORE, SequenceRows, thoughtTokens } from "./sequence.js";

/** A board whose squares are all one piece: boards can be told apart at a glance. */
const boardOf = (square: string, side: string) =>
  Uint16Array.from(["start_pos", ...Array<string>(64).fill(square), "end_pos", "castling_-", side], tokenId);

const WHITE = boardOf("R", "white_to_move");
const BLACK = boardOf("q", "black_to_move");
const THIRD = boardOf("N", "white_to_move");

/** A row as text: each token with what the heads are to say there. Runs of squares that say the same are counted. */
function describe(rows: SequenceRows, row: number): string[] {
  const at = row * rows.length;
  const lines: string[] = [];
  for (let i = at; i < at + rows.length; i++) {
    const parts = [VOCABULARY[rows.tokens[i]]];
    if (rows.boardTargets[i] !== IGNORE) parts.push(`> ${BOARD_VOCABULARY[rows.boardTargets[i]]}`);
    if (rows.moveTargets[i] !== IGNORE) {
      const head = rows.moveMask[i] ? "policy" : rows.thinkingMask[i] ? "thinking" : "nobody";
      parts.push(`${head} ${VOCABULARY[rows.moveTargets[i]]}`);
    }
    if (rows.winLossTargets[i] !== IGNORE) parts.push(`wl ${rows.winLossTargets[i]}`);
    if (rows.drawTargets[i] !== IGNORE) parts.push(`d ${rows.drawTargets[i]}`);
    if (rows.values[i] !== 0) parts.push(`holds ${rows.values[i]}`);
    if (rows.changes[i] === 1) parts.push("changed");
    const text = parts.join(" ");
    const [last, count = "1"] = lines.at(-1)?.split(" x") ?? [];
    if (last === text) lines[lines.length - 1] = `${text} x${Number(count) + 1}`;
    else lines.push(text);
  }
  return lines;
}

test("two positions of a game, token by token", () => {
  const rows = new SequenceRows(1, 2 * 71 + 2);
  rows.writeGame(0, [
    { board: WHITE, move: tokenId("e2e4"), winLoss: 0.25, draw: 0.5 },
    { board: BLACK, move: tokenId("e7e5"), winLoss: -0.25, draw: 0.75 },
  ]);
  assert.deepEqual(describe(rows, 0), [
    "start_pos", // nothing comes before the first board, so nothing of it can be known
    "R x64",
    "end_pos",
    "castling_-",
    "white_to_move > generic_move policy e2e4",
    "e2e4 > wl_value wl 0.25",
    "wl_value > d_value d 0.5 holds 0.25",
    "d_value > start_pos holds 0.5",
    "start_pos > q changed",
    "q > q changed x63",
    "q > end_pos",
    "end_pos > castling_-",
    "castling_- > black_to_move changed",
    "black_to_move > generic_move policy e7e5",
    "e7e5 > wl_value wl -0.25",
    "wl_value > d_value d 0.75 holds -0.25",
    "d_value holds 0.75",
    "pad x2",
  ]);
  assert.deepEqual([...new Set(rows.slots.subarray(68, 71))], [NO_SLOT]);
  assert.deepEqual([...rows.slots.subarray(71, 74)], [0, 1, 2]);
  assert.deepEqual([...rows.blocks.subarray(66, 73)], [0, 0, 68, 69, 70, 71, 71]);
  assert.equal(new Set(rows.blocks).size, 2 + 6 + 2); // boards, orphans, padding
});

test("a thought of two variations, token by token", () => {
  const rows = new SequenceRows(1, thoughtTokens(3, 2));
  rows.writeThought(0, {
    board: WHITE,
    move: tokenId("d2d4"),
    winLoss: 0.5,
    draw: 0.25,
    variations: [
      [
        { move: tokenId("e2e4"), winLoss: 0.25, draw: 0.5, board: BLACK },
        { move: tokenId("e7e5"), winLoss: -0.25, draw: 0.5, board: THIRD },
      ],
      [{ move: tokenId("d2d4"), winLoss: 0.5, draw: 0.25, board: BLACK }],
    ],
  });
  const board = (square: string, side: string) => [
    `start_pos > ${square} changed`,
    `${square} > ${square} changed x63`,
    `${square} > end_pos`,
    "end_pos > castling_-",
    `castling_- > ${side} changed`,
  ];
  assert.deepEqual(describe(rows, 0), [
    "start_pos",
    "R x64",
    "end_pos",
    "castling_-",
    "white_to_move > start_think",
    "start_think > new_variation thinking e2e4",
    "e2e4 > wl_value wl 0.25",
    "wl_value > d_value d 0.5 holds 0.25",
    "d_value > start_pos holds 0.5",
    ...board("q", "black_to_move"),
    "black_to_move > continue_var thinking e7e5",
    "e7e5 > wl_value wl -0.25",
    "wl_value > d_value d 0.5 holds -0.25",
    "d_value > start_pos holds 0.5",
    ...board("N", "white_to_move"),
    "white_to_move > end_var",
    "end_var > new_variation thinking d2d4",
    "d2d4 > wl_value wl 0.5",
    "wl_value > d_value d 0.25 holds 0.5",
    "d_value > start_pos holds 0.25",
    ...board("q", "black_to_move"),
    "black_to_move > end_var",
    "end_var > end_think",
    "end_think > generic_move policy d2d4",
    "d2d4 > wl_value wl 0.5",
    "wl_value > d_value d 0.25 holds 0.5",
    "d_value holds 0.25",
  ]);
  assert.equal(rows.blocks[BOARD_TOKENS], BOARD_TOKENS); // start_think is a block of its own
  assert.equal(rows.slots[BOARD_TOKENS + 4], 0); // the board after the first move
});

test("a move whose board is skipped is said at the value before it", () => {
  const rows = new SequenceRows(1, 2 * 71 + 3);
  rows.writeGame(
    0,
    [
      { board: WHITE, move: tokenId("e2e4"), winLoss: 0.25, draw: 0.5 },
      { board: BLACK, move: tokenId("e7e5"), winLoss: -0.25, draw: 0.75 },
      { board: THIRD, move: tokenId("g1f3"), winLoss: 0.5, draw: 0.5 },
    ],
    (step) => step < 2, // the first board is written all the same
  );
  assert.deepEqual(describe(rows, 0).slice(5, 13), [
    "e2e4 > wl_value wl 0.25",
    "wl_value > d_value d 0.5 holds 0.25",
    "d_value > generic_move policy e7e5 holds 0.5",
    "e7e5 > wl_value wl -0.25",
    "wl_value > d_value d 0.75 holds -0.25",
    "d_value > start_pos holds 0.75",
    "start_pos > N changed",
    "N > N changed x63",
  ]);
  assert.deepEqual([...rows.blocks.subarray(66, 76)], [0, 0, 68, 69, 70, 71, 72, 73, 74, 74]);
  const lists = moveLists(rows, 3);
  assert.deepEqual([...lists.speakers], [67, 70, 74 + 67]);
  assert.deepEqual([...lists.boards], [0, 0, 74]); // the skipped one's squares are those of the last that was seen
  assert.deepEqual([...lists.winLoss], [0.25, -0.25, 0.5]);
});

test("rows do not touch each other", () => {
  const rows = new SequenceRows(3, 71);
  rows.writeGame(1, [{ board: WHITE, move: 5, winLoss: 1, draw: 0 }]);
  assert.deepEqual(describe(rows, 0), ["pad x71"]);
  assert.deepEqual(describe(rows, 2), ["pad x71"]);
  assert.equal(rows.blocks[71], 0);
});

test("a sequence longer than its row is refused", () => {
  const rows = new SequenceRows(1, 70);
  assert.throws(() => rows.writeGame(0, [{ board: WHITE, move: 5, winLoss: 1, draw: 0 }]), /longer than its row/);
});
