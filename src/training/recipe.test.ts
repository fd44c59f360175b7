import assert from "node:assert/strict";
import { test } from "vitest";
import { UserError } from "#base";
import { RESIDUAL } from "#models";
import { TRAIN_DEFAULTS } from "./config.js";
import { parseRecipe, parseSetting, resolveRecipe } from "./recipe.js";

const complaint = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error.message;
  }
  return assert.fail("nothing was said");
};

test("a recipe overrides the defaults, and fields of the network override its size", () => {
  const values = parseRecipe("size: tiny\nepochs: 3\nblocks: 1\ndata: a.bin\n", "a.yaml");
  const { train, model } = resolveRecipe({ ...values, ...parseSetting("learningRate=0.01") }, "a.yaml");
  assert.deepEqual(train, { ...TRAIN_DEFAULTS, size: "tiny", epochs: 3, data: ["a.bin"], learningRate: 0.01 });
  const { blocks, width } = RESIDUAL.parse(model);
  assert.deepEqual({ blocks, width }, { blocks: 1, width: 16 });
  assert.equal("blocks" in train, false);
});

test("an unknown setting is refused, and the nearest known one named", () => {
  const message = complaint(() => resolveRecipe({ learningrat: 1 }, "a.yaml"));
  assert.match(message, /a\.yaml: there is no setting "learningrat"\. Did you mean "learningRate"\?/);
  assert.match(
    complaint(() => resolveRecipe({ size: "tyni" }, "a.yaml")),
    /Did you mean "tiny"\?/,
  );
});

test("a value of the wrong kind is refused with its key", () => {
  assert.match(
    complaint(() => resolveRecipe({ epochs: "many" }, "a.yaml")),
    /a\.yaml: epochs is "many"/,
  );
  assert.match(
    complaint(() => resolveRecipe({ ema: 1 }, "a.yaml")),
    /ema is 1/,
  );
  assert.match(
    complaint(() => resolveRecipe({ width: 0 }, "a.yaml")),
    /width is 0/,
  );
  assert.match(
    complaint(() => resolveRecipe({ family: "residul" }, "a.yaml")),
    /family is "residul"/,
  );
  assert.match(
    complaint(() => parseRecipe("a: [", "a.yaml")),
    /a\.yaml: not YAML/,
  );
  assert.match(
    complaint(() => parseSetting("epochs")),
    /expected key=value/,
  );
});
