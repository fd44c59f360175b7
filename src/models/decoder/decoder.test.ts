import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { parseFen, START_FEN } from "#chess";
import { BOARD_TOKENS, encodeBoard68, MOVE_TABLES, tokenId } from "#encodings";
import { attention, constant, exportOnnx, input, Session, type Tensor } from "#tensor";
import { randomPositions } from "../export.js";
import { checkDecoder, DECODER_SIZES, type DecoderConfig, drawCentres, winLossCentres } from "./config.js";
import { decoderInference } from "./inference.js";
import { Decoder, GAME_BLOCKS, NO_SLOT, POSITION_TOKENS, prefixMask } from "./network.js";
import { inGames } from "./sights.js";

const LENGTH = 2 * POSITION_TOKENS;
const FIRST = BOARD_TOKENS - 1; // the side to move of the first board, the start of the second, its side to move
const SECOND = POSITION_TOKENS;
const LAST = SECOND + BOARD_TOKENS - 1;

/** Which keys each of the places of a worked example sees, by what its weights are. */
async function seenFrom(mask: (blocks: Tensor) => Parameters<typeof attention>[4]): Promise<boolean[][]> {
  // Keys that are all alike get the same weight; the values tell them apart by one channel each.
  const blocks = Array.from({ length: LENGTH }, (_, i) => {
    const place = i % POSITION_TOKENS;
    return place < BOARD_TOKENS ? i - place : i;
  });
  const same = constant(new Float32Array(LENGTH * LENGTH), [LENGTH, 1, LENGTH]);
  const values = Array.from({ length: LENGTH * LENGTH }, (_, i) => (Math.floor(i / LENGTH) === i % LENGTH ? 1 : 0));
  const ids = input("blocks", [1, LENGTH], "int32");
  const mixed = attention(same, same, constant(values, [LENGTH, 1, LENGTH]), 1, mask(ids));
  const session = await Session.open(exportOnnx({ mixed: mixed.add(ids.cast("float32").mul(0).sum()) }), {
    threads: 1,
  });
  const { data } = (await session.run({ blocks: Int32Array.from(blocks) })).mixed;
  await session.close();
  return Array.from({ length: LENGTH }, (_, i) =>
    Array.from({ length: LENGTH }, (_, j) => Number(data[i * LENGTH + j]) > 1e-6),
  );
}

const upTo = (last: number): boolean[] => Array.from({ length: LENGTH }, (_, i) => i <= last);

for (const [name, mask] of [
  ["by block ids", prefixMask],
  ["block by block", () => GAME_BLOCKS],
] as const) {
  test(`the prefix mask ${name} is the document's at places 67, 71 and 138`, async () => {
    const seen = await seenFrom(mask);
    assert.deepEqual([FIRST, SECOND, LAST], [67, 71, 138]);
    assert.deepEqual(seen[FIRST], upTo(67));
    assert.deepEqual(seen[0], upTo(67));
    assert.deepEqual(seen[SECOND], upTo(138));
    assert.deepEqual(seen[LAST], upTo(138));
    for (const alone of [68, 69, 70, 139, 140, 141]) assert.deepEqual(seen[alone], upTo(alone));
  });
}

test("the causal mask is a triangle", async () => {
  const seen = await seenFrom(() => "causal");
  for (const place of [0, FIRST, SECOND, LAST]) assert.deepEqual(seen[place], upTo(place));
});

/** Two positions of a game: tokens and values. */
function example(): { tokens: Int32Array; values: Float32Array } {
  const position = parseFen(START_FEN);
  const tokens = new Int32Array(LENGTH);
  const values = new Float32Array(LENGTH);
  const board = new Uint16Array(BOARD_TOKENS);
  for (const [at, move, winLoss] of [
    [0, 322, 0.25],
    [SECOND, 900, -0.5],
  ]) {
    encodeBoard68(position, board);
    tokens.set(board, at);
    tokens.set([move, tokenId("wl_value"), tokenId("d_value")], at + BOARD_TOKENS);
    values.set([winLoss, 0.4], at + BOARD_TOKENS + 1);
    position.play(position.moves()[0]);
  }
  return { tokens, values };
}

