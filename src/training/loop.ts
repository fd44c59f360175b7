import { listFolder, makeFolder, Random, readText, UserError, writeFile } from "#base";
import { FAMILIES, findWeights, type Network } from "#models";
import { learningRateAt, type Schedule } from "#tensor";
import type { BatchSource } from "./batches/batch-source.js";
import { type Recipe, scheduleOf } from "./config.js";
import {
  bestFolder,
  type EpochSummary,
  epochFolder,
  latestCheckpoint,
  loadCheckpoint,
  type Progress,
  removeSteps,
  type Sums,
  saveCheckpoint,
  stepFolder,
  takeWeights,
} from "./run/checkpoint.js";
import { MetricsLog } from "./run/metrics-log.js";
import type { Judgement, Learner } from "./task.js";
import { taskOf } from "./tasks.js";
import { upgradeSettings } from "./upgrade.js";

export interface TrainOptions {
  run: string; // the folder that keeps all of the run
  data: BatchSource;
  validation?: BatchSource;
  resume?: boolean; // go on with what the folder holds; otherwise it must not hold a run
  signal?: AbortSignal; // stops after the present step, with everything saved
  onProgress?: (report: StepReport) => void;
  /** Told of every epoch, when it is saved; what resolves to false ends the run. */
  onEpoch?: (summary: EpochSummary, judgement: Judgement | undefined) => unknown;
  metadata?: Record<string, string>; // kept in each checkpoint, as the commit of the program
  now: () => number; // milliseconds since 1970
}

export interface StepReport {
  step: number;
  steps: number; // in the whole run
  epoch: number;
  loss: number;
  learningRate: number;
  positionsPerSecond: number; // since the run was started or resumed
}

export interface TrainResult {
  checkpoint: string; // the best
  steps: number;
  history: EpochSummary[];
  metrics: Judgement | undefined; // of the last epoch
  stopped: "finished" | "early" | "interrupted";
  positionsPerSecond: number;
  waitingForData: number; // share of the time in which the network stood idle for want of a batch
}

const noSums = (): Sums => ({ count: 0, totals: {} });

function addTo(sums: Sums, values: Readonly<Record<string, number>>): void {
  sums.count++;
  for (const [key, value] of Object.entries(values)) sums.totals[key] = (sums.totals[key] ?? 0) + value;
}

const means = ({ count, totals }: Sums): Record<string, number> =>
  Object.fromEntries(Object.entries(totals).map(([key, total]) => [key, total / count]));

/** Trains a network by a recipe. Killed at any moment and resumed, it ends with the weights it would have had. */
export async function train(recipe: Recipe, options: TrainOptions): Promise<TrainResult> {
  const loop = await TrainingLoop.open(recipe, options);
  try {
    return await loop.run();
  } finally {
    await loop.close();
  }
}

class TrainingLoop {
  private readonly batchesPerStep: number;
  private readonly stepsPerEpoch: number;
  private readonly schedule: Schedule;
  private seconds = 0; // in steps and waiting for data
  private waiting = 0;
  private positions = 0;

  private constructor(
    private readonly recipe: Recipe,
    private readonly options: TrainOptions,
    private readonly network: Network,
    private readonly trainer: Learner,
    private readonly log: MetricsLog,
    private readonly progress: Progress,
  ) {
    const { batchSize, accumulate, epochs, epochPositions } = recipe.train;
    const positions = Math.min(options.data.positions, epochPositions || Number.POSITIVE_INFINITY);
    // A rest smaller than a batch is left to the next epoch.
    const batches = Math.max(1, Math.floor(positions / batchSize));
    this.batchesPerStep = Math.min(accumulate, batches);
    this.stepsPerEpoch = Math.floor(batches / this.batchesPerStep);
    this.schedule = scheduleOf(recipe.train, epochs * this.stepsPerEpoch);
  }

  static async open(recipe: Recipe, options: TrainOptions): Promise<TrainingLoop> {
    const { train, model } = recipe;
    await enterRun(recipe, options);
    const network = FAMILIES[train.family].build(model, new Random(train.seed));
    const latest = options.resume ? await latestCheckpoint(options.run) : undefined;
    const saved = latest === undefined ? undefined : await loadCheckpoint(latest, network);
    if (!saved && train.start !== "") await takeWeights(await findWeights(train.start), network);
    const trainer = await taskOf(train.family).learner(network, recipe);
    if (saved) await trainer.restore(saved.state);
    const progress = saved?.progress ?? {
      epoch: 1,
      epochStep: 0,
      step: 0,
      window: noSums(),
      epochSums: noSums(),
      bestLoss: null,
      staleEpochs: 0,
      history: [],
    };
    const log = await MetricsLog.open(options.run, progress.step);
    return new TrainingLoop(recipe, options, network, trainer, log, progress);
  }

