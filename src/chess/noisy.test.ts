import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { core, formatFen, isCastling, isEnPassant, movePromotion, moveTo, parseFen, START_FEN } from "./index.js";

const POSITIONS = 20_000;

test("the noisy moves are the captures and promotions among the legal ones, in check too", () => {
  const random = new Random(31);
  let position = parseFen(START_FEN);
  let checks = 0;
  for (let n = 0; n < POSITIONS; n++) {
    const moves = position.moves();
    const takes = (move: number) => !isCastling(move) && position.pieceAt(moveTo(move)) !== undefined;
    const expected = moves.filter((move) => takes(move) || isEnPassant(move) || movePromotion(move) !== undefined);
    if (position.isCheck()) checks++;
    position.enter();
    const count = core.wasm.generateNoisy(core.POSITION, core.LIST);
    const found = [...core.moves.subarray(core.LIST >> 1, (core.LIST >> 1) + count)];
    assert.deepEqual(found.sort(), expected.sort(), formatFen(position));
    if (moves.length === 0 || position.history.length > 200) position = parseFen(START_FEN);
    else position.play(random.pick(moves));
  }
  assert.ok(checks > 500, `${checks} positions in check`);
});