/** What both passes make of each token of the example, changed or not. */
async function openPasses(config: DecoderConfig = DECODER_SIZES.tiny) {
  const network = new Decoder(config, new Random(1));
  const slots = Array.from({ length: LENGTH }, (_, i) => Math.min(i % POSITION_TOKENS, NO_SLOT));
  const x = network.embed({
    tokens: input("tokens", [1, LENGTH], "int32"),
    values: input("values", [1, LENGTH]),
    slots: constant(slots, [LENGTH, 1], "int32"),
  });
  const session = await Session.open(
    exportOnnx({
      causal: network.read(x, "causal"),
      prefix: network.readPrefix(x, GAME_BLOCKS, inGames(POSITION_TOKENS)),
    }),
    { threads: 1 },
  );
  const { width } = network.config;
  /** The places whose outputs differ between two inputs. */
  const changed = async (pass: "causal" | "prefix", change: (feeds: ReturnType<typeof example>) => void) => {
    const feeds = example();
    const before = (await session.run(feeds))[pass].data as Float32Array;
    change(feeds);
    const after = (await session.run(feeds))[pass].data as Float32Array;
    return Array.from({ length: LENGTH }, (_, i) => i).filter((place) =>
      before.subarray(place * width, (place + 1) * width).some((value, k) => value !== after[place * width + k]),
    );
  };
  return { changed, close: () => session.close() };
}

test("changing a token changes no earlier output of the causal pass", async () => {
  const { changed, close } = await openPasses();
  for (const place of [5, FIRST, SECOND - 3, SECOND + 9, LAST]) {
    const places = await changed("causal", ({ tokens }) => {
      tokens[place] = tokenId("Q");
    });
    assert.equal(places[0], place);
  }
  await close();
});

const SEEING: DecoderConfig = { ...DECODER_SIZES.tiny, heads: 4, pieceHeads: 3 };

test("changing a square changes the prefix pass inside its board and after it, never before it", async () => {
  for (const config of [DECODER_SIZES.tiny, SEEING]) {
    const { changed, close } = await openPasses(config);
    const places = await changed("prefix", ({ tokens }) => {
      tokens[SECOND + 40] = tokenId("Q");
    });
    assert.equal(places[0], SECOND);
    assert.equal(places.length, POSITION_TOKENS);
    await close();
  }
});

test("with a head that sees like a rook and nothing else, a square of the prefix pass depends on its rank and file", async () => {
  const config = { ...DECODER_SIZES.tiny, layers: 1, pieceHeads: 1 };
  const network = new Decoder(config, new Random(1));
  const { out } = network.layers[0];
  out.weight.data.fill(0, (config.width / config.heads) * config.width); // of the other head
  const x = network.embed({
    tokens: input("tokens", [1, LENGTH], "int32"),
    values: input("values", [1, LENGTH]),
    slots: constant(
      Array.from({ length: LENGTH }, (_, i) => Math.min(i % POSITION_TOKENS, NO_SLOT)),
      [LENGTH, 1],
      "int32",
    ),
  });
  const prefix = network.readPrefix(x, GAME_BLOCKS, inGames(POSITION_TOKENS));
  const session = await Session.open(exportOnnx({ prefix }), { threads: 1 });
  const read = async (feeds: ReturnType<typeof example>) => (await session.run(feeds)).prefix.data as Float32Array;
  const before = await read(example());
  const changed = example();
  const [file, rank] = [3, 4];
  changed.tokens[SECOND + 1 + rank * 8 + file] = tokenId("Q");
  const after = await read(changed);
  await session.close();
  const { width } = config;
  const differs = (place: number) =>
    after.subarray(place * width, (place + 1) * width).some((value, i) => value !== before[place * width + i]);
  for (let square = 0; square < 64; square++) {
    assert.equal(differs(SECOND + 1 + square), square % 8 === file || square >> 3 === rank, `square ${square}`);
    assert.ok(!differs(1 + square), "the other board");
  }
  assert.ok(differs(SECOND) && differs(SECOND + 67), "other tokens of a board see all of it");
  assert.ok(!differs(SECOND + 68), "the move's token sees no board with this head");
});

test("no label reaches the place that predicts it: moves, values", async () => {
  const { changed, close } = await openPasses();
  const move = SECOND + BOARD_TOKENS;
  for (const pass of ["causal", "prefix"] as const) {
    const moved = await changed(pass, ({ tokens }) => {
      tokens[move] = 17;
    });
    assert.equal(moved[0], move, "the side to move, which says the move, must not see it");
    const won = await changed(pass, ({ values }) => {
      values[move + 1] = 0.9;
    });
    assert.equal(won[0], move + 1, "the move, which says win minus loss, must not see it");
    const drawn = await changed(pass, ({ values }) => {
      values[move + 2] = 0.9;
    });
    assert.equal(drawn[0], move + 2, "the win minus loss, which says the draws, must not see them");
  }
  await close();
});

