/**
 * The worker's side of training: parameters, gradients, moments and averages lie in one WASM memory, of which the
 * model's inputs and outputs are views. A step is one run of the model and one pass of the optimiser over the memory.
 */
import { loadWasm, messageOf, type Runtime, runtimeFillsOutputs, UserError, type WasmInstance } from "#base";
import { emaDecayAt } from "./ema.js";
import { buildOptimiser, type OptimiserChoice } from "./optimiser-choice.js";
import type { TrainKernels } from "./optimisers/kernels.js";
import { clipScale, type Optimiser, type ParameterRange } from "./optimisers/optimiser.js";
import { createSession, type RuntimeSession, tensorOf, wrapFeeds } from "./runner.js";
import type { Feeds, SessionOptions, TensorData } from "./session.js";

/** A parameter and where the model returns what becomes of it. */
export interface PlannedParameter {
  name: string;
  shape: readonly number[];
  data: Float32Array;
  trainable: boolean; // the output is its gradient; else it is its next value
  decays: boolean; // whether weight decay applies
  read: boolean; // whether the model reads it at all
  output: string | undefined;
}

export interface PlannedDropout {
  input: string;
  size: number; // elements, all of them
  keep: number; // probability
}

/** All a worker needs to train. */
export interface TrainingPlan {
  model: Uint8Array;
  options: SessionOptions;
  parameters: readonly PlannedParameter[];
  scalars: readonly string[]; // outputs that are single numbers, the loss first
  dropouts: readonly PlannedDropout[];
  optimiser: OptimiserChoice;
  clip: number; // largest norm of the whole gradient; 0 for none
  ema: number; // decay of the averaged weights; 0 keeps none
  seed: number; // of the dropout
}

export interface StepRequest {
  batches: readonly Feeds[]; // gradients of all of them are averaged
  learningRate: number;
}

export interface StepResult {
  scalars: Record<string, number>;
  gradientNorm: number; // before clipping
}

/** Everything beside the weights that a resumed run needs. */
export interface TrainerState {
  step: number;
  tensors: Record<string, TensorData>;
}

/** The name of the output that keeps ONNX Runtime from copying the others; see `runInPlace`. */
export const STOP = "stop";
const STOPPED = /non tensor type/i;

/** A parameter in the memory; `gradient` holds the next value if it is not trainable. */
interface Room extends ParameterRange {
  plan: PlannedParameter;
  average: number; // address of the moving average; 0 if there is none
}

interface Kernels extends TrainKernels {
  /** Fills `mask` with 0, or with 1 / keep with probability `keep`. */
  dropoutMask(mask: number, length: number, keep: number, seed: number): void;
}

export class TrainingRun {
  private done = 0; // steps
  private more = 0; // address of a second set of gradients, for accumulation
  private feeds: Record<string, unknown> = {};
  private fetches: Record<string, unknown> = {};
  private buffer: ArrayBuffer | undefined; // the memory the feeds and fetches point into

  private constructor(
    readonly sessionMs: number, // what ONNX Runtime took to load the model
    private readonly plan: TrainingPlan,
    private readonly optimiser: Optimiser,
    private readonly wasm: WasmInstance<Kernels>,
    private readonly runtime: Runtime,
    private readonly session: RuntimeSession,
    private readonly rooms: readonly Room[],
    private readonly scalars: number, // address
    private readonly gradients: { from: number; floats: number },
    private readonly masks: readonly number[],
  ) {}

