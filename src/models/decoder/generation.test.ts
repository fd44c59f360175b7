import assert from "node:assert/strict";
import { onTestFinished, test } from "vitest";
import { Random } from "#base";
import { BOARD_TOKENS, encodeBoard68, tokenId } from "#encodings";
import { exportOnnx, input, Session } from "#tensor";
import { randomPositions } from "../export.js";
import { DECODER_SIZES, type DecoderConfig } from "./config.js";
import { DecoderReader, type Spoken } from "./generation.js";
import { Decoder, NO_SLOT, prefixMask } from "./network.js";
import { inBlocks } from "./sights.js";

/** A thought of two moves: what is read, board by board and token by token. */
function pieces(): ({ board: Uint16Array } | { token: number; value?: number })[] {
  const [root, ...later] = randomPositions(3, 1).map((position) => {
    const board = new Uint16Array(BOARD_TOKENS);
    encodeBoard68(position, board);
    return board;
  });
  const steps = later.flatMap((board, i) => [
    { token: 300 + i },
    { token: tokenId("wl_value"), value: 0.3 - i },
    { token: tokenId("d_value"), value: 0.2 },
    { board },
  ]);
  return [{ board: root }, { token: tokenId("start_think") }, ...steps, { token: tokenId("end_var") }];
}

/** The same as one sequence, read from the beginning in one run without a cache. */
async function uncached(network: Decoder, read: ReturnType<typeof pieces>) {
  const tokens: number[] = [];
  const [values, slots, blocks] = [[] as number[], [] as number[], [] as number[]];
  for (const piece of read) {
    const start = tokens.length;
    if ("board" in piece) {
      piece.board.forEach((token, slot) => {
        tokens.push(token);
        values.push(0);
        slots.push(slot);
        blocks.push(start);
      });
    } else {
      tokens.push(piece.token);
      values.push(piece.value ?? 0);
      slots.push(NO_SLOT);
      blocks.push(start);
    }
  }
  const t = tokens.length;
  const placed = input("slots", [1, t], "int32");
  const x = network.embed({
    tokens: input("tokens", [1, t], "int32"),
    values: input("values", [1, t]),
    slots: placed.transpose(),
  });
  const bounds = input("blocks", [1, t], "int32");
  const prefix = network.readPrefix(x, prefixMask(bounds), inBlocks(bounds, placed));
  const session = await Session.open(
    exportOnnx({
      board: network.board.apply(network.read(x, "causal")),
      policy: network.policy.apply(prefix),
      thinking: network.thinking.apply(prefix),
      winLoss: network.expectedWinLoss(network.winLoss.apply(prefix)),
      draw: network.expectedDraw(network.draw.apply(prefix)),
    }),
    { threads: 1 },
  );
  const results = await session.run({
    tokens: Int32Array.from(tokens),
    values: Float32Array.from(values),
    ...(network.slots && { slots: Int32Array.from(slots) }),
    blocks: Int32Array.from(blocks),
  });
  await session.close();
  return (name: keyof Spoken, place: number): number[] => {
    const data = results[name].data as Float32Array;
    return [...data.subarray((place * data.length) / t, ((place + 1) * data.length) / t)];
  };
}

for (const [name, config] of [
  ["told its slots and the squares of moves", { ...DECODER_SIZES.tiny, squares: 0 }],
  ["with heads that see like pieces", { ...DECODER_SIZES.tiny, heads: 4, pieceHeads: 3, squares: 0 }],
  ["as published", { ...DECODER_SIZES.tiny, slots: false, squares: 0, movesBySquares: false }],
] satisfies [string, DecoderConfig][]) {
  test(`a decoder ${name} says the same with caches as without, token by token in both passes`, async () => {
    const network = new Decoder(config, new Random(1));
    const reader = await DecoderReader.open(network, { threads: 1, capacity: 300 });
    onTestFinished(() => reader.close());
    const read = pieces();
    const expected = await uncached(network, read);
    for (const piece of read) {
      const spoken =
        "board" in piece ? await reader.board(piece.board) : await reader.token(piece.token, piece.value ?? 0);
      for (const head of ["board", "policy", "thinking", "winLoss", "draw"] as const) {
        const found = spoken[head];
        const list = typeof found === "number" ? [found] : [...found];
        const whole = expected(head, reader.length - 1);
        const error = list.reduce((most, value, i) => Math.max(most, Math.abs(value - whole[i])), 0);
        assert.ok(list.length === whole.length && error < 2e-4, `${head} at ${reader.length}: ${error}`); // 32 bits
      }
    }
  });
}

test("a sequence that was cut back goes on as if the rest had never been", async () => {
  const network = new Decoder(DECODER_SIZES.tiny, new Random(1));
  const reader = await DecoderReader.open(network, { threads: 1, capacity: 300 });
  onTestFinished(() => reader.close());
  const [first, , move] = pieces() as [{ board: Uint16Array }, unknown, { token: number }];
  await reader.board(first.board);
  const before = await reader.token(move.token);
  await reader.board(first.board);
  await reader.truncate(BOARD_TOKENS);
  assert.deepEqual(await reader.token(move.token), before);
  assert.equal(reader.room, 300 - BOARD_TOKENS - 1);
});
