/**
 * The worker's side of training: parameters, gradients, moments and averages lie in one WASM memory, of which the
 * model's inputs and outputs are views. A step is one run of the model and one pass of the optimiser over the memory.
 */
import { loadWasm, type Runtime, UserError, type WasmInstance } from "#base";
import { emaDecayAt } from "./ema.js";
import { buildOptimiser } from "./optimiser-choice.js";
import type { TrainKernels } from "./optimisers/kernels.js";
import { clipScale, type Optimiser, type ParameterRange } from "./optimisers/optimiser.js";
import { Orthogonaliser } from "./orthogonaliser.js";
import { blocksOf, Exchange, type Replica, type Span } from "./replicas.js";
import { createSession, type RuntimeSession, runInto, tensorOf, wrapFeeds } from "./runner.js";
import type { Feeds } from "./session.js";
import {
  comesWhole,
  divide,
  inOrder,
  matrixOf,
  type PlannedParameter,
  type RunRequest,
  resultFloats,
  type TrainerState,
  type TrainingPlan,
  type UpdateRequest,
  widthOf,
} from "./training-plan.js";

/** A parameter in the memory; `gradient` holds the next value if it is not trainable. */
interface Room extends ParameterRange {
  plan: PlannedParameter;
  average: number; // address of the moving average; 0 if there is none
  values: number; // address of the gradient's rows, and of their indices; 0 if the gradient comes whole
  indices: number;
}

/** Not learned but changed by every batch, like the averages of a batch norm. */
const isStatistic = ({ plan }: Room): boolean => !plan.trainable && plan.output !== undefined;

/** The gradients in memory, the whole ones first. */
interface Gradients {
  from: number; // address
  floats: number;
  whole: number; // floats
}

interface Kernels extends TrainKernels {
  /** Fills `mask` with 0, or with 1 / keep with probability `keep`. */
  dropoutMask(mask: number, length: number, keep: number, seed: number): void;
}

/** What a run is made of; `open` makes it. */
interface RunParts {
  sessionMs: number; // what ONNX Runtime took to load the model
  plan: TrainingPlan;
  optimiser: Optimiser;
  wasm: WasmInstance<Kernels>;
  runtime: Runtime;
  session: RuntimeSession;
  rooms: readonly Room[];
  scalars: number; // address
  gradients: Gradients;
  span: Span; // of the results, what this worker owns
  owned: ReadonlySet<string>; // names of the parameters in it
  masks: readonly number[];
  exchange: Exchange | undefined;
  orthogonaliser: Orthogonaliser | undefined; // of the matrices it owns, if the optimiser wants that
}

export class TrainingRun {
  private done = 0; // steps
  private more = 0; // address of a second set of gradients, for accumulation
  private waiting = false; // whether that set is still to be added to the first
  private behind = false; // whether the others' new weights are still to be taken
  private feeds: Record<string, unknown> = {};
  private fetches: Record<string, unknown>[] = []; // for a step's first batch, and for further ones
  readonly sessionMs: RunParts["sessionMs"];
  private readonly plan: RunParts["plan"];
  private readonly optimiser: RunParts["optimiser"];
  private readonly wasm: RunParts["wasm"];
  private readonly runtime: RunParts["runtime"];
  private readonly session: RunParts["session"];
  private readonly rooms: RunParts["rooms"];
  private readonly scalars: RunParts["scalars"];
  private readonly gradients: RunParts["gradients"];
  private readonly span: RunParts["span"];
  private readonly owned: RunParts["owned"];
  private readonly masks: RunParts["masks"];
  private readonly exchange: RunParts["exchange"];
  private readonly orthogonaliser: RunParts["orthogonaliser"];
  private buffer: ArrayBuffer | undefined; // the memory the feeds and fetches point into

  private constructor(parts: RunParts) {
    this.sessionMs = parts.sessionMs;
    this.plan = parts.plan;
    this.optimiser = parts.optimiser;
    this.wasm = parts.wasm;
    this.runtime = parts.runtime;
    this.session = parts.session;
    this.rooms = parts.rooms;
    this.scalars = parts.scalars;
    this.gradients = parts.gradients;
    this.span = parts.span;
    this.owned = parts.owned;
    this.masks = parts.masks;
    this.exchange = parts.exchange;
    this.orthogonaliser = parts.orthogonaliser;
  }

