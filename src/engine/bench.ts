import { parseFen } from "#chess";
import type { AlphaBeta } from "#search";

/** Plies of the signature. */
export const BENCH_DEPTH = 13;

/** Positions of all phases, mostly from master games. Changing one changes the signature. */
const POSITIONS = [
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "r1bq1rk1/pp2ppbp/5np1/n2p4/3P1B1P/1QN1PN2/PP3PP1/R3KB1R w KQ - 3 10",
  "3b2k1/3r3p/p3r1p1/1p2Pp1q/1P1B4/P1P3R1/5QPP/5RK1 b - - 1 37",
  "1r3rk1/p1p3bp/3pqpp1/2pQ1n2/2P5/1PN1B1P1/P3PP1P/3R1RK1 b - - 1 17",
  "3r2k1/4qp2/1p2pb2/p5p1/P1Pn4/1P1QB1P1/5PB1/3R1K2 w - - 2 33",
  "r1r5/1q3pk1/2p5/2Np1n1p/3P2p1/2R1P2P/5PP1/2R3K1 w - - 0 30",
  "b3r3/2Rp1r1k/P2P1pp1/1p2n3/3QP2p/Rq3P1P/1B2B1P1/6K1 b - - 1 31",
  "6k1/6p1/1p2P2p/5R2/3K1P2/8/P7/4r3 w - - 7 43",
  "3r3k/1b3p2/1p1b1q1p/pP1p4/2pP4/P1N1rnP1/2Q2PB1/R2R2NK b - - 1 25",
  "r2q1rk1/pb3pbp/1p1p2p1/4p3/2PnP3/2N1B3/PP1Q1PPP/1B1R1RK1 b - - 3 14",
  "r2qkb1r/pp1nnppp/2p1p3/3pPb2/3P4/5N2/PPPNBPPP/R1BQ1RK1 b kq - 5 7",
  "2rr2k1/p4ppp/q3pn2/2p5/1b1P4/1P3B2/PBQ2PPP/2R2RK1 w - - 10 28",
  "5rk1/2p1q2p/1pP1P1p1/pQn1P3/3r4/P7/1P3PP1/1BR2RK1 w - - 0 26",
  "8/6p1/4p1kp/1r2P3/2pB4/r1P1K1P1/p4R1P/Rb6 b - - 20 56",
  "8/pR6/2p5/5k2/1P1P3p/5K2/2n4P/8 w - - 1 40",
  "8/4r1k1/1qP3p1/5p1p/1pQ4P/p1b2BP1/P4PK1/3R4 b - - 7 58",
  "r4k1r/1bqnbp2/pp1ppnp1/8/P2NPP2/2NB2Pp/1PPBQ2P/4RRK1 b - - 2 18",
  "r3k2r/3nbp2/1qp1p1p1/p2pP2p/6Q1/3P1N2/PP3PPP/R1B1R1K1 w kq - 0 16",
  "r3rbk1/ppq2Npp/2p2nn1/6B1/3Pb3/1BP4P/PP3PP1/RN1Q2K1 w - - 9 20",
  "r1bq1rk1/pppnbppp/4pn2/8/2pP4/2N2NP1/PP2PPBP/R1BQ1RK1 w - - 0 8",
  "r1bq1rk1/3n1ppp/1pp2n2/p1b1p3/P1N1P3/5NP1/1PP1QPBP/R1B2RK1 b - - 1 11",
  "r4rk1/1p1qbppp/nB2p3/Pp1pP3/5P2/1N1Q4/1PP3PP/R4R1K w - - 6 22",
  "6k1/8/5qp1/P3Q2p/3K3P/6P1/8/8 b - - 14 70",
  "4r1k1/pp3p1p/1b1q2p1/3p1bP1/3Nr3/2P3P1/PP1Q1PB1/R3R1K1 b - - 2 25",
  "8/1p4r1/2p5/p1k3p1/P1P2p2/3P3r/3KP3/1R4R1 w - - 0 45",
  "2r2rk1/1b1nbppp/pq2pn2/1pp5/8/1P1P1NP1/PBQNPPBP/2RR2K1 w - - 2 15",
  "r5k1/R1R2pbp/3Bp3/3p2p1/3P2b1/4P1P1/1P1n1PBP/1r3N1K b - - 0 28",
  "r4rk1/p4p2/2pq1n1p/3p2p1/3P4/2N2QPP/PP4P1/R3R1K1 w - - 1 18",
  "r1bqr1k1/3n1ppp/p2p4/b1pPp2n/P1B1P3/1PNN1PP1/3B3P/R2Q1RK1 b - - 0 15",
  "2r5/8/1p2nkp1/pP2qb2/2P1p2Q/P4R1P/8/4RB1K b - - 7 57",
  "r7/5pk1/2pp1b2/5Pp1/2PpP3/r2P2P1/1R1R2K1/5B2 w - - 2 33",
  "r1bqr1k1/1p3pbp/2n1p1p1/8/1pPp4/P2P2P1/2NBQPBP/1R1R2K1 w - - 0 19",
  "r1bq2k1/1p1n1pbp/p2p2p1/2pP4/P4P2/2NBr2P/1P1N2PB/R2QK2R w KQ - 0 16",
  "2kr3r/1p2bp1p/B4p2/n2p1R2/3P4/qNP5/P5PP/R4QK1 b - - 0 23",
  "r1bqkb1r/pp2pppp/1nnp4/1B2P3/3P4/5N2/PP3PPP/RNBQK2R b KQkq - 4 8",
  "2kr1b2/1bq3p1/pn6/1pn1pN2/4P3/P1N1B3/1PP2QB1/2K4R w - - 2 23",
  "r1q2rk1/pb1nbppp/2p1p3/8/3PB3/2P3P1/P1Q1NP1P/1RB2RK1 b - - 4 15",
  "8/3kb1pp/1pp2p2/4p3/PPK1P3/5P1P/3B2P1/8 b - - 0 30",
  "r3nrk1/2q1b1pp/4p3/2p1p1P1/pp2P2P/3RBPQ1/PPP5/1NK4R w - - 0 20",
  "2r4r/4bpk1/1nbp1np1/p3p3/4P2p/1BN2P1P/1PP3P1/1K1RR1B1 w - - 0 28",
  "8/1prk4/p1npp3/3r2p1/8/R2B1P1P/2NK1BP1/8 w - - 15 37",
  "rnbqkbr1/ppp1p3/3p1n1p/5pP1/3P4/4P1B1/PPP2PP1/RN1QKBNR b KQq - 0 7",
  "1rb2bk1/1q3ppp/3nr3/2p1n3/BpP1PB2/4N1NP/1P4P1/R2QR1K1 w - - 1 25",
  "7r/5p2/5k2/p1K2P2/P5nP/8/P2pB3/7R b - - 1 41",
  "r4rk1/p3qp1p/Pp1pnnp1/1Pp1p3/2P1P2N/3P4/3B1PPP/R2QR1K1 w - - 0 20",
  "r1bq1rk1/ppp2pb1/2np1n1p/4p1p1/4P3/1BPP1N2/PP1N1PPP/R1BQ1RK1 w - - 4 9",
  "2br1rk1/p3qpb1/1p4pp/1Np5/P1Pp3P/3P2P1/2Q1PPB1/1R3RK1 b - - 0 22",
  "3n4/8/4kpp1/2pNp3/2P5/8/3B1KP1/8 b - - 0 47",
  "6r1/2P5/1Pk5/4p3/2p2p1p/5P2/2B2KP1/8 w - - 3 47",
  "6K1/8/p7/4p1P1/8/1kr2P1P/1n1R4/8 b - - 0 65",
] as const;

