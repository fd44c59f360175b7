import assert from "node:assert/strict";
import { test } from "vitest";
import { loadWasm } from "#base";
import { parseFen, START_FEN } from "#chess";
import type { SearchExports } from "./search-thread.js";

const STARTS = [
  START_FEN,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", // en passant that uncovers a check along the rank
  "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", // promotions
  "3rk3/8/8/8/8/8/8/RK3R2 w FA - 0 1", // castling, some of it with check
  "5k2/8/8/8/8/8/8/4K2R w K - 0 1",
];

interface Exports extends Pick<SearchExports, "init" | "threadBytes" | "threadStart"> {
  orderingCheck(starts: number, count: number, plies: number, seed: bigint, list: number, after: number): number;
}

test("every legal move is picked once, and legality and check are judged rightly in random games", async () => {
  const { exports: core, memory, allocate } = await load();
  const starts = allocate(STARTS.length * 160);
  const list = allocate(1024);
  const after = allocate(160);
  core.threadStart(0, true, allocate(core.threadBytes(0)), 0, allocate(1024), 1024, allocate(64));
  const bytes = new Uint8Array(memory.buffer);
  STARTS.forEach((fen, i) => {
    bytes.set(parseFen(fen, { chess960: true }).bytes(), starts + i * 160);
  });
  assert.equal(core.orderingCheck(starts, STARTS.length, 30_000, 7n, list, after), 0);
});

async function load() {
  const wasm = await loadWasm<Exports>("chess");
  wasm.exports.init();
  return { exports: wasm.exports, memory: wasm.memory, allocate: (bytes: number) => wasm.allocate(bytes) };
}
