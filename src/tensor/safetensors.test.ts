import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "vitest";
import { toHalf } from "./halves.js";
import {
  loadSafetensors,
  type NamedTensor,
  readSafetensors,
  saveSafetensors,
  toFloat32,
  writeSafetensors,
} from "./safetensors.js";

const golden = new Uint8Array(readFileSync("test/fixtures/golden.safetensors"));
const n = [0, 1, 2, 3, 4, 5];

test("a file of the reference implementation is read as it was meant", () => {
  const { tensors, metadata } = readSafetensors(golden, "golden");
  assert.deepEqual(metadata, { "made by": 'the "reference" package' });
  const byName = Object.fromEntries(tensors.map((tensor) => [tensor.name, tensor]));
  const expect = (name: string, dtype: string, shape: number[], data: ArrayLike<number | bigint>) => {
    assert.deepEqual([byName[name].dtype, byName[name].shape], [dtype, shape], name);
    assert.deepEqual([...(byName[name].data as Iterable<number | bigint>)], Array.from(data), name);
  };
  expect(
    "stem.weight",
    "float32",
    [2, 3],
    n.map((i) => i / 4 - 0.5),
  );
  expect("half", "float16", [6], toHalf(n.map((i) => (i - 2) / 3)));
  expect("quantised", "int8", [6], [-128, -78, -28, 22, 72, 122]);
  expect(
    "indices",
    "int32",
    [6],
    n.map((i) => i * 100_000_000),
  );
  expect(
    "steps",
    "int64",
    [1, 6, 1],
    n.map((i) => BigInt(i) * 10_000_000_000n),
  );
  expect(
    "bytes",
    "uint8",
    [6],
    n.map((i) => i * 51),
  );
  expect("scalar", "float32", [], [2.5]);
  expect("empty", "float32", [0, 4], []);
  expect("grüße/7", "bool", [3], [1, 0, 1]);
  assert.deepEqual(byName["brain"].shape, [3, 2]);
  for (const [name, error] of [
    ["half", 2 ** -11],
    ["brain", 2 ** -8],
  ] as const)
    toFloat32(byName[name]).forEach((x, i) => {
      assert.ok(Math.abs(x - (i - 2) / 3) <= error * Math.abs((i - 2) / 3), `${name} ${x}`);
    });
});

test("tensors are copies, also out of a Node buffer or the middle of an array", () => {
  const { tensors } = readSafetensors(golden, "golden");
  const shifted = new Uint8Array(golden.length + 3);
  shifted.set(golden, 3);
  for (const bytes of [Buffer.from(golden), shifted.subarray(3)]) {
    const read = readSafetensors(bytes, "golden");
    bytes.fill(0);
    assert.deepEqual(read.tensors, tensors);
  }
});

test("what we write is what the reference implementation writes, byte for byte", () => {
  const { tensors, metadata } = readSafetensors(golden, "golden");
  assert.deepEqual(writeSafetensors(tensors.reverse(), metadata), golden);
});

test("tensors survive writing and reading, whatever their names and shapes", () => {
  const tensor = fc.record({
    name: fc.string({ unit: "binary" }).filter((name) => name !== "__metadata__"),
    data: fc.float32Array({ maxLength: 12 }),
  });
  const sorted = (all: readonly NamedTensor[]) => [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
  fc.assert(
    fc.property(
      fc.uniqueArray(tensor, { selector: ({ name }) => name, maxLength: 6 }),
      fc.dictionary(fc.string(), fc.string()),
      (list, metadata) => {
        const tensors = list.map(({ name, data }) => ({
          name,
          dtype: "float32" as const,
          shape: [1, data.length],
          data,
        }));
        const read = readSafetensors(writeSafetensors(tensors, metadata), "memory");
        assert.deepEqual(sorted(read.tensors), sorted(tensors));
        assert.deepEqual({ ...read.metadata }, { ...metadata });
      },
    ),
  );
});

test("a saved file is loaded", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-"));
  try {
    const { tensors, metadata } = readSafetensors(golden, "golden");
    await saveSafetensors(join(folder, "t.safetensors"), tensors, metadata);
    assert.deepEqual(await loadSafetensors(join(folder, "t.safetensors")), { tensors, metadata });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** A file with this header and as many bytes of data. */
function file(header: string, dataBytes: number): Uint8Array {
  const text = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + text.length + dataBytes);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 8);
  return bytes;
}
const f32 = (shape: string, begin: number, end: number) =>
  `{"dtype":"F32","shape":${shape},"data_offsets":[${begin},${end}]}`;

const DAMAGED: [what: string, bytes: Uint8Array, message: RegExp][] = [
  ["an empty file", new Uint8Array(0), /0 bytes are too short/],
  ["a text file", new TextEncoder().encode("hello, I am a text"), /promise a header of/],
  ["a header that is cut off", golden.subarray(0, 100), /should end at byte \d+, but the file has only 100/],
  ["data that are cut off", golden.subarray(0, golden.length - 1), /cut off: the tensors need 139 bytes.*only 138/],
  ["data too many", file(`{"a":${f32("[1]", 0, 4)}}`, 5), /1 bytes follow the last tensor/],
  ["bad JSON", file(`{"a":`, 0), /header is not JSON/],
  ["a list", file("[]", 0), /not a JSON object/],
  [
    "an unknown type",
    file(`{"a":{"dtype":"F3","shape":[1],"data_offsets":[0,4]}}`, 4),
    /tensor a has type F3; known are/,
  ],
  ["a negative size", file(`{"a":${f32("[-1]", 0, 4)}}`, 4), /tensor a has no proper shape: \[-1\]/],
  ["a wrong size", file(`{"a":${f32("[2]", 0, 4)}}`, 4), /tensor a, F32 \[2\], needs 8 bytes but has 4/],
  ["offsets turned round", file(`{"a":${f32("[1]", 4, 0)}}`, 4), /no proper data_offsets: \[4,0\]/],
  [
    "overlapping tensors",
    file(`{"a":${f32("[2]", 0, 8)},"b":${f32("[1]", 4, 8)}}`, 8),
    /b begins at byte 4.*inside tensor a/,
  ],
  [
    "a hole",
    file(`{"a":${f32("[1]", 0, 4)},"b":${f32("[1]", 8, 12)}}`, 12),
    /bytes 4 to 8 of the data belong to no tensor/,
  ],
  ["metadata that are no texts", file(`{"__metadata__":{"a":1}}`, 0), /metadata is not an object of texts/],
];
for (const [what, bytes, message] of DAMAGED) {
  test(`${what}: refused, with the reason and the file's name`, () => {
    assert.throws(
      () => readSafetensors(bytes, "x.safetensors"),
      (error: Error) => {
        assert.match(error.message, message);
        assert.match(error.message, /^x\.safetensors: /);
        return error.name === "UserError";
      },
    );
  });
}
