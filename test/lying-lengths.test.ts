// A length in a file is held against the file before memory is taken for it: one lie for each format that has lengths.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { readBytes, type UserError } from "#base";
import { openRecords, readLc0, readNnueNetwork, writeNnue, writeRawWide, writeWide } from "#formats";
import { readNetwork, syntheticHalfKp, syntheticWide } from "#models";

const folder = mkdtempSync(join(tmpdir(), "tabiya-lies-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** The bytes with numbers of 32 bits, little-endian, put in. */
function lie(bytes: Uint8Array, ...numbers: (readonly [at: number, value: number])[]): Uint8Array {
  const copy = Uint8Array.from(bytes);
  for (const [at, value] of numbers) new DataView(copy.buffer).setUint32(at < 0 ? copy.length + at : at, value, true);
  return copy;
}

async function readAll(path: string): Promise<void> {
  for await (const _ of await openRecords(path, { onBad() {} }));
}

const text = (content: string) => new TextEncoder().encode(content);
const wide = syntheticWide(1, { hidden: 32 });
const binpack = readFileSync("test/fixtures/formats/golden.binpack");
const END = "PK\x05\x06\0\0\0\0\x01\0\x01\0"; // of a .zip: then the size of its directory and where it begins

const LIES: Record<string, { bytes: Uint8Array; code: RegExp; read?(bytes: Uint8Array, path: string): unknown }> = {
  "chunk.binpack": { bytes: lie(binpack, [4, 90 << 20]), code: /^BINPACK_CUT$/ },
  "index.bagz": { bytes: lie(new Uint8Array(64), [-8, 0], [0, 0xffffffff]), code: /^BAGZ_FILE$/ },
  "start.bag": { bytes: lie(new Uint8Array(64), [-8, 0xffffff00]), code: /^BAGZ_FILE$/ },
  "footer.parquet": { bytes: lie(text(`PAR1${" ".repeat(40)}....PAR1`), [-8, 0x7fffffff]), code: /^PARQUET_FILE$/ },
  "header.safetensors": { bytes: lie(new Uint8Array(64), [0, 0x05000000]), code: /^SAFETENSORS$/, read: readNetwork },
  "tensor.safetensors": {
    bytes: tensors('{"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}'),
    code: /^SAFETENSORS$/,
    read: readNetwork,
  },
  "text.nnue": { bytes: lie(writeNnue(syntheticHalfKp(1)), [8, 0x7fffffff]), code: /^NNUE_/, read: readNnueNetwork },
  "text.tnn": { bytes: lie(writeWide(wide), [4, 0x7fffffff]), code: /^NNUE_/, read: readNnueNetwork },
  "hidden.raw": { bytes: lie(writeRawWide(wide), [8, 2048]), code: /^NNUE_/, read: readNnueNetwork },
  "layer.pb": {
    bytes: Uint8Array.from([0x0d, 0xc0, 1, 0, 0, 0x52, 0xff, 0xff, 0xff, 0xff, 7]),
    code: /^LC0_/,
    read: readLc0,
  },
  "book.zip": {
    bytes: text(`PK\x03\x04${" ".repeat(60)}${END}\x7f\x7f\x7f\x7f\0\0\0\0\0\0`),
    code: /^FILE_/,
    read: (_, path) => readBytes(path),
  },
};

function tensors(header: string): Uint8Array {
  return lie(text(`........${header}`), [0, header.length], [4, 0]);
}

for (const [name, { bytes, code, read }] of Object.entries(LIES)) {
  test(`${name}: a length that lies is refused without memory for it`, async () => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    const before = process.memoryUsage().arrayBuffers;
    await assert.rejects(
      async () => (read ? read(bytes, path) : readAll(path)),
      (error: UserError) => code.test(error.code ?? "") || assert.fail(error),
    );
    const taken = process.memoryUsage().arrayBuffers - before;
    assert.ok(taken < 8e6 + bytes.length, `${taken} bytes of memory for a file of ${bytes.length}`);
  });
}
