import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { parseFen, START_FEN } from "#chess";
import { FEN_TOKENS, MOVE_TABLES } from "#encodings";
import { exportOnnx, input, parametersOf, Session } from "#tensor";
import { encodeActionInput } from "./action-input.js";
import { checkMoe, MOE_SIZES, Moe, type MoeConfig } from "./moe.js";

const { tiny, published } = MOE_SIZES;
const FENS = [
  START_FEN,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 3 41",
];

const session = async (net: Moe, n: number | "n", queries: number | "q") => {
  const answer = net.forward(input("tokens", [n, FEN_TOKENS], "int32"), input("actions", [n, queries], "int32"));
  return Session.open(exportOnnx({ value: net.values(answer), logits: answer.logits }), { threads: 1 });
};

/** What the network sees of a position and of all its legal moves. */
function inputOf(fen: string, turned: boolean) {
  const position = parseFen(fen);
  const { tokens, numberOf } = encodeActionInput(position, turned);
  const actions = position.moves().map((move) => numberOf(MOVE_TABLES.actions1968.encode(position, move)));
  return { tokens: Int32Array.from(tokens), actions: Int32Array.from(actions) };
}

const KINDS: [string, MoeConfig][] = [
  ["experts", tiny],
  ["no experts", { ...tiny, experts: 0 }],
  ["queries linked to their squares", { ...tiny, linked: true }],
  ["heads that see like pieces", { ...tiny, pieceHeads: 3 }],
  ["sinusoidal positions, plain experts, moves of a table", { ...tiny, positions: "sinusoidal", gated: false, actions: "table", turned: false }], // biome-ignore format: one kind a line
];

for (const [name, config] of KINDS) {
  test(`${name}: all moves in one pass have the values each has alone, in any company and batch`, async () => {
    const net = new Moe(config, new Random(3));
    const together = await session(net, 1, "q");
    const alone = await session(net, 1, 1);
    const QUERIES = 64;
    const batched = await session(net, "n", QUERIES);
    const inputs = FENS.map((fen) => inputOf(fen, config.turned));
    const actions = new Int32Array(FENS.length * QUERIES);
    for (const [i, { actions: own }] of inputs.entries()) actions.set(own, i * QUERIES);
    const tokens = Int32Array.from(inputs.flatMap(({ tokens }) => [...tokens]));
    const batch = (await batched.run({ tokens, actions })).value.data;
    for (const [i, { tokens, actions }] of inputs.entries()) {
      const whole = (await together.run({ tokens, actions })).value.data;
      assert.equal(whole.length, actions.length);
      assert.ok(new Set(whole as Float32Array).size > 0.9 * whole.length, "moves differ in value");
      for (const [k, action] of actions.entries()) {
        const single = Number((await alone.run({ tokens, actions: Int32Array.of(action) })).value.data[0]);
        assert.ok(Math.abs(Number(whole[k]) - single) < 1e-5, `${whole[k]} together, ${single} alone`); // 32 bits
        assert.ok(Math.abs(Number(batch[i * QUERIES + k]) - single) < 1e-5);
      }
    }
    for (const each of [together, alone, batched]) await each.close();
  });
}

test("with heads that see like pieces, a square learns of another where a rook, a bishop, a knight or a king could go", async () => {
  for (const [pieceHeads, reach] of [
    [1, (file: number, rank: number) => file === 0 || rank === 0],
    [2, (file: number, rank: number) => file === 0 || rank === 0 || file === rank],
    [3, (file: number, rank: number) => file === 0 || rank === 0 || file === rank || file * rank === 2],
  ] as const) {
    const net = new Moe({ ...tiny, heads: 4, pieceHeads }, new Random(4));
    net.layers[0].out.weight.data.fill(0, (tiny.width / 4) * pieceHeads * tiny.width); // of the heads that see everything
    const answer = net.forward(input("tokens", [1, 77], "int32"), input("actions", [1, "q"], "int32"));
    const opened = await Session.open(exportOnnx({ x: answer.inputs[1] }));
    const { tokens, actions } = inputOf(START_FEN, true);
    const statesOf = async (seen: Int32Array) => (await opened.run({ tokens: seen, actions })).x.data as Float32Array;
    const before = await statesOf(tokens);
    for (const changed of [0, 27, 62]) {
      const seen = tokens.slice();
      seen[1 + changed] = tokens[1 + changed] === 20 ? 19 : 20; // another piece
      const after = await statesOf(seen);
      for (let square = 0; square < 64; square++) {
        const at = (1 + square) * tiny.width;
        const differs = after.subarray(at, at + tiny.width).some((value, i) => value !== before[at + i]);
        const file = Math.abs((square % 8) - (changed % 8));
        const rank = Math.abs((square >> 3) - (changed >> 3));
        assert.equal(differs, reach(file, rank), `${pieceHeads} heads: ${square} of ${changed}`);
      }
    }
    await opened.close();
  }
});

