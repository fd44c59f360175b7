import assert from "node:assert/strict";
import { test } from "vitest";
import { readBytes } from "#base";
import { readNnueNetwork } from "#formats";
import { findWeights } from "./find.js";
import { loadNetwork } from "./load.js";
import { shippedNets } from "./shipped.js";

test("every network of the manifest can be read, and is of the family it is said to be", async () => {
  const nets = await shippedNets();
  assert.ok(nets.length > 0);
  for (const { file, family } of nets) {
    const path = await findWeights(family);
    assert.ok(path.endsWith(file), path);
    if (family === "nnue") assert.equal(readNnueNetwork(await readBytes(path), path).kind, "wide");
    else assert.equal((await loadNetwork(path)).family, family);
  }
});
