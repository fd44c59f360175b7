import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { parseSource } from "./batches/data-source.js";
import { parseRecipe, resolveRecipe } from "./recipe.js";

test("every recipe we ship is one that the loop understands, files and all", () => {
  const files = readdirSync("recipes").filter((name) => /^(?!learn-).*\.yaml$/.test(name)); // these are for `tabiya learn`: src/cli/recipes.test.ts
  assert.ok(files.includes("residual-base.yaml") && files.includes("residual-published.yaml"));
  for (const file of files) {
    const text = readFileSync(`recipes/${file}`, "utf8");
    const { train } = resolveRecipe(parseRecipe(text, file), file);
    for (const source of [...train.data, ...train.validation]) assert.doesNotThrow(() => parseSource(source), file);
    if (file.includes("-tiny")) continue; // takes minutes as it is
    const quick = resolveRecipe(parseRecipe(text, file, { quick: true }), file).train;
    assert.ok(quick.epochs < train.epochs, file);
    assert.deepEqual(quick.data, train.data);
  }
});

test("a recipe without quick settings says so", () => {
  assert.throws(() => parseRecipe("family: nnue", "a.yaml", { quick: true }), /a\.yaml has no quick settings/);
});
