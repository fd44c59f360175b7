import { messageOf, Random, UserError } from "#base";
import { FAMILIES, findWeights, type Network } from "#models";
import { learningRateAt, type Schedule } from "#tensor";
import type { BatchSource } from "./batches/batch-source.js";
import { type Recipe, scheduleOf } from "./config.js";
import { differenceOf, type Exchange, flatWeights, outerStep, takeFlatWeights } from "./exchange.js";
import {
  type EpochSummary,
  loadCheckpoint,
  type Measured,
  type Progress,
  type Sums,
  saveCheckpoint,
  takeWeights,
} from "./run/checkpoint.js";
import type { MetricsLog } from "./run/metrics-log.js";
import { RunFolder } from "./run/run-folder.js";
import { batchesOfSteps, stepsOf } from "./steps.js";
import type { Judgement, Learner } from "./task.js";
import { taskOf } from "./tasks.js";

/** Where a run is kept, what it learns from, and who is told. */
export interface TrainOptions {
  run: string; // the folder that keeps all of the run
  data: BatchSource;
  validation?: BatchSource;
  exchange?: Exchange; // with others who take the same rounds; by default this training is alone
  resume?: boolean; // continue the run in the folder; otherwise it must not hold one
  signal?: AbortSignal; // stops after the present step, with everything saved
  onProgress?: (report: StepReport) => void;
  /** Told of every epoch, when it is saved; what resolves to false ends the run. */
  onEpoch?: (summary: EpochSummary, judgement: Judgement | undefined) => unknown;
  metadata?: Record<string, string>; // kept in each checkpoint, as the commit of the program
  now: () => number; // milliseconds since 1970
}

/** What is told after a step. */
export interface StepReport {
  step: number;
  steps: number; // in the whole run
  epoch: number;
  loss: number;
  learningRate: number;
  positionsPerSecond: number; // since the run was started or resumed
}

/** What came of a run. */
export interface TrainResult {
  checkpoint: string; // the best
  steps: number;
  history: EpochSummary[];
  before: Measured | null; // what validation said of the weights the run began with, if these were another network's
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

const means = ({ count, totals }: Sums): Measured => ({
  loss: 0,
  ...Object.fromEntries(Object.entries(totals).map(([key, total]) => [key, total / count])),
});

/** The numbers of a judgement, without those that say how it was judged. */
function measuredBy(judgement: Judgement): Measured {
  const { positionsPerSecond: _, positions: __, ...rest } = judgement;
  const numbers = Object.entries(rest).filter((entry): entry is [string, number] => Number.isFinite(entry[1]));
  return { loss: judgement.loss, ...Object.fromEntries(numbers) };
}

/** Trains a network by a recipe. Killed at any moment and resumed, it ends with the weights it would have had. */
export async function train(recipe: Recipe, options: TrainOptions): Promise<TrainResult> {
  const { train, task, model } = recipe;
  // How often to save changes nothing in the result.
  const { saveSteps: _, saveEpochs: __, ...settings } = { ...train, ...task, ...model };
  const run = await RunFolder.enter(
    options.run,
    {
      ...settings,
      dataFingerprint: options.data.fingerprint,
      validationFingerprint: options.validation?.fingerprint ?? null,
    },
    { ...options, steps: train.epochs * stepsOf(recipe, options.data.positions).stepsPerEpoch },
  );
  try {
    const loop = await TrainingLoop.open(recipe, options, run);
    const result = await loop.run().finally(() => loop.close());
    await run.leave(result.stopped === "interrupted" ? "stopped" : "finished", options.now());
    return result;
  } catch (error) {
    await run.leave("failed", options.now(), messageOf(error)).catch(() => {}); // the first error is the one to hear of
    throw error;
  }
}

/** What a loop is made of; `open` makes it. */
interface LoopParts {
  recipe: Recipe;
  options: TrainOptions;
  folder: RunFolder;
  network: Network;
  trainer: Learner;
  log: MetricsLog;
  progress: Progress;
  velocity: Float32Array | undefined; // of the steps that are taken with others
}

class TrainingLoop {
  private readonly stepsPerEpoch: number;
  private readonly schedule: Schedule;
  private seconds = 0; // in steps and waiting for data
  private waiting = 0;
  private positions = 0;
  private before: Measured | null = null;
  private round: { before: Float32Array; endsAt: number } | undefined; // its first weights, and the step of the epoch
  private readonly recipe: Recipe;
  private readonly options: TrainOptions;
  private readonly folder: RunFolder;
  private readonly network: Network;
  private readonly trainer: Learner;
  private readonly log: MetricsLog;
  private readonly progress: Progress;
  private velocity: Float32Array | undefined;

  private constructor({ recipe, options, folder, network, trainer, log, progress, velocity }: LoopParts) {
    this.recipe = recipe;
    this.options = options;
    this.folder = folder;
    this.network = network;
    this.trainer = trainer;
    this.log = log;
    this.progress = progress;
    this.velocity = velocity;
    const { stepsPerEpoch } = stepsOf(recipe, options.data.positions);
    this.stepsPerEpoch = stepsPerEpoch;
    this.schedule = scheduleOf(recipe.train, recipe.train.epochs * stepsPerEpoch);
  }

