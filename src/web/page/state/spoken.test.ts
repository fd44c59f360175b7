import assert from "node:assert/strict";
import { test } from "vitest";
import { parseFen } from "#chess";
import { describePosition } from "./spoken.js";

test("a position is said in words, the king first, with who is to move and in check", () => {
  assert.equal(
    describePosition(parseFen("4k3/8/8/8/8/5n2/3P1P2/4K3 w - - 0 1")),
    "White: king e1, pawns d2 f2. Black: king e8, knight f3. White to move, in check.",
  );
});
