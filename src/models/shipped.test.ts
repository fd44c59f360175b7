import assert from "node:assert/strict";
import { test } from "vitest";
import { readBytes } from "#base";
import { readNnueNetwork } from "#formats";
import type { FamilyName } from "./families.js";
import { findWeights } from "./find.js";
import { loadNetwork } from "./load.js";
import { shippedNets } from "./shipped.js";

const MEGABYTES: Partial<Record<FamilyName, number>> = { nnue: 8, residual: 8, moe: 8, decoder: 25 };

test("every network of the manifest can be read, and is of the family it is said to be", async () => {
  const nets = await shippedNets();
  assert.ok(nets.length > 0);
  for (const { file, family, bytes, recipe } of nets) {
    const path = await findWeights(family);
    assert.ok(path.endsWith(file), path);
    assert.equal((await readBytes(path)).length, bytes, file);
    assert.ok(bytes <= MEGABYTES[family]! * 1e6, file);
    await readBytes(recipe); // is there
    if (family === "nnue") assert.equal(readNnueNetwork(await readBytes(path), path).kind, "wide");
    else assert.equal((await loadNetwork(path)).family, family);
  }
});
