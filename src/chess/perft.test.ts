import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { parseFen, parsePerftSuite, perft, START_FEN } from "./index.js";

const LIMIT = 3_000_000; // nodes of one line that CI can afford; `tabiya perft --suite` goes to full depth

function check(suite: ReturnType<typeof parsePerftSuite>): void {
  for (const { fen, counts } of suite) {
    const largest = counts.filter(({ nodes }) => nodes < LIMIT).at(-1);
    if (largest) assert.equal(perft(parseFen(fen), largest.depth), largest.nodes, fen);
  }
}

test("the start position has 4,865,609 lines of five plies", () => {
  assert.equal(perft(parseFen(START_FEN), 5), 4_865_609);
});

// Source: the perft results page of the Chess Programming Wiki; the last two are Chess960.
test("known positions have the published number of lines", () => {
  const known: [string, number, number][] = [
    ["r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 4, 4_085_603],
    ["8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 5, 674_624],
    ["r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 4, 422_333],
    ["rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 4, 2_103_487],
    ["r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 4, 3_894_594],
    ["bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", 4, 326_672],
    ["2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9", 4, 667_366],
  ];
  for (const [fen, depth, nodes] of known) assert.equal(perft(parseFen(fen), depth), nodes, fen);
});

const folder = "../shared/data/perft";
for (const file of ["perftsuite.epd", "frcperftsuite.epd", "tricky.perft", "random.perft"]) {
  test.skipIf(!existsSync(folder))(`every line of ${file} has its number of lines`, () => {
    const suite = parsePerftSuite(readFileSync(`${folder}/${file}`, "utf8"));
    assert.ok(suite.length > 10, `${suite.length} positions`);
    check(suite);
  });
}
