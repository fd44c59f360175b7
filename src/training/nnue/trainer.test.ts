import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { foldFeatures, NNUE_SIZES, Nnue, type NnueConfig, nnueOutput, quantisationError, quantiseNnue } from "#models";
import { parametersOf } from "#tensor";
import { packSamples, randomSamples, referenceLoss } from "./testing.js";
import { NnueTrainer, type NnueTrainerOptions } from "./trainer.js";

const OPTIONS: NnueTrainerOptions = {
  batchSize: 64,
  threads: 1,
  target: { scoreScale: 300, resultShare: 0.3, quiet: false, scoreLimit: 32_000 },
  optimiser: { name: "sgd", momentum: 0, weightDecay: 0 },
};

// Two slices of neurons each.
const CONFIGS: Record<string, NnueConfig> = {
  wide: { ...NNUE_SIZES.base, hidden: 64, outputs: 4 },
  halfkp: { ...NNUE_SIZES.halfkp, hidden: 64 },
};

async function opened<T>(
  network: Nnue,
  options: Partial<NnueTrainerOptions>,
  use: (trainer: NnueTrainer) => Promise<T>,
): Promise<T> {
  const trainer = await NnueTrainer.open(network, { ...OPTIONS, ...options });
  try {
    return await use(trainer);
  } finally {
    await trainer.close();
  }
}

const copyOf = (network: Nnue) => parametersOf(network).map(({ data }) => data.slice());

for (const [name, config] of Object.entries(CONFIGS)) {
  test(`${name}: gradients are those of the loss, computed once more in double precision`, async () => {
    const network = new Nnue(config, new Random(3));
    const random = new Random(5);
    // Every king's own weights matter too: they begin with nothing where the network is factorised.
    for (let i = 0; i < network.features.data.length; i++) network.features.data[i] += (random.next() - 0.5) * 0.1;
    const samples = randomSamples(48, 1);
    const before = copyOf(network);
    const target = OPTIONS.target;
    const [loss, after] = await opened(network, {}, async (trainer) => {
      const measured = await trainer.step([{ records: packSamples(samples) }], { learningRate: 1 });
      await trainer.pull();
      return [measured.loss, copyOf(network)];
    });
    parametersOf(network).forEach(({ data }, i) => {
      data.set(before[i]);
    });
    assert.ok(Math.abs(loss - referenceLoss(network, samples, target)) < 1e-6);

    let compared = 0;
    parametersOf(network).forEach(({ name: parameter, data }, p) => {
      // With rate 1 the step is the gradient.
      const gradient = data.map((value, i) => value - after[p][i]);
      const moved = [...gradient.keys()].filter((i) => gradient[i] !== 0);
      assert.ok(moved.length > 0, `${parameter} has a gradient`);
      for (let n = 0; n < 12; n++) {
        const i = random.pick(moved);
        const kept = data[i];
        const epsilon = 1e-5; // in the weight, a float; the loss is in doubles
        data[i] = kept + epsilon;
        const [above, high] = [referenceLoss(network, samples, target), data[i]];
        data[i] = kept - epsilon;
        const slope = (above - referenceLoss(network, samples, target)) / (high - data[i]);
        data[i] = kept;
        // The curve within epsilon, and neurons that begin or cease to be clipped there, account for the tolerance.
        const tolerance = 1e-6 + 0.005 * Math.abs(slope);
        assert.ok(Math.abs(slope - gradient[i]) < tolerance, `${parameter}[${i}]: ${gradient[i]}, expected ${slope}`);
        compared++;
      }
    });
    assert.ok(compared >= 48);
  });

  test(`${name}: predictions are those of the network written down once more`, async () => {
    const network = new Nnue(config, new Random(4));
    const samples = randomSamples(40, 2);
    const { outputs, scores, results } = await opened(network, { optimiser: undefined }, async (trainer) => {
      return trainer.predict({ records: packSamples(samples) });
    });
    samples.forEach(({ position, score, result }, i) => {
      assert.ok(Math.abs(outputs[i] - nnueOutput(network, position)) < 1e-5);
      assert.deepEqual([scores[i], results[i]], [score, result]);
    });
  });

  test(`${name}: two and three threads give the weights that one gives, bit for bit`, async () => {
    const batches = [1, 2, 3].map((seed) => ({ records: packSamples(randomSamples(60, seed)) }));
    const trained = async (threads: number) => {
      const network = new Nnue(config, new Random(6));
      return opened(network, { threads, optimiser: { name: "adamw" }, ema: 0.9 }, async (trainer) => {
        for (const batch of batches) await trainer.step([batch], { learningRate: 0.01 });
        await trainer.pull();
        const weights = copyOf(network);
        await trainer.pull({ ema: true });
        return [...weights, ...copyOf(network)];
      });
    };
    const alone = await trained(1);
    assert.deepEqual(await trained(2), alone);
    assert.deepEqual(await trained(3), alone);
  });

  for (const optimiser of ["adamw", "adadelta"] as const) {
    test(`${name}: learns eight positions by heart with ${optimiser}`, async () => {
      const network = new Nnue(config, new Random(7));
      const batch = { records: packSamples(randomSamples(8, 4)) };
      const loss = await opened(network, { optimiser: { name: optimiser } }, async (trainer) => {
        let last = 1;
        for (let step = 0; step < 250; step++)
          last = (await trainer.step([batch], { learningRate: optimiser === "adamw" ? 0.01 : 1 })).loss;
        return last;
      });
      assert.ok(loss < 1e-3, `loss ${loss}`);
    });
  }
}