  close(): Promise<void> {
    return this.trainer.close();
  }

  async run(): Promise<TrainResult> {
    const { epochs, patience } = this.recipe.train;
    const { progress } = this;
    let last: Judgement | undefined;
    let told: unknown;
    const isStale = () => patience > 0 && progress.staleEpochs >= patience;
    while (progress.epoch <= epochs && !isStale() && told !== false) {
      try {
        await this.runSteps();
        last = await this.finishEpoch();
        told = await this.options.onEpoch?.(progress.history[progress.history.length - 1], last);
      } catch (error) {
        if (!this.options.signal?.aborted) throw error;
        await this.saveStep();
        return this.result("interrupted", last);
      }
    }
    return this.result(progress.epoch > epochs ? "finished" : "early", last);
  }

  private result(stopped: TrainResult["stopped"], metrics: Judgement | undefined): TrainResult {
    return {
      checkpoint: bestFolder(this.options.run),
      steps: this.progress.step,
      history: this.progress.history,
      metrics,
      stopped,
      positionsPerSecond: this.positions / this.seconds || 0,
      waitingForData: this.waiting / this.seconds || 0,
    };
  }

  /** The rest of the epoch's steps. Throws when interrupted, between two steps. */
  private async runSteps(): Promise<void> {
    const { progress, options, batchesPerStep, stepsPerEpoch } = this;
    const { batchSize, saveSteps } = this.recipe.train;
    const source = options.data
      .batches({
        size: batchSize,
        epoch: progress.epoch - 1,
        perEpoch: stepsPerEpoch * batchesPerStep,
        from: progress.epochStep * batchesPerStep,
      })
      [Symbol.asyncIterator]();
    const nextBatches = async () => {
      const batches = [];
      while (batches.length < batchesPerStep) {
        const { value, done } = await source.next();
        if (done) break;
        batches.push(value);
      }
      return batches;
    };
    try {
      let pending = nextBatches();
      while (progress.epochStep < stepsPerEpoch) {
        options.signal?.throwIfAborted();
        const start = performance.now();
        const batches = await pending;
        const ready = performance.now();
        const learningRate = learningRateAt(this.schedule, this.recipe.train.learningRate, progress.step);
        const stepping = this.trainer.step(batches, { learningRate });
        if (progress.epochStep + 1 < stepsPerEpoch) pending = nextBatches(); // while the worker computes
        const measured = await stepping;
        this.waiting += (ready - start) / 1000;
        this.seconds += (performance.now() - start) / 1000;
        this.positions += batches.length * batchSize;
        if (!Object.values(measured).every(Number.isFinite)) throw this.notFinite();
        progress.step++;
        progress.epochStep++;
        await this.note(measured, learningRate);
        if (progress.step % saveSteps === 0 && progress.epochStep < stepsPerEpoch) await this.saveStep();
      }
    } finally {
      await source.return?.();
    }
  }

  private notFinite(): UserError {
    return new UserError(
      "TRAIN_NAN",
      `The loss is no longer a number at step ${this.progress.step + 1}; the run stops, and its last good checkpoint is kept in ${this.options.run}.\n` +
        "Try a lower learningRate, more warmupSteps or a smaller clip, and look for wild scores in the data.",
    );
  }

  private async note(measured: Record<string, number>, learningRate: number): Promise<void> {
    const { progress, options } = this;
    const { train } = this.recipe;
    addTo(progress.window, measured);
    addTo(progress.epochSums, measured);
    const positionsPerSecond = this.positions / this.seconds;
    options.onProgress?.({
      step: progress.step,
      steps: train.epochs * this.stepsPerEpoch,
      epoch: progress.epoch,
      loss: means(progress.window).loss,
      learningRate,
      positionsPerSecond,
    });
    if (progress.step % train.logSteps !== 0) return;
    const values = { ...means(progress.window), learningRate, positionsPerSecond };
    await this.log.write({ kind: "train", step: progress.step, epoch: progress.epoch, time: this.time(), values });
    progress.window = noSums();
  }

