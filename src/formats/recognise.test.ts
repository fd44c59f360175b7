import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, test } from "vitest";
import { describeSurprise, recognise, recogniseFile } from "./recognise.js";
import { openRecords } from "./records/open.js";
import { encodePacked } from "./records/packed-sfen.js";
import { readNnueNetwork } from "./weights/network.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-recognise-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const save = (name: string, bytes: Uint8Array | string) => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};
const latin = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

const BEGINNINGS: [string, Uint8Array | string][] = [
  ["an ONNX model", latin("\x08\x0a\x12\x06tabiya:\x00\x01")],
  ["a network of lc0 or Maia", latin("\x0d\xc0\x01\0\0\x12\x00")],
  ["a network of Stockfish (.nnue)", latin("\x16\x2f\xf3\x7a\0\0")],
  ["a safetensors file", latin('\x40\0\0\0\0\0\0\0{"a":{}}')],
  ["a PyTorch checkpoint", latin(`PK\x03\x04${"\0".repeat(26)}archive/data.pkl`)],
  ["a zip archive", latin(`PK\x03\x04${"\0".repeat(26)}games.pgn`)],
  ["a Parquet file", "PAR1\x15\x04"],
  ["a file of games (PGN)", '\n[Event "?"]\n[Site "?"]\n\n1. e4 *\n'],
  ["an HTML page", "<!DOCTYPE html><title>Not found</title>"],
  ["a file of positions (FEN or EPD)", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - id 1;"],
  ["a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\n"],
];
for (const [name, start] of BEGINNINGS)
  test(`${name} is known by its first bytes`, () => {
    const bytes = typeof start === "string" ? new TextEncoder().encode(start) : start;
    assert.equal(recognise(bytes)?.name, name);
  });

test("records, numbers and text of any kind are not taken for something else", () => {
  const record = new Uint8Array(40);
  encodePacked({ fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", move: "e2e4", score: 3, ply: 1, result: 0 }, record);
  for (const bytes of [record, new Uint8Array(64), new TextEncoder().encode("epochs: 3\n"), new Uint8Array()])
    assert.equal(recognise(bytes), undefined);
});

test("a compressed file is known by what is in it, and an empty or missing one by nothing", async () => {
  const path = save("g.bin.gz", gzipSync('[Event "?"]\n\n1. e4 *\n'));
  assert.equal((await recogniseFile(path))?.name, "a file of games (PGN)");
  assert.equal(await recogniseFile(save("empty", "")), undefined);
  assert.equal(await recogniseFile(join(folder, "missing")), undefined);
});

test("readers of records and of networks say what they were given instead", async () => {
  const games = save("games.bin", '[Event "?"]\n\n1. e4 *\n');
  await assert.rejects(
    openRecords(games),
    /games\.bin: this is a file of games \(PGN\); expected records.*\n.*tabiya data import/,
  );
  await assert.rejects(openRecords(save("page.jsonl", "<html>")), /this is an HTML page/);
  await assert.rejects(openRecords(save("games.pgn", '[Event "?"]\n')), /this is a file of games/);
  await assert.rejects(openRecords(save("games.abc", "abc")), { code: "FORMAT_UNKNOWN" });
  const model = readFileSync(save("x.nnue", latin("\x08\x0a\x12\x06tabiya:\x00\x01")));
  assert.throws(() => readNnueNetwork(model, "x.nnue"), /x\.nnue: this is an ONNX model; expected a network/);
  const text = new TextEncoder().encode("# Notes\n\nSome words, and a dash – too.\n");
  assert.throws(() => readNnueNetwork(text, "x.md"), /x\.md: this is a text file; expected a network/);
});

test("a surprise is told only where the name promises something else", async () => {
  assert.equal(await describeSurprise(save("a.pgn", '[Event "?"]\n')), "");
  assert.match(await describeSurprise(save("a.yaml", '[Event "?"]\n')), /a\.yaml is a file of games/);
  assert.equal(await describeSurprise(save("b.yaml", "epochs: 3\n")), "");
});
