import assert from "node:assert/strict";
import { test } from "vitest";
import { checkPlayer } from "./names.js";
import { type Abilities, type Needs, needsOf, refuse } from "./needs.js";

const HASH = "a".repeat(64);
const NEEDS: Needs = {
  version: 2,
  bench: 7,
  families: ["residual"],
  engines: { stockfish: "abc" },
  cores: 2,
  crowd: 1,
};
const HAS: Abilities = { version: 2, bench: 7, families: ["nnue", "residual"], engines: { stockfish: "abc" }, capacity: 2 }; // biome-ignore format: a list

test("a worker takes what it can do, and says what it lacks", () => {
  assert.equal(refuse(NEEDS, HAS), undefined);
  const lacks = (change: Partial<Abilities>, reason: RegExp) =>
    assert.match(refuse(NEEDS, { ...HAS, ...change }) ?? "", reason);
  lacks({ version: 1 }, /version 2, and this worker does version 1/);
  lacks({ bench: 8 }, /bench 7, and this one has 8/);
  lacks({ families: ["nnue"] }, /family residual/);
  lacks({ engines: {} }, /the engine stockfish is not here/);
  lacks({ engines: { stockfish: "abd" } }, /signature abd, expected abc/);
  lacks({ capacity: 1 }, /takes 2 cores, and this worker gives 1/);
});

test("a job needs what its players do", () => {
  const player = `sha256:${HASH}.safetensors@mcts?threads=4`;
  const job = {
    kind: "label",
    player,
    limits: { nodes: 8 },
    positions: `sha256:${HASH}.txt`,
    allMoves: false,
  } as const;
  const needs = needsOf(job, 7, new Map([[HASH, "residual"]]), new Map());
  assert.deepEqual(needs, { version: 2, bench: 7, families: ["residual"], engines: {}, cores: 4, crowd: 1 });
  const foreign = needsOf({ ...job, player: "uci:lc0?Threads=2" }, 7, new Map(), new Map([["lc0", "abc"]]));
  assert.deepEqual([foreign.engines, foreign.cores], [{ lc0: "abc" }, 2]);
});

test("players from elsewhere reach for nothing of this machine", () => {
  for (const player of [
    "random",
    "builtin@ab:5",
    `sha256:${HASH}.nnue`,
    `sha256:${HASH}.pb.gz@none`,
    "uci:stockfish?Hash=16",
  ])
    checkPlayer(player);
  for (const player of ["residual@none", "/etc/passwd@ab", `sha256:${HASH}@ab`, `x/sha256:${HASH}.nnue@ab`])
    assert.throws(() => checkPlayer(player), { code: "JOB_NETWORK" });
  for (const player of [
    "uci:/bin/sh",
    "uci:sh -c true",
    "uci:../a",
    "uci:stockfish?Debug Log File=x",
    "uci:lc0?Weights=/a",
  ])
    assert.throws(() => checkPlayer(player), { code: "JOB_ENGINE" });
});
