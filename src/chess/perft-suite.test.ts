import assert from "node:assert/strict";
import { test } from "vitest";
import { parsePerftSuite } from "./perft-suite.js";

test("both kinds of perft suite are read", () => {
  const text =
    "# a comment\nid x\nepd 4k3/8/8/8/8/8/8/4K2R w K -\nperft 1 15\nperft 2 66\n\n8/8/8/8/8/8/8/8 w - - 0 1 ;D1 20 ;D2 400\n";
  assert.deepEqual(parsePerftSuite(text), [
    {
      fen: "4k3/8/8/8/8/8/8/4K2R w K -",
      counts: [
        { depth: 1, nodes: 15 },
        { depth: 2, nodes: 66 },
      ],
    },
    {
      fen: "8/8/8/8/8/8/8/8 w - - 0 1",
      counts: [
        { depth: 1, nodes: 20 },
        { depth: 2, nodes: 400 },
      ],
    },
  ]);
});
