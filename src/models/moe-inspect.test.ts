import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { parseFen, START_FEN } from "#chess";
import { exportOnnx, Session } from "#tensor";
import { networkBytes } from "./load.js";
import { MOE, MOE_SIZES, Moe } from "./moe.js";
import { inspectMoe } from "./moe-inspect.js";

test("the insight of a moe network agrees with what it plays by, for both sides", async () => {
  const network = new Moe(MOE_SIZES.tiny, new Random(3));
  const look = await inspectMoe(networkBytes("moe", network), "x.safetensors");
  const inference = MOE.inference!(network);
  const session = await Session.open(exportOnnx(inference.outputs), { threads: 1 });
  for (const fen of [START_FEN, START_FEN.replace(" w ", " b ")]) {
    const position = parseFen(fen);
    const { value } = await session.run(inference.feeds([position])[0]);
    const { moves, layers } = await look(position);
    const legal = position.moves();
    for (const { move, value: seen, buckets } of moves) {
      assert.ok(Math.abs(seen - (2 * Number(value.data[legal.indexOf(move)]) - 1)) < 1e-5); // float32
      assert.ok(Math.abs(buckets.reduce((sum, share) => sum + share) - 1) < 1e-4);
    }
    assert.deepEqual(
      moves.map(({ value }) => value),
      moves.map(({ value }) => value).sort((a, b) => b - a),
    );
    assert.equal(layers.length, MOE_SIZES.tiny.layers);
    assert.equal(layers[0].experts.length, 64);
    assert.ok(Math.abs(layers[0].experts[0].reduce((sum, share) => sum + share) - 1) < 1e-4);
    for (const { attention } of layers) {
      assert.equal(attention.length, MOE_SIZES.tiny.heads);
      for (const gaze of attention[0]) assert.ok(gaze.reduce((sum, share) => sum + share) < 1);
    }
  }
  await session.close();
});
