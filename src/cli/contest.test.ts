import assert from "node:assert/strict";
import { test } from "vitest";
import { parseRule, sprtPart } from "./contest.js";

const none = { alpha: undefined, beta: undefined, eloModel: undefined };

test("rules that cannot be read are refused with an example", () => {
  assert.deepEqual(parseRule("resign", "3,600", ["moves", "centipawns"], "3,600"), [3, 600]);
  for (const text of ["", "3", "3,x", "3,600,1", "-3,600"]) {
    assert.throws(() => parseRule("resign", text, ["moves", "centipawns"], "3,600"), { code: "ADJUDICATION" }, text);
  }
});

test("SPRT bounds that make no sense are refused with an example", () => {
  for (const text of ["", "5", "5,0", "0,0", "a,b", "1,2,3", "0,"]) {
    assert.throws(() => sprtPart({ sprt: text, ...none }), { code: "SPRT_BOUNDS", message: /--sprt 0,5/ });
  }
  assert.deepEqual(sprtPart({ sprt: "-3,0", ...none }).sprt, {
    elo0: -3,
    elo1: 0,
    alpha: undefined,
    beta: undefined,
    model: undefined,
  });
});
