import assert from "node:assert/strict";
import { UserError } from "#base";
import { formatFen, parseFen } from "#chess";
import { parseGames } from "#formats";
import { mutate } from "./mutate.mjs";
import { oracleMoves, oracleOf, textOf } from "./oracle.mjs";
import { randomPositions } from "./positions.mjs";

const WORDS = ["KQkq", "-", " w ", " b ", "e3", "e6", "8/", "/8", "k", "K", "HAha", " 0 1", "99 65536", "pppppppp"];

/** The start of a game with this FEN, if there is one. */
function startOf(fen) {
  if (fen.trim() === "" || /["\\\r\n]/.test(fen)) return undefined;
  return parseGames(`[FEN "${fen}"]\n\n*`, { onBad() {} })[0]?.start;
}

/**
 * A FEN is refused by a UserError, or gives a position that is written and read back equal and knows its moves. As a tag
 * of a game it gives the same: the core reads ordinary FENs itself.
 */
export function create(random) {
  const corpus = randomPositions(random, 300).map(formatFen);
  return {
    next: () => mutate(random, corpus, WORDS),
    check(text) {
      let position;
      try {
        position = parseFen(text);
      } catch (error) {
        if (!(error instanceof UserError && error.code.startsWith("FEN_"))) throw error;
        assert.equal(startOf(text), undefined);
        return false;
      }
      const start = startOf(text);
      if (start) assert.deepEqual(start.bytes(), position.bytes());
      const fen = formatFen(position);
      const again = parseFen(fen);
      assert.equal(formatFen(again), fen);
      assert.equal(again.key, position.key);
      const chess = oracleOf(position);
      if (chess) assert.deepEqual(position.moves().map(textOf).sort(), oracleMoves(chess));
      return true;
    },
  };
}