  static async open(recipe: Recipe, options: TrainOptions, folder: RunFolder): Promise<TrainingLoop> {
    const { train, model } = recipe;
    const network = FAMILIES[train.family].build(model, new Random(train.seed));
    const latest = options.resume ? await folder.latest() : undefined;
    const saved = latest && (await loadCheckpoint(latest.path, network));
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
    const log = await folder.log(progress.step, options.now());
    return new TrainingLoop({ recipe, options, folder, network, trainer, log, progress, velocity: saved?.velocity });
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
        this.before ??= await this.judgeStart();
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
      checkpoint: this.folder.best,
      steps: this.progress.step,
      history: this.progress.history,
      before: this.before,
      metrics,
      stopped,
      positionsPerSecond: this.positions / this.seconds || 0,
      waitingForData: this.waiting / this.seconds || 0,
    };
  }

  /** The rest of the epoch's steps. Throws when interrupted, between two steps. */
  private async runSteps(): Promise<void> {
    const { progress, options, stepsPerEpoch } = this;
    const { batchSize, saveSteps } = this.recipe.train;
    const source = batchesOfSteps(this.recipe, options.data, progress);
    const nextBatches = () => {
      const next = source.next().then(({ value }) => value ?? []);
      next.catch(() => undefined); // a bad record is heard of when its step comes
      return next;
    };
    try {
      let pending = nextBatches();
      while (progress.epochStep < stepsPerEpoch) {
        options.signal?.throwIfAborted();
        if (options.exchange && !this.round) await this.beginRound(options.exchange);
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
        const isRoundOver = progress.epochStep === this.round?.endsAt;
        if (options.exchange && isRoundOver) await this.endRound(options.exchange);
        const isSaved = isRoundOver || progress.step % saveSteps === 0;
        if (isSaved && progress.epochStep < stepsPerEpoch) await this.saveStep();
      }
    } finally {
      await source.return(undefined);
    }
  }

  /** A round ends with its steps or with the epoch, which is judged after it. */
  private async beginRound(exchange: Exchange): Promise<void> {
    const { epoch, epochStep, step } = this.progress;
    const { roundSteps } = this.recipe.train;
    const steps = Math.min(roundSteps - (epochStep % roundSteps), this.stepsPerEpoch - epochStep);
    await this.trainer.pull();
    const own = flatWeights(this.network);
    const before = await exchange.begin({ epoch, epochStep, step, steps }, own);
    if (before !== own) await this.goOnWith(before);
    this.round = { before, endsAt: epochStep + steps };
  }

  /** After a round alone there is no outer step: the weights are what ordinary training would have, to the last bit. */
  private async endRound(exchange: Exchange): Promise<void> {
    const { before } = this.round!;
    this.round = undefined;
    await this.trainer.pull();
    const mean = await exchange.end(differenceOf(flatWeights(this.network), before));
    if (!mean) {
      this.velocity = undefined;
      return;
    }
    const { outerRate: rate, outerMomentum: momentum } = this.recipe.train;
    const { weights, velocity } = outerStep(this.network, { before, mean, velocity: this.velocity }, { rate, momentum }); // biome-ignore format: a list
    this.velocity = velocity;
    await this.goOnWith(weights);
  }

  private async goOnWith(weights: Float32Array): Promise<void> {
    takeFlatWeights(this.network, weights);
    await this.trainer.push();
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

  /** What is gained by a training that begins with a network's weights can only be told if these were judged, too. */
  private async judgeStart(): Promise<Measured | null> {
    const { validation } = this.options;
    if (this.recipe.train.start === "" || !validation) return null;
    const known = (await this.folder.metrics()).find(({ kind, step }) => kind === "validation" && step === 0);
    if (known) return { loss: 0, ...known.values };
    return this.progress.step > 0 ? null : measuredBy(await this.judge(validation));
  }

  /** Judges the weights that the network's parameters have now, and notes it. */
  private async judge(validation: BatchSource): Promise<Judgement> {
    const { train } = this.recipe;
    const { step, epoch } = this.progress;
    const { batchSize, validationLimit: limit, device, threads } = train;
    const { signal } = this.options;
    const judging = { batchSize, limit, device, threads, signal };
    const judgement = await taskOf(train.family).judge(this.network, validation, this.recipe, judging);
    await this.log.write({ kind: "validation", step, epoch, time: this.time(), values: measuredBy(judgement) });
    return judgement;
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
      judgement = await this.judge(options.validation);
    }
    const trained = means(progress.epochSums);
    const summary: EpochSummary = { epoch, step, train: trained, validation: judgement ? measuredBy(judgement) : null };
    const { loss } = summary.validation ?? summary.train;
    const isBest = progress.bestLoss === null || loss < progress.bestLoss;
    progress.staleEpochs = isBest ? 0 : progress.staleEpochs + 1;
    if (isBest) progress.bestLoss = loss;
    progress.history.push(summary);
    progress.epoch++;
    progress.epochStep = 0;
    progress.epochSums = noSums();
    // The best first: a crash before the second is saved repeats both.
    const isKept = epoch % train.saveEpochs === 0 || epoch === train.epochs;
    const folder = isKept ? this.folder.epoch(epoch) : this.folder.step(step);
    // Here, and nowhere else, numbers have the names of OmegaZero's metadata.json.
    const losses = { epoch, step, train_loss: trained.loss, val_loss: judgement?.loss ?? null };
    await this.save([...(isBest ? [this.folder.best] : []), folder], {
      ...losses,
      ...task.summarise(trained, judgement),
    });
    await this.folder.removeSteps(isKept ? undefined : step);
    return judgement;
  }

  private async saveStep(): Promise<void> {
    const { step, epoch } = this.progress;
    await this.save([this.folder.step(step)], { epoch, step });
    await this.folder.removeSteps(step);
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
    const { progress, velocity } = this;
    for (const folder of folders)
      await saveCheckpoint(folder, this.recipe.train.family, this.network, { progress, state, velocity }, metadata);
  }
}