test("a value is read at value tokens only", async () => {
  const { changed, close } = await openPasses();
  assert.deepEqual(
    await changed("causal", ({ values }) => {
      values[3] = 0.7;
    }),
    [],
  );
  await close();
});

test.each([
  ["all heads alike", DECODER_SIZES.tiny],
  ["heads that see like pieces", SEEING],
])("%s: one look at a position says what reading it as a game says, and shares that add up", async (_, config) => {
  const network = new Decoder(config, new Random(1));
  const { outputs, feeds } = decoderInference(network);
  const session = await Session.open(exportOnnx(outputs), { threads: 1 });
  const positions = randomPositions(3, 1);
  const [asked] = feeds(positions);
  const { policy, value, wdl } = await session.run(asked);
  await session.close();

  const x = network.embed({
    tokens: input("tokens", ["n", POSITION_TOKENS], "int32"),
    values: input("values", ["n", POSITION_TOKENS]),
    slots: constant(
      Array.from({ length: POSITION_TOKENS }, (_, i) => Math.min(i, NO_SLOT)),
      [POSITION_TOKENS, 1],
      "int32",
    ),
  });
  const prefix = network.readPrefix(x, GAME_BLOCKS, inGames(POSITION_TOKENS)).reshape([1, POSITION_TOKENS, "n", -1]);
  const at = (place: number) => prefix.slice(1, place, place + 1).reshape(["n", network.config.width]);
  const whole = await Session.open(
    exportOnnx({
      policy: network.movesAt(at(67), prefix.slice(1, 1, 65), "policy"),
      value: network.expectedWinLoss(network.winLoss.apply(at(68))),
      draw: network.expectedDraw(network.draw.apply(at(69))),
    }),
    { threads: 1 },
  );
  for (const [i, position] of positions.entries()) {
    const logits = (policy.data as Float32Array).subarray(i * 1924, (i + 1) * 1924);
    const legal = position.moves().map((move) => MOVE_TABLES.moves1924.encode(position, move));
    const best = legal.reduce((a, b) => (logits[b] > logits[a] ? b : a));
    const tokens = new Int32Array(POSITION_TOKENS);
    tokens.set((asked.tokens as Int32Array).subarray(i * BOARD_TOKENS, (i + 1) * BOARD_TOKENS));
    tokens.set([best, tokenId("wl_value"), tokenId("d_value")], BOARD_TOKENS);
    const values = new Float32Array(POSITION_TOKENS);
    values[BOARD_TOKENS + 1] = Number(value.data[i]);
    const read = await whole.run({ tokens, values });
    assert.ok(logits.every((logit, k) => Math.abs(logit - Number(read.policy.data[k])) < 1e-4)); // 32 bits
    assert.ok(Math.abs(Number(value.data[i]) - Number(read.value.data[0])) < 1e-5);
    const [win, draw, loss] = (wdl.data as Float32Array).subarray(3 * i, 3 * i + 3);
    assert.ok(Math.abs(draw - Number(read.draw.data[0])) < 1e-5);
    assert.ok(Math.abs(win + draw + loss - 1) < 1e-5 && Math.abs(win - loss - Number(value.data[i])) < 1e-5);
  }
  await whole.close();
});

test("centres of values ascend from one end to the other, those of win minus loss densest around nothing", () => {
  const centres = winLossCentres(100);
  assert.equal(centres[0], -1);
  assert.equal(centres[99], 1);
  assert.ok(Math.abs(centres[50] - 0.4 * 0.012533) < 1e-5); // 0.4 * the normal quantile of 0.505
  for (let i = 1; i < 100; i++) assert.ok(centres[i] > centres[i - 1]);
  assert.deepEqual([drawCentres(100)[0], drawCentres(100)[99]], [0, 1]);
});

test("a config whose heads do not fit is refused", () => {
  assert.match(checkDecoder({ ...DECODER_SIZES.tiny, heads: 5 }) ?? "", /does not divide/);
  assert.match(checkDecoder({ ...DECODER_SIZES.tiny, pieceHeads: 2 }) ?? "", /one at least must see all tokens/);
  assert.match(checkDecoder({ ...DECODER_SIZES.tiny, width: 6, heads: 2 }) ?? "", /even/);
});
