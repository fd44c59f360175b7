import assert from "node:assert/strict";
import { formatSan, parseSan } from "#chess";
import { mutate } from "./mutate.mjs";
import { oracleOf, oracleSan, textOf } from "./oracle.mjs";
import { randomPositions } from "./positions.mjs";

const WORDS = ["O-O", "O-O-O", "0-0", "e8=Q", "=N", "x", "N", "R", "K", "Q", "a1", "h8", "e4", "+", "#", "!?"];

/** A text is no move, or a legal one that the text names and chessops does not read otherwise. */
export function create(random) {
  const places = randomPositions(random, 500).map((position) => {
    const moves = position.moves();
    return { position, moves, sans: moves.map((move) => formatSan(position, move)), chess: oracleOf(position) };
  });
  return {
    next() {
      const index = random.below(places.length);
      return `${index} ${mutate(random, places[index].sans, WORDS)}`;
    },
    check(input) {
      const space = input.indexOf(" ");
      const { position, moves, sans, chess } = places[Number(input.slice(0, space))];
      const text = input.slice(space + 1);
      const move = parseSan(position, text);
      if (move === undefined) {
        assert.ok(!sans.includes(text), "a move in proper SAN was refused");
        return false;
      }
      const at = moves.indexOf(move);
      assert.ok(at >= 0, `an illegal move was accepted: ${textOf(move)}`);
      assert.equal(parseSan(position, sans[at]), move);
      const target = /[a-h][1-8]/g;
      const named = text.match(target)?.at(-1);
      assert.equal(named, sans[at].match(target)?.at(-1), "the move goes elsewhere");
      const other = chess && oracleSan(chess, text);
      if (other) assert.equal(textOf(move), other);
      return true;
    },
  };
}