test("a linked query is told what stands on the two squares of its move, and on no other", async () => {
  const net = new Moe({ ...tiny, layers: 1, linked: true }, new Random(4));
  for (const part of [net.layers[0].out.weight, net.layers[0].out.bias!]) part.data.fill(0); // no attention
  const opened = await session(net, 1, "q");
  const { tokens, actions } = inputOf(START_FEN, true);
  const valuesWith = async (square?: number) => {
    const seen = tokens.slice();
    if (square !== undefined) seen[1 + (square ^ 56)] = 20; // another piece
    return (await opened.run({ tokens: seen, actions })).value.data as Float32Array;
  };
  const before = await valuesWith();
  for (let square = 0; square < 64; square++) {
    const after = await valuesWith(square);
    for (const [i, action] of actions.entries()) {
      const { from, to } = MOVE_TABLES.actions1968.named(action, false)!;
      assert.equal(after[i] !== before[i], square === from || square === to, `move ${i}, square ${square}`);
    }
  }
  await opened.close();
});

test("a query is its move's embeddings times the root of the width, plus the place of queries, and is normed before the head", async () => {
  // Without layers, the states' lines come out too, before the queries.
  const net = new Moe({ ...tiny, layers: 0 }, new Random(5));
  const { width, buckets } = tiny;
  for (const [i, bias] of [0.3, -0.2, 0.1].entries()) net.norm.bias.data[i] = bias;
  const { actions } = inputOf(FENS[1], true);
  const { logits } = net.forward(input("tokens", [1, FEN_TOKENS], "int32"), input("actions", [1, "q"], "int32"));
  const opened = await Session.open(exportOnnx({ logits }), { threads: 1 });
  const answer = (await opened.run({ tokens: new Int32Array(FEN_TOKENS), actions })).logits.data;
  await opened.close();
  for (const [k, action] of actions.entries()) {
    const { from, to, promotion } = MOVE_TABLES.actions1968.named(action, false)!;
    assert.equal(promotion, undefined);
    const rows = [[net.actions, action], [net.parts[0], from], [net.parts[1], to], [net.parts[2], 0]] as const; // biome-ignore format: a list
    const line = Array.from({ length: width }, (_, i) => {
      const sum = rows.reduce((total, [table, row]) => total + table.weight.data[row * width + i], 0);
      return sum * Math.sqrt(width) + net.places!.data[FEN_TOKENS * width + i];
    });
    const mean = line.reduce((a, b) => a + b) / width;
    const variance = line.reduce((a, b) => a + (b - mean) ** 2, 0) / width;
    const normed = line.map((x, i) => (x - mean) / Math.sqrt(variance + 1e-5) + net.norm.bias.data[i]);
    for (let bucket = 0; bucket < buckets; bucket += 17) {
      const start = net.head.bias!.data[bucket];
      const expected = normed.reduce((a, x, i) => a + x * net.head.weight.data[i * buckets + bucket], start);
      const found = Number(answer[(FEN_TOKENS + k) * buckets + bucket]);
      assert.ok(Math.abs(found - expected) < 1e-4, `${found}, not ${expected}`); // single precision
    }
  }
});

test("the value of a move is the mean of the buckets' centres", async () => {
  const net = new Moe(tiny, new Random(1));
  net.head.weight.data.fill(0);
  net.head.bias!.data.fill(-60);
  net.head.bias!.data[5] = Math.log(3); // 3/4
  net.head.bias!.data[127] = 0; // 1/4
  const opened = await session(net, 1, "q");
  const { value } = await opened.run(inputOf(START_FEN, true));
  await opened.close();
  const expected = (0.75 * 5.5 + 0.25 * 127.5) / 128;
  for (const each of value.data) assert.ok(Math.abs(Number(each) - expected) < 1e-6, `${each}, not ${expected}`);
});

test("a turned network values Black's moves like White's in the mirrored position", () => {
  const white = inputOf("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQq - 0 1", true);
  const black = inputOf("r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b Qkq - 0 1", true);
  assert.deepEqual(black.tokens, white.tokens);
  assert.deepEqual(black.actions.toSorted(), white.actions.toSorted());
  const passant = inputOf("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 9", true);
  assert.deepEqual(inputOf("4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 9", true).tokens, passant.tokens);
});

test("the dense network costs as much as the two experts asked", () => {
  const feed = (config: MoeConfig) =>
    parametersOf(new Moe(config, new Random(1)))
      .filter(({ name }) => /dense|experts\.(gate|up|down)/.test(name))
      .reduce((sum, { data }) => sum + data.length, 0);
  const { layers, width, hidden, experts, topK } = published;
  assert.equal(feed(published), layers * 3 * width * hidden * experts);
  assert.equal(feed({ ...published, experts: 0 }), (feed(published) * topK) / experts);
});

test("settings that do not fit together are refused", () => {
  assert.equal(checkMoe(published), undefined);
  assert.match(checkMoe({ ...published, heads: 5 }) ?? "", /heads is 5/);
  assert.match(checkMoe({ ...published, topK: 9 }) ?? "", /only 8 experts/);
  assert.equal(checkMoe({ ...published, experts: 0, topK: 4 }), undefined);
});
