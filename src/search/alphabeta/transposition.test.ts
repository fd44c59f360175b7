import assert from "node:assert/strict";
import { test } from "vitest";
import { loadWasm, Random } from "#base";

interface Exports {
  tableStart(at: number, bytes: number, alone: boolean): void;
  tableAge(age: number): void;
  tableClear(): void;
  tableUse(): number;
  probe(key: bigint): bigint;
  remember(
    key: bigint,
    move: number,
    score: number,
    evaluation: number,
    depth: number,
    bound: number,
    pv: boolean,
  ): void;
}

const MB = 2 ** 20;
const LOWER = 2;

for (const alone of [true, false])
  test(`what was remembered is found again ${alone ? "while the table grows" : "in a table of several threads"}`, async () => {
    const { core, bytes, table } = await load(16 * MB, alone);
    const count = 200_000; // of 1,048,576 places; a table that grows has doubled three times
    const keys = randomKeys(count);
    for (const [i, key] of keys.entries()) core.remember(key, i & 0xffff, 0, 0, 5, LOWER, false);
    const found = keys.filter((key, i) => (core.probe(key) & 0xffffn) === BigInt(i & 0xffff)).length;
    assert.ok(found > 0.93 * count, `${found} of ${count} found`);
    assert.ok(Math.abs(core.tableUse() - (1000 * count) / 1_048_576) < 20, `${core.tableUse()} thousandths in use`);
    core.tableClear();
    assert.ok(bytes.subarray(table, table + 16 * MB).every((byte) => byte === 0));
    assert.equal(core.probe(keys[0]), 0n);
    core.remember(keys[0], 7, 0, 0, 5, LOWER, false);
    assert.equal(core.probe(keys[0]) & 0xffffn, 7n);
  });

test("a lone thread begins with a small part of the table, of any size", async () => {
  for (const megabytes of [1, 3, 8]) {
    const { core, bytes, table } = await load(megabytes * MB, true);
    for (const key of randomKeys(10_000)) core.remember(key, 1, 0, 0, 5, LOWER, false);
    assert.ok(bytes.subarray(table + MB, table + megabytes * MB).every((byte) => byte === 0));
  }
});

function randomKeys(count: number): bigint[] {
  const random = new Random(5);
  return Array.from({ length: count }, () => (BigInt(random.bits()) << 32n) | BigInt(random.bits()));
}

async function load(size: number, alone: boolean) {
  const wasm = await loadWasm<Exports>("chess");
  const table = wasm.allocate(size);
  wasm.exports.tableStart(table, size, alone);
  wasm.exports.tableAge(1);
  return { core: wasm.exports, bytes: new Uint8Array(wasm.memory.buffer), table };
}
