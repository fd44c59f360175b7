import assert from "node:assert/strict";
import { formatUci, parseUci } from "#chess";
import { mutate } from "./mutate.mjs";
import { randomPositions } from "./positions.mjs";

const WORDS = ["e2e4", "e1g1", "e1h1", "e8c8", "q", "n", "0000", "a7a8q", "b1", "h8"];

/** A text is no move, or a legal one that begins where the text says. */
export function create(random) {
  const places = randomPositions(random, 500).map((position) => {
    const moves = position.moves();
    return { position, moves, texts: moves.map((move) => formatUci(position, move)) };
  });
  return {
    next() {
      const index = random.below(places.length);
      return `${index} ${mutate(random, places[index].texts, WORDS)}`;
    },
    check(input) {
      const space = input.indexOf(" ");
      const { position, moves, texts } = places[Number(input.slice(0, space))];
      const text = input.slice(space + 1);
      const move = parseUci(position, text);
      if (move === undefined) {
        assert.ok(!texts.includes(text), "a legal move was refused");
        return false;
      }
      const at = moves.indexOf(move);
      assert.ok(at >= 0, "an illegal move was accepted");
      assert.equal(text.slice(0, 2), texts[at].slice(0, 2));
      assert.equal(parseUci(position, texts[at]), move);
      return true;
    },
  };
}