  static async open(plan: TrainingPlan, { rank, count, slots: memory }: Replica): Promise<TrainingRun> {
    const wasm = await loadWasm<Kernels>("train");
    const place = (parameters: readonly PlannedParameter[]) =>
      parameters.map((parameter) => wasm.allocate(parameter.data.length * 4));
    const ordered = inOrder(plan.parameters);
    const trainable = ordered.filter((parameter) => parameter.trainable);
    const weights = place(ordered);
    const scalars = wasm.allocate(plan.scalars.length * 64);
    const results = place(ordered);
    const optimiser = buildOptimiser(plan.optimiser);
    const spans = divide(plan.parameters, count);
    const from = results[0] ?? 0;
    const isOwned = (i: number) =>
      (results[i] - from) / 4 >= spans[rank].from && (results[i] - from) / 4 < spans[rank].to;
    // Moments and averages are kept by the owner alone.
    const keep = (parameter: PlannedParameter) => wasm.allocate(parameter.data.length * 4);
    const masks = plan.dropouts.map(({ size }) => wasm.allocate(size * 4));
    const rooms = ordered.map((parameter, i) => ({
      plan: parameter,
      name: parameter.name,
      decay: parameter.decays,
      length: parameter.data.length,
      matrix: optimiser.momentumOfMatrices === undefined ? undefined : matrixOf(parameter),
      parameter: weights[i],
      gradient: results[i],
      slots: parameter.trainable && isOwned(i) ? optimiser.slots.map(() => keep(parameter)) : [],
      average: plan.ema > 0 && isOwned(i) ? keep(parameter) : 0,
      values: parameter.rows ? wasm.allocate(parameter.rows.count * widthOf(parameter) * 4) : 0,
      indices: parameter.rows ? wasm.allocate(parameter.rows.count * 4) : 0,
    }));
    const owned = rooms.filter((_, i) => isOwned(i));
    const start = performance.now();
    // Our own choice of layouts stands: of the further rewritings one turns matrices more often than we do.
    const { runtime, session } = await createSession(plan.model, plan.options, "basic");
    const sessionMs = performance.now() - start;
    const matrices = owned.flatMap(({ name, matrix, gradient }) => (matrix ? { name, matrix, address: gradient } : []));
    const run = new TrainingRun({
      sessionMs,
      plan,
      optimiser,
      wasm,
      runtime,
      session,
      rooms,
      scalars,
      gradients: { from, floats: resultFloats(trainable), whole: resultFloats(trainable.filter(comesWhole)) },
      span: spans[rank],
      owned: new Set(owned.map(({ name }) => name)),
      masks,
      exchange: memory && new Exchange(wasm, memory, rank, spans, from, weights[0]),
      orthogonaliser: matrices.length > 0 ? await Orthogonaliser.open(matrices, plan.options) : undefined,
    });
    run.writeParameters(plan.parameters.map(({ data }) => data));
    for (const room of rooms)
      if (room.average) run.floats(room.average, room.length).set(run.floats(room.parameter, room.length));
    return run;
  }

  private floats(address: number, length: number): Float32Array<ArrayBuffer> {
    return new Float32Array(this.wasm.memory.buffer as ArrayBuffer, address, length);
  }

  private integers(address: number, length: number): Int32Array<ArrayBuffer> {
    return new Int32Array(this.wasm.memory.buffer as ArrayBuffer, address, length);
  }

  /** Inputs and outputs that point into the memory; made again when it has grown. */
  private bind(): void {
    const { buffer } = this.wasm.memory;
    if (this.buffer === buffer) return;
    this.buffer = buffer as ArrayBuffer;
    const view = (address: number, shape: readonly number[], length: number) =>
      tensorOf(this.runtime, "float32", this.floats(address, length), shape);
    this.feeds = {};
    for (const { plan, parameter, length } of this.rooms) {
      if (plan.read) this.feeds[plan.name] = view(parameter, plan.shape, length);
    }
    const offsets = this.more ? [0, this.more - this.gradients.from] : [0];
    this.fetches = offsets.map((offset) => {
      const fetches: Record<string, unknown> = {};
      for (const { plan, gradient, length } of this.rooms) {
        if (plan.output) fetches[plan.output] = view(gradient + (plan.trainable ? offset : 0), plan.shape, length);
      }
      for (const { plan, values, indices } of this.rooms) {
        if (!plan.rows) continue;
        const { count } = plan.rows;
        const width = widthOf(plan);
        fetches[plan.rows.values] = view(values, [count, width], count * width);
        fetches[plan.rows.indices] = tensorOf(this.runtime, "int32", this.integers(indices, count), [count]);
      }
      this.plan.scalars.forEach((name, i) => {
        fetches[name] = view(this.scalars + i * 64, [], 1);
      });
      return fetches;
    });
  }

