import { formatFen, parseFen, START_FEN } from "#chess";

const STARTS = [
  START_FEN,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
  "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
  "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1",
  "8/1P1P1P2/8/k7/8/K7/1p1p1p2/8 w - - 0 1",
  "6bk/6pp/8/Q2Q4/8/Q6Q/8/K2Q4 w - - 0 1", // many queens: ambiguous moves
];

/** Positions of random games, each without a past. */
export function randomPositions(random, count) {
  const positions = [];
  while (positions.length < count) {
    const position = parseFen(random.pick(STARTS));
    for (let ply = random.below(60); ply >= 0 && positions.length < count; ply--) {
      const moves = position.moves();
      if (moves.length === 0) break;
      positions.push(parseFen(formatFen(position), { chess960: position.chess960 }));
      position.play(random.pick(moves));
    }
  }
  return positions;
}