  static async open(plan: TrainingPlan): Promise<TrainingRun> {
    const wasm = await loadWasm<Kernels>("train");
    const place = (parameters: readonly PlannedParameter[]) =>
      parameters.map((parameter) => wasm.allocate(parameter.data.length * 4));
    const trainable = plan.parameters.filter((parameter) => parameter.trainable);
    const fixed = plan.parameters.filter((parameter) => !parameter.trainable);
    const ordered = [...trainable, ...fixed];
    const weights = place(ordered);
    const scalars = wasm.allocate(plan.scalars.length * 64);
    const results = place(ordered);
    const optimiser = buildOptimiser(plan.optimiser);
    const slots = optimiser.slots.map(() => place(trainable));
    const averages = plan.ema > 0 ? place(ordered) : [];
    const masks = plan.dropouts.map(({ size }) => wasm.allocate(size * 4));
    const rooms = ordered.map((parameter, i) => ({
      plan: parameter,
      name: parameter.name,
      decay: parameter.decays,
      length: parameter.data.length,
      parameter: weights[i],
      gradient: results[i],
      slots: parameter.trainable ? slots.map((list) => list[i]) : [],
      average: averages[i] ?? 0,
    }));
    const last = trainable.length - 1;
    const floats = last < 0 ? 0 : (results[last] - results[0]) / 4 + trainable[last].data.length;
    const start = performance.now();
    const { runtime, session } = await createSession(plan.model, plan.options);
    const sessionMs = performance.now() - start;
    const run = new TrainingRun(
      sessionMs,
      plan,
      optimiser,
      wasm,
      runtime,
      session,
      rooms,
      scalars,
      { from: results[0] ?? 0, floats },
      masks,
    );
    run.writeParameters(plan.parameters.map(({ data }) => data));
    for (const room of rooms)
      if (room.average) run.floats(room.average, room.length).set(run.floats(room.parameter, room.length));
    return run;
  }