  /** Forward and backward, with the weights of the last update; all must have made it. Leaves the sums of the gradients behind, and returns the sums of the scalars. */
  async run({ batches }: RunRequest): Promise<number[]> {
    if (this.behind) this.exchange?.take();
    this.behind = false;
    this.waiting = false;
    const { floats, whole } = this.gradients;
    const sums = this.plan.scalars.map(() => 0);
    if (batches.length > 1 && !this.more) {
      this.more = this.wasm.allocate(whole * 4);
      this.buffer = undefined; // to be bound again
    }
    const statistics = this.rooms.filter(isStatistic);
    const before = statistics.map(({ parameter, length }) => this.floats(parameter, length).slice());
    try {
      for (const [i, { feeds, part }] of batches.entries()) {
        if (i > 0) this.takeStatistics(1);
        this.complete({ from: 0, to: floats });
        await this.runBatch(feeds, part, i > 0 ? 1 : 0);
        this.addBatchRows(i === 0);
        this.waiting = i > 0;
        sums.forEach((_, k) => {
          sums[k] += this.floats(this.scalars + k * 64, 1)[0];
        });
      }
    } finally {
      // Nothing is final before the update: another worker may fail, or the loss not be finite.
      statistics.forEach(({ parameter, length }, i) => {
        this.floats(parameter, length).set(before[i]);
      });
    }
    if (batches.length > 0) this.exchange?.publish((block) => this.complete(block));
    return sums;
  }

  /** Adds the last batch's gradients to those before it, if that is still to be done: once for each part of them. */
  private complete({ from, to }: Span): void {
    const length = Math.min(to, this.gradients.whole) - from;
    if (!this.waiting || length <= 0) return;
    this.wasm.exports.accumulate(this.gradients.from + from * 4, this.more + from * 4, length, 1);
  }

  /** Adds the batch's rows to the gradients of their tables, which hold nothing yet if it is the first batch. */
  private addBatchRows(first: boolean): void {
    for (const { plan, gradient, length, values, indices } of this.rooms) {
      if (!plan.rows) continue;
      const { count } = plan.rows;
      const numbers = this.integers(indices, count);
      numbers.forEach((index, i) => {
        if (index < 0) numbers[i] = index + plan.shape[0]; // counted from the end, which ONNX allows
      });
      if (first) this.floats(gradient, length).fill(0);
      this.wasm.exports.addRows(gradient, indices, values, count, widthOf(plan));
    }
  }

  private ownedRooms(): Room[] {
    return this.rooms.filter(({ name }) => this.owned.has(name));
  }

  /** Adds up all workers' gradients of what this one owns; returns the sum of their squares. All must have run. */
  addUp(workers: number): number {
    const { from, floats } = this.gradients;
    let squares = 0;
    for (const block of blocksOf(this.span)) {
      this.complete(block);
      this.exchange?.add(workers, block);
      const length = Math.min(block.to, floats) - block.from;
      if (length > 0) squares += this.wasm.exports.sumOfSquares(from + block.from * 4, length);
    }
    return squares;
  }

  /** Steps with what was added up. */
  async update({ learningRate, gradientNorm, batches, workers }: UpdateRequest): Promise<void> {
    const { exports } = this.wasm;
    const { clip, ema } = this.plan;
    const owned = this.ownedRooms();
    this.takeStatistics(1 / workers, owned);
    const decay = emaDecayAt(ema, this.done);
    const scale = clipScale(gradientNorm, clip) / batches;
    const trainable = owned.filter(({ plan }) => plan.trainable);
    await this.turnMatrices(trainable);
    this.optimiser.update(exports, trainable, { step: this.done }, learningRate, scale);
    this.done++;
    for (const { average, parameter, length } of owned) {
      if (average) exports.approach(average, parameter, length, 1 - decay);
    }
    this.exchange?.give();
    this.behind = true;
  }

  /** Gradients of matrices become directions, see `momentumOfMatrices`: Nesterov's look ahead along their mean, made orthogonal. */
  private async turnMatrices(rooms: readonly Room[]): Promise<void> {
    const { momentumOfMatrices: momentum } = this.optimiser;
    if (!this.orthogonaliser || momentum === undefined) return;
    const { approach } = this.wasm.exports;
    for (const { gradient, length, slots } of rooms.filter(({ matrix }) => matrix)) {
      approach(slots[0], gradient, length, 1 - momentum);
      approach(gradient, slots[0], length, momentum);
    }
    await this.orthogonaliser.run(this.wasm.memory.buffer as ArrayBuffer);
  }

  /** Running statistics become what the model returned for them, times `share`. */
  private takeStatistics(share: number, rooms = this.rooms): void {
    for (const { parameter, gradient, length } of rooms.filter(isStatistic)) {
      const next = this.floats(gradient, length);
      this.floats(parameter, length).set(share === 1 ? next : next.map((sum) => sum * share));
    }
  }

  private async runBatch(batch: Feeds, part: number, set: number): Promise<void> {
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
    await runInto(this.session, feeds, this.fetches[set]);
  }

  /** Copies of the parameters that this worker owns, or of their averages, by name. */
  readParameters(average: boolean): Record<string, Float32Array> {
    return Object.fromEntries(
      this.ownedRooms().map((room) => [
        room.name,
        this.floats(average && room.average ? room.average : room.parameter, room.length).slice(),
      ]),
    );
  }

  writeParameters(values: readonly Float32Array[]): void {
    this.behind = false;
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
