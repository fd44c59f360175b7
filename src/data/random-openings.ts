import type { Opening, OpeningBook } from "#arena";
import { Random } from "#base";
import { parseFen, START_FEN } from "#chess";

/** Openings of random moves, each of `plies` or one more, so that both sides come to move first. The seed decides all. */
export function randomOpenings(count: number, plies: number, seed: number): OpeningBook {
  const opening = (index: number): Opening => {
    const random = new Random((Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) | 0);
    for (;;) {
      const position = parseFen(START_FEN);
      const length = plies + random.below(2);
      while (position.history.length < length && !position.outcome()) position.play(random.pick(position.moves()));
      if (!position.outcome()) return { fen: START_FEN, moves: [...position.history], chess960: false };
    }
  };
  return { length: count, at: opening };
}
