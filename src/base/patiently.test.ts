import assert from "node:assert/strict";
import { test } from "vitest";
import { patiently } from "./patiently.js";

/** Fails so many times with a code of the system's, then works. */
function refusing(times: number, code: string) {
  const calls = { made: 0 };
  const work = async () => {
    if (calls.made++ < times) throw Object.assign(new Error(code), { code });
    return "done";
  };
  return { calls, work };
}

test("on Windows a file that is open elsewhere for a moment is tried again", async () => {
  for (const code of ["EPERM", "EBUSY", "EACCES"]) {
    const { calls, work } = refusing(3, code);
    assert.equal(await patiently(work, true), "done");
    assert.equal(calls.made, 4);
  }
});

test("a file that stays open is given up after a second or so, with what the system said", async () => {
  const { calls, work } = refusing(Number.POSITIVE_INFINITY, "EPERM");
  await assert.rejects(patiently(work, true), { code: "EPERM" });
  assert.equal(calls.made, 8);
});

test("elsewhere, and of other troubles, the first answer is final", async () => {
  for (const [code, windows] of [
    ["EPERM", false],
    ["ENOENT", true],
    ["ENOSPC", true],
  ] as const) {
    const { calls, work } = refusing(1, code);
    await assert.rejects(patiently(work, windows), { code });
    assert.equal(calls.made, 1);
  }
});
