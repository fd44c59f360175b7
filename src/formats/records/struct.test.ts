import assert from "node:assert/strict";
import { test } from "vitest";
import { Random, UserError } from "#base";
import { core, formatFen, parseFen, START_FEN } from "#chess";
import { POSITION, putFen } from "./struct.js";

const { CHESS960_AT, KEY_AT, POSITION_BYTES, wasm } = core;
const TEXT = core.allocate(256);
const ROOM = core.allocate(POSITION_BYTES);

const bytesAt = (address: number) => core.bytes.slice(address, address + POSITION_BYTES);

/** A position without the key and how castling is spelled, which records do not have. */
function plain(state: Uint8Array): number[] {
  const bytes = [...state];
  bytes[CHESS960_AT] = 0;
  return bytes.fill(0, KEY_AT, KEY_AT + 8);
}

/** What the core's fast reader makes of a FEN; undefined if it is not an ordinary one. */
function readFast(fen: string): Uint8Array | undefined {
  const text = new TextEncoder().encode(fen);
  core.bytes.set(text, TEXT);
  return wasm.readFen(TEXT, text.length, ROOM) ? bytesAt(ROOM) : undefined;
}

const STARTS = [
  { fen: START_FEN, ordinary: true },
  { fen: "8/pppppppp/4k3/8/8/4K3/PPPPPPPP/8 w - - 0 1", ordinary: true }, // en passant
  { fen: "r3k2r/pPpp1pPp/8/8/8/8/PpPP1PpP/R3K2R b KQkq - 7 30", ordinary: true },
  { fen: "nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1", ordinary: false },
  { fen: "1rk1r2r/8/8/8/8/8/8/1RK1R2R w Ee - 0 1", ordinary: false },
];

test("the three readers of FENs agree on every position of random games", () => {
  const random = new Random(3);
  let fast = 0;
  for (let game = 0; game < 60; game++) {
    const { fen: start, ordinary } = STARTS[game % STARTS.length];
    const position = parseFen(start);
    for (let ply = 0; ply < 80; ply++) {
      const fen = formatFen(position);
      putFen(fen);
      assert.deepEqual(plain(bytesAt(POSITION)), plain(parseFen(fen).bytes()), fen);
      const found = readFast(fen);
      assert.ok(found || !ordinary, `${fen} is ordinary`);
      if (found) {
        assert.deepEqual(found, parseFen(fen).bytes(), fen);
        fast++;
      }
      const moves = position.moves();
      if (moves.length === 0) break;
      position.play(random.pick(moves));
    }
  }
  assert.ok(fast > 1000, `${fast} were read by the core`);
});

test("what the strict reader refuses, the core does not read either", () => {
  const random = new Random(4);
  const letters = "rnbqkpRNBQKP12345678/ wb-KQkqae360 ";
  let refused = 0;
  for (let i = 0; i < 20_000; i++) {
    const characters = [...STARTS[random.below(3)].fen];
    for (let k = random.below(3); k >= 0; k--)
      characters[random.below(characters.length)] = letters[random.below(letters.length)];
    const fen = characters.join("");
    const found = readFast(fen);
    try {
      const position = parseFen(fen);
      if (found) assert.deepEqual(found, position.bytes(), fen);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      assert.equal(found, undefined, fen);
      refused++;
    }
  }
  assert.ok(refused > 1000, `${refused} were refused`);
});