/** What searching the positions of the benchmark gave. */
export interface BenchResult {
  signature: number; // nodes
  seconds: number; // of the fastest pass
  nps: number; // in the fastest pass
  medianNps: number;
  passes: number;
}

const WARM_UP = { positions: 10, depth: 11 }; // half a second: until then a part of the module runs unoptimised

/**
 * Searches fifty positions to a fixed depth with an empty memory before each: on one thread the number of nodes is the
 * signature of the search, the same on every machine and in every pass. A few searches that do not count warm the machine
 * up; the speed of one pass says little on a machine that does other things too.
 */
export async function runBench(
  search: AlphaBeta,
  depth: number,
  passes = 1,
  isOver: () => boolean = () => false,
): Promise<BenchResult> {
  for (const fen of POSITIONS.slice(0, WARM_UP.positions)) {
    if (isOver()) break;
    await search.search(parseFen(fen), { depth: Math.min(depth, WARM_UP.depth) });
  }
  const results: { nodes: number; ms: number; nps: number }[] = [];
  for (let pass = 0; pass < passes && !isOver(); pass++) {
    let [nodes, ms] = [0, 0];
    for (const fen of POSITIONS) {
      if (isOver()) break;
      await search.clear();
      const start = performance.now();
      nodes += (await search.search(parseFen(fen), { depth })).nodes;
      ms += performance.now() - start;
    }
    results.push({ nodes, ms, nps: Math.round((nodes / ms) * 1000) });
  }
  results.sort((a, b) => b.nps - a.nps);
  const [fastest = { nodes: 0, ms: 0, nps: 0 }] = results;
  const median = results[results.length >> 1]?.nps ?? 0; // of two the slower
  return { signature: fastest.nodes, seconds: fastest.ms / 1000, nps: fastest.nps, medianNps: median, passes };
}
