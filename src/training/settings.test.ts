import assert from "node:assert/strict";
import { test } from "vitest";
import { resolveRecipe } from "./recipe.js";
import { listSettings, trainable } from "./settings.js";

test("every setting of every family has a meaning, and its defaults make a recipe", () => {
  for (const { family, sizes } of trainable()) {
    const settings = listSettings(family, sizes[0]);
    for (const { key, meaning } of settings) assert.ok(meaning.length > 3, `${family}: ${key} has no meaning`);
    const values = Object.fromEntries(settings.map((setting) => [setting.key, setting.default]));
    const { train, task, model } = resolveRecipe(values, "defaults");
    assert.deepEqual({ ...train, ...task, ...model }, values);
  }
});

test("a setting tells its type and its bounds", () => {
  const of = (key: string) => listSettings("residual", "tiny").find((setting) => setting.key === key);
  assert.equal(of("batchSize")?.type, "integer");
  assert.equal(of("batchSize")?.minimum, 1);
  assert.equal(of("batchSize")?.maximum, undefined);
  assert.deepEqual(of("schedule")?.choices, ["constant", "cosine", "step"]);
  assert.deepEqual([of("data")?.type, of("augment")?.type, of("ema")?.type], ["texts", "boolean", "number"]);
  assert.ok(of("size")?.choices?.includes("tiny"));
  assert.deepEqual([of("width")?.group, of("width")?.default], ["network", 16]);
});
