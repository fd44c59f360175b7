import { readBytes, readText, replaceFolder, UserError, writeFile } from "#base";
import { findWeights } from "#models";
import { type TrainOptions, type TrainResult, train } from "./loop.js";
import { resolveRecipe } from "./recipe.js";
import { type EpochSummary, loadMetadata } from "./run/checkpoint.js";
import { taskOf } from "./tasks.js";

/** Files to learn from, and files of other games to judge by. */
export interface TrainingFiles {
  paths: readonly string[]; // as `parseSource` reads them
  validation?: { paths: readonly string[] };
}

/** A training by `NetworkTrainer`, and who is told of it. */
export interface Training {
  settings?: Readonly<Record<string, unknown>>; // for this training alone, as epochs
  resume?: boolean; // continue a training that was interrupted
  signal?: AbortSignal; // ends it after the present step, with everything saved
  onStep?: TrainOptions["onProgress"];
  onEpoch?: TrainOptions["onEpoch"]; // what resolves to false ends the training
}

/**
 * The training loop as an object, for programs: one network, trained as often as wanted, each training going on from the
 * weights of the last. Each keeps a run in the folder: run_001, run_002, ...
 */
export class NetworkTrainer {
  private runs = 0;
  private start = ""; // a checkpoint
  /** What the last training came to. */
  result: TrainResult | undefined;

  /** `settings` are those of a recipe: family, size, learningRate, ... */
  constructor(
    private readonly folder: string,
    private readonly settings: Readonly<Record<string, unknown>> = {},
  ) {}

  /** Trains on the files and returns what was measured in each epoch. */
  async train(files: TrainingFiles, training: Training = {}): Promise<EpochSummary[]> {
    const { settings, resume, signal, onStep: onProgress, onEpoch } = training;
    const started = this.start === "" ? {} : { start: this.start };
    const recipe = resolveRecipe({ ...this.settings, ...started, ...settings }, "settings");
    const task = taskOf(recipe.train.family);
    const data = await task.open(files.paths, recipe, recipe.train.limit);
    const validation = files.validation && (await task.open(files.validation.paths, recipe));
    const run = `${this.folder}/run_${String(this.runs + 1).padStart(3, "0")}`;
    try {
      const options = { run, data, validation, resume, signal, onProgress, onEpoch, now: Date.now };
      this.result = await train(recipe, options);
    } finally {
      await data.close();
      await validation?.close();
    }
    if (this.result.stopped !== "interrupted") {
      this.runs++;
      this.start = this.result.checkpoint;
    }
    return this.result.history;
  }

  /** Copies the best checkpoint so far to a folder of its own. */
  async saveCheckpoint(folder: string): Promise<string> {
    const from = this.best();
    const weights = await findWeights(from);
    await replaceFolder(folder, async (to) => {
      await writeFile(`${to}/model.safetensors`, await readBytes(weights));
      await writeFile(`${to}/metadata.json`, await readText(`${from}/metadata.json`));
    });
    return folder;
  }

  /** The next training begins with the weights of this checkpoint; returns the epoch it was saved in. */
  async loadCheckpoint(folder: string): Promise<number> {
    const { epoch } = await loadMetadata(folder);
    await findWeights(folder);
    this.start = folder;
    return Number(epoch);
  }

  private best(): string {
    if (this.start === "") throw new UserError("CHECKPOINT_MISSING", "There is nothing to save: train first.");
    return this.start;
  }
}
