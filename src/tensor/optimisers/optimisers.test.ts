import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { emaDecayAt, updateEma } from "../ema.js";
import { adadelta } from "./adadelta.js";
import { adam, adamW } from "./adam.js";
import { loadTrainModule, type TrainModule } from "./kernels.js";
import { allocateParameters, view } from "./layout.js";
import { clipScale, globalNorm, type Optimiser, type ParameterRange } from "./optimiser.js";
import { sgd } from "./sgd.js";

interface Settings {
  lr: number;
  momentum?: number;
  nesterov?: boolean;
  weight_decay?: number;
  betas?: [number, number];
  eps?: number;
  rho?: number;
  clip: number;
}

/** Made by test/torch/optimisers.py. */
const stored: {
  start: number[][];
  gradients: number[][][]; // [step][parameter]
  cases: Record<string, { settings: Settings; after: number[][][]; norms: number[]; state: Record<string, number[]> }>;
} = JSON.parse(readFileSync("test/fixtures/optimisers.json", "utf8"));

/** Only what PyTorch's settings name, so that our defaults are checked as well. */
function ours(name: string, { momentum = 0, nesterov, weight_decay, betas, eps, rho }: Settings): Optimiser {
  const given = <T extends object>(config: T) =>
    Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as Partial<T>;
  const common = { weightDecay: weight_decay, epsilon: eps };
  switch (name.split(" ")[0]) {
    case "sgd":
      return sgd(given({ momentum, nesterov, weightDecay: weight_decay }) as Parameters<typeof sgd>[0]);
    case "adam":
      return adam(given({ ...common, beta1: betas?.[0], beta2: betas?.[1] }) as Parameters<typeof adam>[0]);
    case "adamw":
      return adamW(given({ ...common, beta1: betas?.[0], beta2: betas?.[1] }) as Parameters<typeof adamW>[0]);
    default:
      return adadelta(given({ ...common, rho }) as Parameters<typeof adadelta>[0]);
  }
}

function setUp(module: TrainModule, optimiser: Optimiser): ParameterRange[] {
  const specs = stored.start.map((values, i) => ({ name: `p${i}`, length: values.length, decay: i === 0 }));
  const ranges = allocateParameters(module, specs, optimiser);
  ranges.forEach((range, i) => {
    view(module, range.parameter, range.length).set(stored.start[i]);
  });
  return ranges;
}

const read = (module: TrainModule, ranges: readonly ParameterRange[]) =>
  ranges.map(({ parameter, length }) => view(module, parameter, length).slice());

/** Runs steps [from, to) of the stored gradients and returns the state after them. */
function run(
  module: TrainModule,
  optimiser: Optimiser,
  ranges: ParameterRange[],
  settings: Settings,
  steps: number[][][],
) {
  let state = optimiser.init();
  return steps.map((step) => {
    ranges.forEach((range, i) => {
      view(module, range.gradient, range.length).set(step[i]);
    });
    const norm = globalNorm(module.exports, ranges);
    state = optimiser.update(module.exports, ranges, state, settings.lr, clipScale(norm, settings.clip));
    return { parameters: read(module, ranges), norm, state };
  });
}

// Both sides round to 24 bits after every operation, in another order: a few units in the last place a step.
const close = (found: ArrayLike<number>, expected: readonly number[], what: string) => {
  assert.equal(found.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    const limit = 1e-6 * Math.max(1, Math.abs(expected[i]));
    assert.ok(Math.abs(found[i] - expected[i]) <= limit, `${what}[${i}]: ${found[i]} is not ${expected[i]}`);
  }
};

for (const [name, { settings, after, norms, state }] of Object.entries(stored.cases)) {
  test(`six steps of ${name} are PyTorch's, with and without decay`, async () => {
    const module = await loadTrainModule();
    const optimiser = ours(name, settings);
    const ranges = setUp(module, optimiser);
    const steps = run(module, optimiser, ranges, settings, stored.gradients);
    steps.forEach(({ parameters, norm }, s) => {
      parameters.forEach((values, i) => {
        close(values, after[s][i], `step ${s} parameter ${i}`);
      });
      if (settings.clip > 0) close([norm], [norms[s]], `step ${s} norm`);
    });
    assert.deepEqual([...optimiser.slots].sort(), Object.keys(state).sort());
    optimiser.slots.forEach((slot, k) => {
      close(view(module, ranges[0].slots[k], ranges[0].length), state[slot], slot);
    });
    assert.equal(steps.at(-1)?.state.step, stored.gradients.length);
  });
}

test("an element's result does not depend on where its range begins or ends", async () => {
  const module = await loadTrainModule();
  const length = 23;
  const numbers = (seed: number) => Array.from({ length }, (_, i) => Math.sin(seed + i * 1.7));
  for (const optimiser of [sgd({ nesterov: true, weightDecay: 0.1 }), adamW(), adadelta({ weightDecay: 0.1 })]) {
    const whole = allocateParameters(module, [{ name: "whole", length }], optimiser);
    const parts = allocateParameters(
      module,
      numbers(0).map((_, i) => ({ name: `${i}`, length: 1 })),
      optimiser,
    );
    view(module, whole[0].parameter, length).set(numbers(1));
    view(module, whole[0].gradient, length).set(numbers(2));
    parts.forEach((part, i) => {
      view(module, part.parameter, 1)[0] = numbers(1)[i];
      view(module, part.gradient, 1)[0] = numbers(2)[i];
    });
    let [a, b] = [optimiser.init(), optimiser.init()];
    for (let step = 0; step < 3; step++) {
      a = optimiser.update(module.exports, whole, a, 0.1, 0.7);
      b = optimiser.update(module.exports, parts, b, 0.1, 0.7);
    }
    assert.deepEqual(
      [...view(module, whole[0].parameter, length)],
      parts.map((part) => view(module, part.parameter, 1)[0]),
    );
  }
});