  private time = () => this.options.now() / 1000;

  /** Judges the epoch (by the averaged weights, if they are kept), and saves it. */
  private async finishEpoch(): Promise<Judgement | undefined> {
    const { progress, options } = this;
    const { train } = this.recipe;
    const task = taskOf(train.family);
    const { epoch, step } = progress;
    let judgement: Judgement | undefined;
    if (options.validation) {
      await this.trainer.pull({ ema: train.ema > 0 });
      const { batchSize, validationLimit: limit, device, threads } = train;
      const { signal } = options;
      judgement = await task.judge(this.network, options.validation, this.recipe, { batchSize, limit, device, threads, signal }); // biome-ignore format: a list
      const { positionsPerSecond: _, positions: __, ...measured } = judgement;
      const numbers = Object.entries(measured).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      );
      await this.log.write({ kind: "validation", step, epoch, time: this.time(), values: Object.fromEntries(numbers) });
    }
    const trained = means(progress.epochSums);
    const summary: EpochSummary = {
      epoch,
      step,
      train_loss: trained.loss,
      val_loss: judgement?.loss ?? null,
      ...task.summarise(trained, judgement),
    };
    const loss = summary.val_loss ?? summary.train_loss;
    const isBest = progress.bestLoss === null || loss < progress.bestLoss;
    progress.staleEpochs = isBest ? 0 : progress.staleEpochs + 1;
    if (isBest) progress.bestLoss = loss;
    progress.history.push(summary);
    progress.epoch++;
    progress.epochStep = 0;
    progress.epochSums = noSums();
    // The best first: a crash before the second is saved repeats both.
    const isKept = epoch % train.saveEpochs === 0 || epoch === train.epochs;
    const folder = isKept ? epochFolder(options.run, epoch) : stepFolder(options.run, step);
    await this.save([...(isBest ? [bestFolder(options.run)] : []), folder], summary);
    await removeSteps(options.run, isKept ? undefined : step);
    return judgement;
  }

  private async saveStep(): Promise<void> {
    const { run } = this.options;
    const { step, epoch } = this.progress;
    await this.save([stepFolder(run, step)], { epoch, step });
    await removeSteps(run, step);
  }

  private async save(folders: readonly string[], summary: object): Promise<void> {
    await this.trainer.pull();
    const state = await this.trainer.state();
    const metadata = {
      ...summary,
      timestamp: new Date(this.options.now()).toISOString(),
      ...this.options.metadata,
      data: this.options.data.fingerprint,
      config: { ...this.recipe.train, ...this.recipe.task, ...this.recipe.model },
    };
    const { progress } = this;
    for (const folder of folders)
      await saveCheckpoint(folder, this.recipe.train.family, this.network, { progress, state }, metadata);
  }
}

/** Makes the run's folder, or makes sure that what it holds is this run. */
async function enterRun(
  { train, task, model }: Recipe,
  { run, resume, data, validation }: TrainOptions,
): Promise<void> {
  // How often to save changes nothing in the result.
  const { saveSteps: _, saveEpochs: __, ...config } = { ...train, ...task, ...model };
  const wanted: Record<string, unknown> = {
    ...config,
    dataFingerprint: data.fingerprint,
    validationFingerprint: validation?.fingerprint ?? null,
  };
  const path = `${run}/config.json`;
  const exists = (await listFolder(run))?.includes("config.json") ?? false;
  if (exists && !resume) {
    throw new UserError(
      "RUN_EXISTS",
      `${run}: holds a run already. Go on with it by --resume, or name another folder with --run.`,
    );
  }
  if (!exists) {
    await makeFolder(run);
    await writeFile(path, `${JSON.stringify(wanted, null, 2)}\n`);
    return;
  }
  const found = upgradeSettings(JSON.parse(await readText(path)) as Record<string, unknown>);
  const keys = new Set([...Object.keys(found), ...Object.keys(wanted)]);
  const changed = [...keys].filter((key) => JSON.stringify(found[key]) !== JSON.stringify(wanted[key]));
  if (changed.length === 0) return;
  const changes = changed.map(
    (key) => `  ${key}: ${JSON.stringify(found[key])} then, ${JSON.stringify(wanted[key])} now`,
  );
  throw new UserError(
    "RUN_DIFFERS",
    `${run}: was begun with other settings, and would not be the same run any more:\n${changes.join("\n")}\n` +
      "Resume it with its own settings, or begin a new run in another folder.",
  );
}
