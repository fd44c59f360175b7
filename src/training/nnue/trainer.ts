import { assert, startWorker, UserError, type WorkerClient } from "#base";
import type { Nnue } from "#models";
import { buildOptimiser, type OptimiserChoice, parametersOf, type TrainerState } from "#tensor";
import {
  BAD,
  BLOCKS,
  CONTROLS,
  FACT_BYTES,
  layOutMemory,
  type NnueMemory,
  type NnueTarget,
  RECORD_BYTES,
  type Region,
  readRegion,
  regionsOf,
  WORK,
  writeRegion,
} from "./memory.js";
import type { StepOrder } from "./thread.js";

/** A batch: .bin records, one behind the other. */
export interface NnueBatch {
  records: Uint8Array;
  describe?: (record: number) => Error; // what to say of one that is bad
}

/** How the compiled trainer of NNUE networks is opened. */
export interface NnueTrainerOptions {
  batchSize: number; // positions in a batch at most
  threads: number; // makes no difference to the result
  target: NnueTarget;
  optimiser?: OptimiserChoice; // none: only to predict
  ema?: number; // decay of the averaged weights; 0 or nothing: none are kept
  everyRow?: boolean; // let the optimiser move also weights of inputs that do not occur in the batch
}

/** Trains a network of the nnue family in worker threads over shared memory. The caller's thread stays free. */
export class NnueTrainer {
  private done = 0; // steps

  private constructor(
    private readonly network: Nnue,
    private readonly m: NnueMemory,
    private readonly workers: readonly WorkerClient[],
    private readonly options: NnueTrainerOptions,
  ) {}

  static async open(network: Nnue, options: NnueTrainerOptions): Promise<NnueTrainer> {
    const threads = Math.max(1, Math.min(options.threads, BLOCKS));
    const optimiser = options.optimiser && buildOptimiser(options.optimiser);
    const average = (options.ema ?? 0) > 0;
    const { layout } = await layOutMemory(network, { ...options, threads, optimiser, average });
    const workers = Array.from({ length: threads }, () => startWorker("training/nnue/nnue-worker"));
    const trainer = new NnueTrainer(network, layout, workers, options);
    try {
      trainer.write("parameter");
      trainer.write("average"); // begins with the weights
      await Promise.all(
        workers.map((worker, index) => worker.call("open", { memory: layout, index, optimiser: options.optimiser })),
      );
      return trainer;
    } catch (error) {
      await trainer.close();
      throw error;
    }
  }

  /** One step on one batch or several, taken as one; the mean of the squared errors of the positions that teach. */
  async step(batches: readonly NnueBatch[], { learningRate }: { learningRate: number }): Promise<{ loss: number }> {
    const positions = this.load(batches.map(({ records }) => records));
    const { ema = 0, everyRow = false } = this.options;
    const order: StepOrder = { positions, step: this.done, learningRate, ema, everyRow };
    await this.all("step", order);
    this.refuseBad(batches);
    const { loss, kept } = this.results();
    if (Number.isFinite(loss)) this.done++;
    return { loss: kept === 0 ? 0 : loss / kept };
  }

  /** Outputs of the positions that teach (all, unless `target` leaves some out), with what they should have been. */
  async predict(batch: NnueBatch): Promise<NnuePrediction> {
    const positions = this.load([batch.records]);
    await this.all("predict", positions);
    this.refuseBad([batch]);
    const { loss, kept } = this.results();
    const { buffer } = this.m.memory;
    const outputs = new Float32Array(kept);
    const scores = new Int16Array(kept);
    const results = new Int8Array(kept);
    let at = 0;
    this.keptOf().forEach((count, block) => {
      const first = block * this.m.blockPositions;
      outputs.set(new Float32Array(buffer, this.m.outputs + first * 4, count), at);
      const facts = new DataView(buffer, this.m.facts + first * FACT_BYTES, count * FACT_BYTES);
      for (let i = 0; i < count; i++, at++) {
        scores[at] = facts.getInt16(i * FACT_BYTES + 2, true);
        results[at] = facts.getInt8(i * FACT_BYTES + 4);
      }
    });
    return { loss, outputs, scores, results };
  }