// A batch of 3,200 points of view: more than a tile of positions in a block, and, where all kings share their inputs, more than
// are added up at once.
for (const [name, config] of Object.entries({ ...CONFIGS, tiny: NNUE_SIZES.tiny })) {
  test(`${name}: positions that come four times count as if they came once`, async () => {
    const records = packSamples(randomSamples(400, 12));
    const trained = async (times: number) => {
      const network = new Nnue(config, new Random(13));
      const batch = { records: new Uint8Array(Array.from({ length: times }, () => [...records]).flat()) };
      return opened(network, { batchSize: 400 * times }, async (trainer) => {
        await trainer.step([batch], { learningRate: 1 });
        await trainer.pull();
        return copyOf(network);
      });
    };
    const [once, often] = [await trained(1), await trained(4)];
    once.forEach((expected, p) => {
      const off = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - often[p][i])), 0);
      assert.ok(off < 1e-6, `parameter ${p} is off by ${off}`); // sums of floats in another order
    });
  });
}

test("what is kept of a weight stands in the state where the weight stands", async () => {
  const network = new Nnue(CONFIGS.halfkp, new Random(14));
  const before = copyOf(network);
  const optimiser = { name: "sgd", momentum: 0.9, weightDecay: 0 } as const;
  const { tensors } = await opened(network, { optimiser }, async (trainer) => {
    await trainer.step([{ records: packSamples(randomSamples(50, 3)) }], { learningRate: 1 });
    await trainer.pull();
    return trainer.state();
  });
  parametersOf(network).forEach(({ name, data, shape }, p) => {
    const kept = tensors[`momentum_buffer.${name}`];
    assert.deepEqual(kept.shape, shape);
    // After a first step of rate 1 the momentum is what the weight has lost.
    data.forEach((value, i) => {
      assert.ok(Math.abs(before[p][i] - value - Number(kept.data[i])) < 1e-6, `${name}[${i}]`);
    });
  });
});

test("inputs that do not occur in a batch stay as they are, unless every row is asked for", async () => {
  const records = packSamples(randomSamples(20, 15));
  const moved = async (everyRow: boolean) => {
    const network = new Nnue({ ...CONFIGS.wide, factorised: false }, new Random(16));
    const before = network.features.data.slice();
    const options = { everyRow, optimiser: { name: "adamw", weightDecay: 0.1 } } as const;
    await opened(network, options, async (trainer) => {
      await trainer.step([{ records }], { learningRate: 0.01 });
      await trainer.pull();
    });
    return network.features.data.filter((value, i) => value !== before[i]).length / before.length;
  };
  assert.ok((await moved(false)) < 0.5);
  assert.ok((await moved(true)) > 0.99); // weights that are zero do not shrink
});

test("a restored trainer goes on as the other would have", async () => {
  const batches = [1, 2, 3, 4].map((seed) => ({ records: packSamples(randomSamples(50, seed)) }));
  const options = { optimiser: { name: "adamw", weightDecay: 0.01 }, ema: 0.9 } as const;
  const network = new Nnue(CONFIGS.wide, new Random(8));
  const expected = await opened(network, options, async (trainer) => {
    for (const batch of batches) await trainer.step([batch], { learningRate: 0.01 });
    await trainer.pull();
    return [copyOf(network), await trainer.state()];
  });
  const other = new Nnue(CONFIGS.wide, new Random(8));
  const state = await opened(other, options, async (trainer) => {
    for (const batch of batches.slice(0, 2)) await trainer.step([batch], { learningRate: 0.01 });
    await trainer.pull();
    return trainer.state();
  });
  const found = await opened(other, options, async (trainer) => {
    await trainer.restore(state);
    for (const batch of batches.slice(2)) await trainer.step([batch], { learningRate: 0.01 });
    await trainer.pull();
    return [copyOf(other), await trainer.state()];
  });
  assert.deepEqual(found, expected);
});

