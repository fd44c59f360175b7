import assert from "node:assert/strict";
import { test } from "vitest";
import { crc32c, eventFileStart, frameRecord, scalarEvent } from "./event-file.js";

const ascii = (text: string) => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

test("CRC-32C gives the published check values", () => {
  assert.equal(crc32c(ascii("123456789")), 0xe3069283);
  // RFC 3720, appendix B.4
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(255)), 0x62a8ab43);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e);
});

// Bytes written by tensorboard 2.21's RecordWriter and protocol buffers.
test("an event file has the bytes TensorBoard's own writer gives", () => {
  assert.equal(
    hex(eventFileStart(1700000000.5)),
    "1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110",
  );
  assert.equal(
    hex(scalarEvent(1700000001.25, 300, { "train/loss": 2.5, rate: 0.001 })),
    "2e00000000000000c5cb57fa0900005040fc54d94110ac022a200a110a0a747261696e2f6c6f737315000020400a0b0a0472617465156f12833a728b34ff",
  );
});

test("a record of nothing is framed too", () => {
  assert.equal(frameRecord(new Uint8Array(0)).length, 16);
});
