import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random, UserError } from "#base";
import { FAMILIES } from "#models";
import { type BatchSource, parseRecipe, parseSetting, type Recipe, resolveRecipe, taskOf, train } from "#training";
import { command } from "../command.js";
import { readRecipe } from "../recipe-files.js";
import { PAUSE_MS, pause } from "./train.js";

const WARM = 3; // steps at the start of a stretch that are not timed

const best = (rates: readonly number[]) => Math.max(...rates);
const median = (rates: readonly number[]) => [...rates].sort((a, b) => a - b)[rates.length >> 1];

/** A source that gives batches only when told to, so many at a time. */
class Gate implements BatchSource {
  private left = 0;
  private open = () => {};

  constructor(private readonly source: BatchSource) {}

  get positions(): number {
    return this.source.positions;
  }
  get fingerprint(): string {
    return this.source.fingerprint;
  }

  allow(batches: number): void {
    this.left = batches;
    this.open();
  }

  async *batches(options: Parameters<BatchSource["batches"]>[0]): AsyncGenerator<unknown> {
    for await (const batch of this.source.batches(options)) {
      if (this.left === 0) {
        await new Promise<void>((resolve) => {
          this.open = resolve;
        });
      }
      this.left--;
      yield batch;
    }
  }

  close = () => this.source.close();
}

interface Stretches {
  recipe: Recipe;
  source: BatchSource;
  steps: number; // of a stretch that are timed
  rounds: number;
  signal: AbortSignal;
}

/** Positions a second of the loop and of the bare step, a number for each stretch, in turns. */
async function measure(stretches: Stretches): Promise<Record<"loop" | "bare", number[]>> {
  const { recipe, source, steps, rounds, signal } = stretches;
  const { batchSize, accumulate, learningRate, family, seed } = recipe.train;
  const rate = (ms: number) => (steps * batchSize * accumulate * 1000) / ms;
  const rates = { loop: [] as number[], bare: [] as number[] };

  const batch = await firstBatch(source, batchSize);
  const network = FAMILIES[family].build(recipe.model, new Random(seed));
  const learner = await taskOf(family).learner(network, { ...recipe, train: { ...recipe.train, ema: 0 } });
  const bare = async () => {
    let start = 0;
    for (let i = 0; i < WARM + steps; i++) {
      if (i === WARM) start = performance.now();
      await learner.step(new Array(accumulate).fill(batch), { learningRate });
    }
    rates.bare.push(rate(performance.now() - start));
  };

  const gate = new Gate(source);
  const run = mkdtempSync(join(tmpdir(), "tabiya-bench-loop-"));
  const over = new AbortController();
  let start = 0;
  let done = 0;
  let finished = () => {};
  const training = train(recipe, {
    run: join(run, "run"),
    data: gate,
    signal: over.signal,
    now: Date.now,
    onProgress() {
      done++;
      if (done === WARM) start = performance.now();
      if (done < WARM + steps) return;
      rates.loop.push(rate(performance.now() - start));
      done = 0;
      finished();
    },
  });
  const loop = () => {
    const stretch = new Promise<void>((resolve) => {
      finished = resolve;
    });
    gate.allow((WARM + steps) * accumulate);
    return Promise.race([stretch, training]);
  };
  try {
    for (let round = 0; round <= rounds && !signal.aborted; round++) {
      await loop();
      await pause(PAUSE_MS); // the loop's idle threads come to rest, and batches are made ahead
      await bare();
      await pause(PAUSE_MS);
    }
  } finally {
    over.abort();
    gate.allow(Number.POSITIVE_INFINITY);
    await training;
    await learner.close();
    rmSync(run, { recursive: true, force: true });
  }
  // The first of each allocates, and is left out.
  return { loop: rates.loop.slice(1, rounds + 1), bare: rates.bare.slice(1) };
}

async function firstBatch(source: BatchSource, size: number): Promise<unknown> {
  for await (const batch of source.batches({ size, epoch: 0 })) return batch;
  throw new UserError("DATA_SHORT", `The data does not fill a batch of ${size} positions.`);
}

export default command({
  name: "bench loop",
  summary: "Compare the training loop on real data with the bare training step, alternating.",
  details:
    "The loop is that of `tabiya train`: batches made from the files meanwhile, metrics, averaged weights, checkpoints. The\n" +
    "bare step is the same graph and optimiser on one batch again and again. A ratio of 1 means that the loop costs nothing.",
  examples: ["tabiya bench loop recipes/residual-base.yaml --data games.bin --json"],
  arguments: { recipe: { help: "YAML file of settings, or the name of a recipe" } },
  options: {
    data: { type: "strings", help: "files to learn from" },
    set: { type: "strings", help: "settings that override the recipe's, e.g. batchSize=256" },
    steps: { type: "integer", default: 20, minimum: 1, help: "steps of each turn" },
    rounds: { type: "integer", default: 6, minimum: 1, help: "turns of each" },
  },
  async run({ recipe: file, data, set, steps, rounds }, io) {
    const recipe = resolveRecipe(
      {
        ...parseRecipe(await readRecipe(file), file),
        ...Object.assign({}, ...(set ?? []).map(parseSetting)),
        ...(data && { data }),
        validation: [],
      },
      file,
    );
    const { train: config } = recipe;
    if (config.data.length === 0)
      throw new UserError("DATA_NONE", `${file}: no data to learn from. Name it with --data FILE.`);
    const source = await taskOf(config.family).open(config.data, recipe, config.limit);
    try {
      const rates = await measure({ recipe, source, steps, rounds, signal: io.signal });
      io.signal.throwIfAborted();
      const of = (list: readonly number[]) => ({ best: Math.round(best(list)), median: Math.round(median(list)) });
      const result = {
        loop: of(rates.loop),
        bare: of(rates.bare),
        ratio: Number((best(rates.loop) / best(rates.bare)).toFixed(3)),
        medianRatio: Number((median(rates.loop) / median(rates.bare)).toFixed(3)),
      };
      io.print(`loop: ${result.loop.best} positions/s (median ${result.loop.median})`);
      io.print(`bare: ${result.bare.best} positions/s (median ${result.bare.median})`);
      io.print(`ratio ${result.ratio} (${result.medianRatio})`);
      return result;
    } finally {
      await source.close();
    }
  },
});
