import assert from "node:assert/strict";
import { test } from "vitest";
import { parseFen, START_FEN } from "#chess";
import { createAlphaBeta } from "./alphabeta-engine.js";

test("the shipped network is what nnue means, and knows what pieces are worth", async () => {
  const { search, evaluation } = await createAlphaBeta("nnue");
  try {
    assert.match(evaluation, /768x256\.tnn/);
    const cp = (fen: string) => search.evaluate(parseFen(fen));
    assert.ok(Math.abs(await cp(START_FEN)) < 100);
    const knightDown = await cp("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1");
    const queenDown = await cp("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1");
    const queenUp = await cp("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    // Values of chances, which are nearer to each other than pieces are: a lost game is hardly lost more.
    assert.ok(knightDown < -150 && queenDown < knightDown - 150, `${knightDown} ${queenDown}`);
    assert.ok(queenUp > 400 && queenUp > -queenDown, `${queenUp} ${queenDown}`); // it is also one's move
  } finally {
    await search.close();
  }
});
