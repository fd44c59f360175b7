import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { parseFen, START_FEN } from "#chess";
import { nnueOutput } from "./nnue-export.js";
import { growNnue } from "./nnue-grow.js";
import { NNUE_SIZES, Nnue, type NnueConfig } from "./nnue-network.js";
import { quantiseNnue } from "./nnue-quantise.js";
import { syntheticWide } from "./nnue-synthetic.js";

const FENS = [START_FEN, "4k3/8/8/8/8/2K5/4P3/8 b - - 0 1", "r3k2r/pp3ppp/8/2pq4/8/1P6/P1P2PPP/R2Q1RK1 w kq - 0 1"];
const BASE: NnueConfig = { ...NNUE_SIZES.base, hidden: 32 };
const narrow = syntheticWide(1, { ...BASE, outputs: 8 });

test("a network grown from a smaller one values positions alike, and its new neurons can learn", () => {
  const wide = new Nnue({ ...NNUE_SIZES.wide, hidden: 64 }, new Random(2));
  growNnue(narrow, wide, "a.tnn");
  const same = new Nnue(BASE, new Random(3));
  growNnue(narrow, same, "a.tnn");
  for (const fen of FENS) {
    const position = parseFen(fen);
    const [a, b] = [wide, same].map((network) => nnueOutput(network, position));
    assert.ok(Math.abs(a - b) < 1e-5, `${fen}: ${a} ${b}`);
    assert.ok(Math.abs(a) > 1e-3);
  }
  // Their inputs differ from each other, so that they will not all learn the same.
  assert.equal(new Set(wide.shared!.data.subarray(32, 64)).size, 32);
});

test("growing by nothing and quantising again gives the same integers", () => {
  const same = new Nnue(BASE, new Random(3));
  growNnue(narrow, same, "a.tnn");
  const again = quantiseNnue(same);
  assert.ok(again.kind === "wide");
  const scale = again.featureScale / narrow.featureScale;
  again.featureWeights.forEach((weight, i) => {
    assert.ok(Math.abs(weight - narrow.featureWeights[i] * scale) <= 1, `weight ${i}`);
  });
});

test("a network that cannot hold the smaller one's weights is refused", () => {
  const others: Partial<NnueConfig>[] = [{ outputs: 1 }, { mirrored: false }, { kingBuckets: [] }, { centipawns: 300 }];
  for (const other of others) {
    const network = new Nnue({ ...BASE, ...other }, new Random(1));
    assert.throws(() => growNnue(narrow, network, "a.tnn"), /a\.tnn: 4 king buckets of 32 neurons/);
  }
});
