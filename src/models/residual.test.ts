import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { type Position, parseFen, parseUci, START_FEN } from "#chess";
import { batchOf, MOVE_TABLES } from "#encodings";
import { crossEntropy, exportOnnx, gradients, input, parametersOf, Session, type Tensor, Trainer } from "#tensor";
import { BOARDS, RESIDUAL, RESIDUAL_SIZES, Residual, type ResidualConfig, residualInference } from "./residual.js";

/** Positions of random games with a legal move each, as a batch. */
function randomBatch(board: ResidualConfig["board"], count: number, seed: number) {
  const random = new Random(seed);
  const table = MOVE_TABLES[BOARDS[board].moves];
  const size = BOARDS[board].planes * 64;
  const planes = new Float32Array(count * size);
  const legal = new Uint8Array(count * table.size);
  const move = new Int32Array(count);
  let position = parseFen(START_FEN);
  for (let i = 0; i < count; i++) {
    for (let ply = 0; ply < 3; ply++) {
      const next = position.outcome() ? undefined : random.pick(position.moves());
      if (next === undefined) position = parseFen(START_FEN);
      else position.play(next);
    }
    if (position.outcome()) position = parseFen(START_FEN);
    planes.set(batchOf(position).planes(board, 1), i * size);
    const moves = position.moves();
    for (const each of moves) legal[i * table.size + table.encode(position, each)] = 1;
    move[i] = table.encode(position, random.pick(moves));
  }
  return { planes, legal, move };
}

function build(config: ResidualConfig, seed = 1) {
  const { planes: count, moves } = BOARDS[config.board];
  const net = new Residual(config, new Random(seed));
  const planes = input("planes", ["n", count, 8, 8]);
  const legal = input("legal", ["n", MOVE_TABLES[moves].size], "bool");
  const move = input("move", ["n"], "int32");
  const { policy, value, wdl } = net.forward(planes);
  return { net, policy, value, wdl, legal, move };
}

const { tiny } = RESIDUAL_SIZES;
const KINDS: [string, ResidualConfig][] = [
  ["18 planes, convolutional policy, win/draw/loss", tiny],
  ["13 planes, convolutional policy, squeeze-excitation", { ...tiny, board: "planes13", squeeze: 4 }],
  ["112 planes, convolutional policy, win/draw/loss", { ...tiny, board: "lc0-112" }],
  ["112 planes, dense policy, tanh", { ...tiny, board: "lc0-112", policyHead: "dense", valueHead: "tanh" }],
  ["13 planes, dense policy, tanh of the average", { ...RESIDUAL_SIZES.published, width: 16, blocks: 1 }],
];

for (const [name, config] of KINDS) {
  test(`${name}: learns the moves of 64 positions by heart`, async () => {
    const { net, policy, legal, move } = build(config);
    const masked = legal.where(policy, -1e9);
    const accuracy = masked.argmax().cast("int32").equal(move).cast("float32").mean();
    const batch = randomBatch(config.board, 64, 7);
    const trainer = await Trainer.open({
      model: net,
      loss: crossEntropy(policy, move, legal).mean(),
      metrics: { accuracy },
      optimiser: { name: "adamw", weightDecay: 0 },
      learningRate: 0.01,
    });
    let reached = 0;
    for (let step = 0; step < 200 && reached < 1; step++) reached = (await trainer.step(batch)).accuracy;
    await trainer.close();
    assert.ok(reached > 0.99, `accuracy ${reached}`);
  });
}

test("the published size has the published number of parameters", () => {
  const count = (config: ResidualConfig) =>
    parametersOf(new Residual(config, new Random(1))).reduce((sum, p) => sum + (p.trainable ? p.data.length : 0), 0);
  assert.equal(count(RESIDUAL_SIZES.published), 9_093_921); // 8.4 to 8.8 million as published for 4096 moves
  assert.ok(count(RESIDUAL_SIZES.base) < 450_000);
});

test("the value is win minus loss, and every legal move has a logit of its own", async () => {
  for (const [, config] of KINDS) {
    const { policy, value, wdl } = build(config);
    const session = await Session.open(exportOnnx(wdl ? { policy, value, wdl } : { policy, value }));
    const position = parseFen("rnb1k2r/pP3ppp/8/3pP3/8/2N2N2/PpP2PPP/R3K2R w KQkq d6 0 9");
    const table = MOVE_TABLES[BOARDS[config.board].moves];
    for (const side of [position, parseFen("rnb1k2r/pP3ppp/8/3p4/3Pp3/2N2N2/PpP2PPP/R3K2R b KQkq d3 0 9")]) {
      const results = await session.run({ planes: batchOf(side).planes(config.board, 1).slice() });
      const logits = side.moves().map((move) => results.policy.data[table.encode(side, move)]);
      assert.equal(new Set(logits).size, logits.length);
      assert.ok(!logits.includes(0), "a logit of 0 is that of no move");
      const [v] = results.value.data as Float32Array;
      assert.ok(Math.abs(v) < 1);
      if (!wdl) continue;
      const [win, draw, loss] = Array.from(results.wdl.data as Float32Array, Math.exp);
      assert.ok(Math.abs(v - (win - loss) / (win + draw + loss)) < 1e-6); // single precision
    }
    await session.close();
  }
});

test("the logits of some moves, asked for one by one, are those among all of them, and have the same gradients", async () => {
  for (const [, config] of KINDS) {
    const n = 6;
    const net = new Residual(config, new Random(2));
    const { policy, policyOf } = net.forward(input("planes", [n, BOARDS[config.board].planes, 8, 8]));
    const moves = input("moves", [n, 3], "int32");
    const { planes, move } = randomBatch(config.board, n, 3);
    const size = MOVE_TABLES[BOARDS[config.board].moves].size;
    const batch = { planes, moves: Int32Array.from({ length: 3 * n }, (_, i) => (i % 3 === 0 ? move[i / 3] : (i * 997) % size)) }; // biome-ignore format: a list
    const loss = (logits: Tensor) => logits.square().mean();
    const [weight] = parametersOf(net.policy);
    const [some, all] = [loss(policyOf(moves)), loss(policy.take(moves))];
    const session = await Session.open(
      exportOnnx({ some, all, dSome: gradients(some, [weight])[0], dAll: gradients(all, [weight])[0] }),
    );
    const results = await session.run(batch);
    await session.close();
    const near = (a: ArrayLike<number | bigint>, b: ArrayLike<number | bigint>) =>
      Array.from(a, (x, i) => assert.ok(Math.abs(Number(x) - Number(b[i])) < 1e-5)); // sums in another order
    near(results.some.data, results.all.data);
    near(results.dSome.data, results.dAll.data);
  }
});

test("a repeated position looks new to a network, unless its config says that it knows repetitions", () => {
  const start = parseFen(START_FEN);
  const again = parseFen(START_FEN);
  for (const uci of ["g1f3", "g8f6", "f3g1", "f6g8"]) again.play(parseUci(again, uci)!);
  const planes = (repetitions: boolean, position: Position) => {
    const network = RESIDUAL.build({ ...RESIDUAL_SIZES.tiny, repetitions }, new Random(1));
    return residualInference(network).feeds([position])[0].planes;
  };
  assert.deepEqual(planes(false, again), planes(false, start));
  assert.notDeepEqual(planes(true, again), planes(true, start));
});