test("a state saved in the middle and restored continues to the last bit", async () => {
  const settings = stored.cases["adamw betas"].settings;
  const optimiser = ours("adamw betas", settings);
  const module = await loadTrainModule();
  const ranges = setUp(module, optimiser);
  const straight = run(module, optimiser, ranges, settings, stored.gradients).at(-1)!;

  const first = await loadTrainModule();
  const firstRanges = setUp(first, optimiser);
  const saved = run(first, optimiser, firstRanges, settings, stored.gradients.slice(0, 3)).at(-1)!;
  const slots = firstRanges.map((range) => range.slots.map((slot) => view(first, slot, range.length).slice()));

  const second = await loadTrainModule();
  const secondRanges = setUp(second, optimiser);
  secondRanges.forEach((range, i) => {
    view(second, range.parameter, range.length).set(saved.parameters[i]);
    range.slots.forEach((slot, k) => {
      view(second, slot, range.length).set(slots[i][k]);
    });
  });
  let state = saved.state;
  for (const step of stored.gradients.slice(3)) {
    secondRanges.forEach((range, i) => {
      view(second, range.gradient, range.length).set(step[i]);
    });
    state = optimiser.update(second.exports, secondRanges, state, settings.lr);
  }
  assert.deepEqual(read(second, secondRanges), straight.parameters);
  assert.deepEqual(state, straight.state);
});

test("a slot's memory never reaches into its neighbour", async () => {
  const module = await loadTrainModule();
  const optimiser = adamW();
  const ranges = allocateParameters(
    module,
    [3, 16, 17, 1].map((length, i) => ({ name: `${i}`, length })),
    optimiser,
  );
  const pieces = ranges
    .flatMap(({ parameter, gradient, slots, length }) =>
      [parameter, gradient, ...slots].map((start) => ({ start, end: start + length * 4 })),
    )
    .sort((a, b) => a.start - b.start);
  for (let i = 1; i < pieces.length; i++) assert.ok(pieces[i - 1].end <= pieces[i].start);
  for (const { start } of pieces) assert.equal(start % 64, 0);
});

test("the norm is summed in double precision, and a gradient that is not a number shows", async () => {
  const module = await loadTrainModule();
  const length = 100_003;
  const [range] = allocateParameters(module, [{ name: "p", length }], sgd({ momentum: 0 }));
  const gradient = view(module, range.gradient, length);
  gradient.fill(0.1);
  const expected = Math.sqrt(length * Math.fround(0.1) ** 2);
  assert.ok(Math.abs(globalNorm(module.exports, [range]) / expected - 1) < 1e-12); // f32 sums are off by 1e-4 here
  for (const [index, bad] of [
    [17, Number.NaN],
    [length - 1, Number.POSITIVE_INFINITY],
  ]) {
    gradient.fill(0.1)[index] = bad;
    assert.ok(!Number.isFinite(globalNorm(module.exports, [range])));
  }
});

test("clipping leaves a short gradient alone, shortens a long one, and 0 means none", () => {
  assert.equal(clipScale(0.5, 1), 1);
  assert.ok(Math.abs(clipScale(4, 1) - 0.25) < 1e-6);
  assert.equal(clipScale(1e9, 0), 1);
});

test("gradients accumulate, with a factor", async () => {
  const module = await loadTrainModule();
  const [target, source] = [module.allocate(28), module.allocate(28)];
  view(module, target, 7).set([1, 2, 3, 4, 5, 6, 7]);
  view(module, source, 7).set([10, 20, 30, 40, 50, 60, 70]);
  module.exports.accumulate(target, source, 7, 0.5);
  assert.deepEqual([...view(module, target, 7)], [6, 12, 18, 24, 30, 36, 42]);
});

test("rows are added where their indices say, also twice to the same row", async () => {
  const module = await loadTrainModule();
  const [target, indices, source] = [module.allocate(60), module.allocate(12), module.allocate(60)];
  new Int32Array(module.memory.buffer, indices, 3).set([2, 0, 2]);
  view(module, source, 15).set([1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 100, 200, 300, 400, 500]);
  module.exports.addRows(target, indices, source, 3, 5);
  assert.deepEqual([...view(module, target, 15)], [10, 20, 30, 40, 50, 0, 0, 0, 0, 0, 101, 202, 303, 404, 505]);
});

test("an average moves by its share towards the parameters", async () => {
  const module = await loadTrainModule();
  const [parameter, average] = [module.allocate(24), module.allocate(24)];
  view(module, parameter, 6).fill(1);
  for (let step = 0; step < 3; step++) updateEma(module.exports, [{ parameter, average, length: 6 }], 0.75);
  for (const value of view(module, average, 6)) assert.ok(Math.abs(value - (1 - 0.75 ** 3)) < 1e-7);
  assert.equal(emaDecayAt(0.999, 0), 0.1);
  assert.equal(emaDecayAt(0.999, 1e6), 0.999);
});