test("a bad record is named and nothing is learnt from its batch", async () => {
  const network = new Nnue(CONFIGS.wide, new Random(9));
  const before = copyOf(network);
  const records = packSamples(randomSamples(40, 5));
  records.fill(255, 33 * 40, 33 * 40 + 32);
  await opened(network, { threads: 2 }, async (trainer) => {
    const step = trainer.step([{ records }], { learningRate: 1 });
    await assert.rejects(step, /record 33 /);
    await trainer.pull();
    assert.deepEqual(copyOf(network), before);
    const good = packSamples(randomSamples(40, 5));
    assert.ok((await trainer.step([{ records: good }], { learningRate: 1 })).loss > 0);
  });
});

test("weights that a byte must hold stay within what it holds", async () => {
  const network = new Nnue({ ...NNUE_SIZES.halfkp, hidden: 32 }, new Random(10));
  const batch = { records: packSamples(randomSamples(30, 6)) };
  await opened(network, { optimiser: { name: "adamw" } }, async (trainer) => {
    for (let step = 0; step < 30; step++) await trainer.step([batch], { learningRate: 0.3 });
    await trainer.pull();
  });
  const largest = (data: Float32Array) => data.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  assert.equal(largest(network.first!.weight.data), Math.fround(127 / 64));
  assert.ok(largest(network.output.weight.data) <= Math.fround((127 * 127) / 9600));
});

const VALUES = { pawn: 100, knight: 300, bishop: 320, rook: 500, queen: 900, king: 0 };

/** Learns to count material, roughly. */
async function learn(config: NnueConfig): Promise<Nnue> {
  const network = new Nnue(config, new Random(11));
  const samples = randomSamples(512, 7).map(({ position }) => {
    const values = [...position.pieces()].map(({ role, color }) => VALUES[role] * (color === position.turn ? 1 : -1));
    return { position, score: values.reduce((a, b) => a + b, 0), result: 0 };
  });
  const batch = { records: packSamples(samples) };
  const target = { ...OPTIONS.target, resultShare: 0 };
  return opened(network, { batchSize: 512, threads: 2, target, optimiser: { name: "adamw" } }, async (trainer) => {
    for (let step = 0; step < 60; step++) await trainer.step([batch], { learningRate: 0.003 });
    await trainer.pull();
    return network;
  });
}

test("quantised values stay near the floats', and swapped scales would show", async () => {
  const positions = randomSamples(200, 8).map(({ position }) => position);
  // What it costs in centipawns on average: bytes for the 512 x 32 weights of HalfKP are coarser than the other's scales.
  for (const [size, limit] of [
    ["base", 1],
    ["halfkp", 6],
  ] as const) {
    const network = await learn(NNUE_SIZES[size]);
    const weights = quantiseNnue(network);
    const { mean } = quantisationError(network, weights, positions);
    assert.ok(mean < limit, `${size}: ${mean} centipawns`);
    if (weights.kind !== "halfkp") continue;
    // The scales of hidden and output layers the wrong way round, as the program had them that first wrote .jnn.
    const swapped = quantiseNnue(network) as typeof weights;
    const scale = (array: Int8Array | Int32Array, factor: number) =>
      array.set(array.map((x) => Math.round(x * factor)));
    for (const layer of ["first", "second"] as const) {
      scale(swapped[`${layer}Weights`], 9600 / 127 / 64);
      scale(swapped[`${layer}Bias`], 9600 / 8128);
    }
    scale(swapped.outputWeights, 64 / (9600 / 127));
    scale(swapped.outputBias, 8128 / 9600);
    assert.ok(quantisationError(network, swapped, positions).mean > 4 * limit);
  }
});

test("folding adds what all kings share to each king's own weights, exactly", async () => {
  const network = await learn(CONFIGS.wide);
  const folded = foldFeatures(network);
  const { features, shared, config } = network;
  const { hidden } = config;
  for (const [row, neuron] of [
    [0, 0],
    [767, 3],
    [768, 0],
    [3000, 31],
  ]) {
    const own = features.data[row * hidden + neuron];
    assert.equal(folded[row * hidden + neuron], Math.fround(own + shared!.data[(row % 768) * hidden + neuron]));
  }
  const plain = new Nnue({ ...config, factorised: false }, new Random(1));
  plain.features.data.set(folded);
  plain.bias.data.set(network.bias.data);
  plain.output.weight.data.set(network.output.weight.data);
  plain.output.bias.data.set(network.output.bias.data);
  const records = packSamples(randomSamples(50, 9));
  const outputs = (net: Nnue) =>
    opened(net, { optimiser: undefined }, async (trainer) => {
      return (await trainer.predict({ records })).outputs;
    });
  assert.deepEqual(await outputs(plain), await outputs(network));
});