  /** Brings the trained weights (or their moving average) into the network's parameters. */
  async pull(options: { ema?: boolean } = {}): Promise<void> {
    const regions = new Map(regionsOf(this.m).map((region) => [region.name, region]));
    for (const { name, data } of parametersOf(this.network)) {
      const region = regions.get(name)!;
      data.set(readRegion(this.m, region, options.ema ? region.average : region.parameter));
    }
  }

  /** What a checkpoint needs beside the weights: step, moments, moving averages. */
  async state(): Promise<TrainerState> {
    const tensors: TrainerState["tensors"] = {};
    for (const [name, { address, region }] of this.arrays())
      tensors[name] = { data: readRegion(this.m, region, address), shape: region.shape, dtype: "float32" };
    return { step: this.done, tensors };
  }

  async restore({ step, tensors }: TrainerState): Promise<void> {
    for (const [name, { address, region }] of this.arrays()) {
      const saved = tensors[name];
      if (saved?.data.length !== region.length)
        throw new UserError(
          "STATE_MISMATCH",
          `The saved state does not belong to this training: ${name} ${saved ? "has another size" : "is missing"}.\n` +
            "It was saved with another model, optimiser or ema setting.",
        );
      writeRegion(this.m, region, address, saved.data as Float32Array);
    }
    this.done = step;
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
  }

  /** Takes the network's parameters as the weights to go on from. */
  async push(): Promise<void> {
    this.write("parameter");
  }

  private write(where: "parameter" | "average"): void {
    const regions = new Map(regionsOf(this.m).map((region) => [region.name, region]));
    for (const { name, data } of parametersOf(this.network)) {
      const region = regions.get(name)!;
      if (region[where]) writeRegion(this.m, region, region[where], data);
    }
  }

  private arrays(): Map<string, { address: number; region: Region }> {
    const names = this.options.optimiser ? buildOptimiser(this.options.optimiser).slots : [];
    const found = new Map<string, { address: number; region: Region }>();
    for (const region of regionsOf(this.m)) {
      region.slots.forEach((address, i) => {
        found.set(`${names[i]}.${region.name}`, { address, region });
      });
      if (region.average) found.set(`ema.${region.name}`, { address: region.average, region });
    }
    return found;
  }

  private async all(method: string, argument: unknown): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.call(method, argument)));
  }

  private refuseBad(batches: readonly NnueBatch[]): void {
    let record = this.control()[BAD] - 1;
    if (record < 0) return;
    for (const { records, describe } of batches) {
      const count = records.length / RECORD_BYTES;
      if (record < count) throw describe?.(record) ?? new Error(`record ${record} is no position of chess`);
      record -= count;
    }
  }

  private load(parts: readonly Uint8Array[]): number {
    this.clearWork();
    const bytes = new Uint8Array(this.m.memory.buffer);
    let at = this.m.records;
    for (const part of parts) {
      assert(
        at + part.length <= this.m.records + this.m.blockPositions * BLOCKS * RECORD_BYTES,
        "the batch is too large",
      );
      bytes.set(part, at);
      at += part.length;
    }
    return (at - this.m.records) / RECORD_BYTES;
  }

  private control = () => new Int32Array(this.m.memory.buffer, this.m.control, CONTROLS);

  private clearWork(): void {
    this.control().fill(0, WORK);
    this.control()[BAD] = 0;
  }

  private keptOf = () => new Int32Array(this.m.memory.buffer, this.m.kept, BLOCKS);

  private results(): { loss: number; kept: number } {
    const losses = new Float64Array(this.m.memory.buffer, this.m.losses, BLOCKS);
    return { loss: losses.reduce((a, b) => a + b, 0), kept: this.keptOf().reduce((a, b) => a + b, 0) };
  }
}

export interface NnuePrediction {
  loss: number; // sum of the squared errors of the expected scores
  outputs: Float32Array;
  scores: Int16Array; // centipawns, for the mover
  results: Int8Array;
}