  private floats(address: number, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.wasm.memory.buffer as ArrayBuffer, address, length);
  }

  /** Inputs and outputs that point into the memory; made again when it has grown. */
  private bind(): void {
    const { buffer } = this.wasm.memory;
    if (this.buffer === buffer) return;
    this.buffer = buffer as ArrayBuffer;
    const view = (address: number, shape: readonly number[], length: number) =>
      tensorOf(this.runtime, "float32", this.floats(address, length), shape);
    this.feeds = {};
    this.fetches = {};
    for (const { plan, parameter, gradient, length } of this.rooms) {
      if (plan.read) this.feeds[plan.name] = view(parameter, plan.shape, length);
      if (plan.output) this.fetches[plan.output] = view(gradient, plan.shape, length);
    }
    this.plan.scalars.forEach((name, i) => {
      this.fetches[name] = view(this.scalars + i * 64, [], 1);
    });
  }

  async step({ batches, learningRate }: StepRequest): Promise<StepResult> {
    const { exports } = this.wasm;
    const { from, floats } = this.gradients;
    const sums = new Float64Array(this.plan.scalars.length);
    if (batches.length > 1 && !this.more) this.more = this.wasm.allocate(floats * 4);
    for (const [i, batch] of batches.entries()) {
      await this.run(batch, i);
      this.plan.scalars.forEach((_, k) => {
        sums[k] += this.floats(this.scalars + k * 64, 1)[0] / batches.length;
      });
      for (const room of this.rooms) {
        if (!room.plan.trainable && room.plan.output) {
          this.floats(room.parameter, room.length).set(this.floats(room.gradient, room.length));
        }
      }
      if (batches.length === 1) continue;
      if (i === 0) this.floats(this.more, floats).fill(0);
      exports.accumulate(this.more, from, floats, 1 / batches.length);
    }
    if (batches.length > 1) this.floats(from, floats).set(this.floats(this.more, floats));
    const gradientNorm = Math.sqrt(exports.sumOfSquares(from, floats));
    if (Number.isFinite(gradientNorm) && Number.isFinite(sums[0])) this.update(learningRate, gradientNorm);
    const scalars = Object.fromEntries(this.plan.scalars.map((name, i) => [name, sums[i]]));
    return { scalars, gradientNorm };
  }

  private update(learningRate: number, gradientNorm: number): void {
    const { exports } = this.wasm;
    const { clip, ema } = this.plan;
    const trainable = this.rooms.filter(({ plan }) => plan.trainable);
    const decay = emaDecayAt(ema, this.done);
    this.optimiser.update(exports, trainable, { step: this.done }, learningRate, clipScale(gradientNorm, clip));
    this.done++;
    for (const { average, parameter, length } of this.rooms) {
      if (average) exports.approach(average, parameter, length, 1 - decay);
    }
  }

  private async run(batch: Feeds, part: number): Promise<void> {
    const { dropouts, seed } = this.plan;
    dropouts.forEach(({ size, keep }, i) => {
      this.wasm.exports.dropoutMask(this.masks[i], size, keep, mix(seed, this.done, part, i));
    });
    this.bind();
    const own = new Set([...Object.keys(this.feeds), ...dropouts.map(({ input }) => input)]);
    const inputs = this.session.inputMetadata.filter(({ name }) => !own.has(name));
    const feeds: Record<string, unknown> = { ...this.feeds, ...wrapFeeds(this.runtime, inputs, batch) };
    dropouts.forEach(({ input, size }, i) => {
      feeds[input] = tensorOf(this.runtime, "float32", this.floats(this.masks[i], size), [size]);
    });
    if (runtimeFillsOutputs) await this.runInPlace(feeds);
    else await this.runAndCopy(feeds);
  }

  /**
   * onnxruntime-node writes results into the memory we provide, and then copies every one of them into fresh memory
   * for its answer, a tenth of the step's time with nine million gradients. The answer begins with an output it cannot
   * express in JavaScript (a list), so it gives up before the copies; the results are where we want them by then.
   */
  private async runInPlace(feeds: Record<string, unknown>): Promise<void> {
    try {
      await this.session.run(feeds as never, { [STOP]: null, ...this.fetches } as never);
    } catch (error) {
      if (STOPPED.test(messageOf(error))) return;
      throw error;
    }
    throw new Error("internal: ONNX Runtime answered with a list");
  }

  private async runAndCopy(feeds: Record<string, unknown>): Promise<void> {
    const results = await this.session.run(feeds as never);
    for (const [name, fetch] of Object.entries(this.fetches)) {
      (fetch as { data: Float32Array }).data.set((results[name] as unknown as { data: Float32Array }).data);
    }
  }

  /** Copies of all parameters, or of their averages, in the order of the plan. */
  readParameters(average: boolean): Float32Array[] {
    return this.plan.parameters.map(({ name }) => {
      const room = this.rooms.find((candidate) => candidate.name === name)!;
      return this.floats(average && room.average ? room.average : room.parameter, room.length).slice();
    });
  }

  writeParameters(values: readonly Float32Array[]): void {
    this.plan.parameters.forEach(({ name }, i) => {
      const room = this.rooms.find((candidate) => candidate.name === name)!;
      this.floats(room.parameter, room.length).set(values[i]);
    });
  }

  private arrays(): Map<string, { room: Room; address: number }> {
    const names = this.optimiser.slots;
    const found = new Map<string, { room: Room; address: number }>();
    for (const room of this.rooms) {
      room.slots.forEach((address, i) => {
        found.set(`${names[i]}.${room.name}`, { room, address });
      });
      if (room.average) found.set(`ema.${room.name}`, { room, address: room.average });
    }
    return found;
  }

  readState(): TrainerState {
    const tensors: TrainerState["tensors"] = {};
    for (const [name, { room, address }] of this.arrays()) {
      tensors[name] = { data: this.floats(address, room.length).slice(), shape: room.plan.shape, dtype: "float32" };
    }
    return { step: this.done, tensors };
  }

  writeState({ step, tensors }: TrainerState): void {
    for (const [name, { room, address }] of this.arrays()) {
      const saved = tensors[name];
      if (!saved || saved.data.length !== room.length) {
        const found = saved ? `has ${saved.data.length} values instead of ${room.length}` : "is missing";
        throw new UserError(
          "STATE_MISMATCH",
          `The saved state does not belong to this training: ${name} ${found}.\nIt was saved with another model, optimiser or ema setting.`,
        );
      }
      this.floats(address, room.length).set(saved.data as Float32Array);
    }
    this.done = step;
  }
}

/** One seed from several numbers, by rounds of a 32-bit mixer. */
function mix(...numbers: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const number of numbers) {
    hash = Math.imul(hash ^ number, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash;
}
