import { compileWasm, WasmInstance } from "#base";
import { core } from "#chess";
import { buildOptimiser, emaDecayAt, type Optimiser, type OptimiserChoice, writeRule } from "#tensor";
import {
  ARRIVED,
  BAD,
  BLOCKS,
  CONTROLS,
  FACT_BYTES,
  GENERATION,
  INPUT_BYTES,
  type NnueKernels,
  type NnueMemory,
  RECORD_BYTES,
  type Region,
  WORK,
} from "./memory.js";

export interface StepOrder {
  positions: number; // records of the batch
  step: number; // steps done before
  learningRate: number;
  ema: number; // decay of the averaged weights; 0 for none
  everyRow: boolean; // give the optimiser also the rows of the first layer that are not on in the batch
}

// Phases that share work out: each has a counter of its own.
const ENCODE = WORK;
const GATHER = WORK + 1;
const LEARN = WORK + 2;
const UPDATE = WORK + 3;

/** One of the threads that train a network together. All do the same phases; a barrier stands between two of them. */
export class NnueThread {
  private readonly control: Int32Array;
  private readonly kept: Int32Array;
  private readonly losses: Float64Array;
  private readonly bytes: Uint8Array;
  private readonly region: { layout: number; records: number; inputs: number; facts: number }; // in the chess core's memory

  private constructor(
    private readonly m: NnueMemory,
    private readonly index: number,
    private readonly kernels: NnueKernels,
    private readonly optimiser: Optimiser | undefined,
  ) {
    const { buffer } = m.memory;
    this.control = new Int32Array(buffer, m.control, CONTROLS);
    this.kept = new Int32Array(buffer, m.kept, BLOCKS);
    this.losses = new Float64Array(buffer, m.losses, BLOCKS);
    this.bytes = new Uint8Array(buffer);
    this.region = {
      layout: core.allocate(m.layout.length),
      records: core.allocate(m.blockPositions * RECORD_BYTES),
      inputs: core.allocate(m.blockPositions * INPUT_BYTES),
      facts: core.allocate(m.blockPositions * FACT_BYTES),
    };
    core.bytes.set(m.layout, this.region.layout);
  }

  static async open(setup: {
    memory: NnueMemory;
    index: number;
    optimiser: OptimiserChoice | undefined;
  }): Promise<NnueThread> {
    const module = await compileWasm("train-shared");
    const { exports } = new WasmInstance<NnueKernels>(module, setup.memory.memory);
    return new NnueThread(setup.memory, setup.index, exports, setup.optimiser && buildOptimiser(setup.optimiser));
  }

  /** One step of training on the records in the memory. If one of them is bad or the loss is no number, nothing changes. */
  step(order: StepOrder): void {
    const { m, kernels } = this;
    if (!this.gather(order.positions)) return;
    this.share(LEARN, BLOCKS, (block) => {
      const gradient = m.blockGradients + block * m.denseBytes;
      const [first, count] = this.part(block, BLOCKS);
      this.losses[block] = kernels.nnueLearn(m.plan, first, count, m.scratch[this.index], gradient);
    });
    this.barrier();
    if (!Number.isFinite(this.loss()) || this.positions() === 0) return;
    this.update(order);
    this.barrier();
  }

  /** The outputs for the records in the memory, and their losses. */
  predict(positions: number): void {
    const { m, kernels } = this;
    if (!this.gather(positions)) return;
    this.share(LEARN, BLOCKS, (block) => {
      const [first, count] = this.part(block, BLOCKS);
      this.losses[block] = kernels.nnuePredict(m.plan, first, count, m.scratch[this.index], m.outputs);
    });
  }

  /** Reads and sorts the positions and makes the sums of the first layer; false if a record is bad. */
  private gather(positions: number): boolean {
    const { m, kernels } = this;
    const scratch = m.scratch[this.index];
    this.share(ENCODE, BLOCKS, (block) => {
      this.encode(block, positions);
      kernels.nnueKings(m.plan, block * m.blockPositions, this.kept[block]);
    });
    this.barrier();
    if (this.control[BAD] !== 0) return false;
    if (this.index === 0) kernels.nnueOrder(m.plan, m.kept, BLOCKS, m.blockPositions, scratch);
    this.barrier();
    const [first, count] = this.part(this.index, m.threads);
    const counts = m.counts + this.index * m.countBytes;
    this.bytes.fill(0, counts, counts + m.countBytes);
    kernels.nnueCount(m.plan, first, count, counts);
    this.barrier();
    if (this.index === 0) kernels.nnueStarts(m.plan, m.counts, m.threads);
    this.barrier();
    kernels.nnueSort(m.plan, first, count, counts);
    this.barrier();
    const { parameter: own } = m.features;
    const shared = m.shared?.parameter ?? 0;
    this.share(GATHER, m.kings * m.slices, (piece) => {
      const king = Math.floor(piece / m.slices);
      kernels.nnueGather(m.plan, king, piece % m.slices, own, shared, scratch);
    });
    this.barrier();
    return true;
  }

  private loss(): number {
    return this.losses.reduce((sum, loss) => sum + loss, 0);
  }

  private positions(): number {
    return this.kept.reduce((sum, kept) => sum + kept, 0);
  }

  /** Where one of so many parts of the batch's positions begins, and how many it has. */
  private part(part: number, parts: number): [first: number, count: number] {
    const positions = this.positions();
    const first = Math.floor((positions * part) / parts);
    return [first, Math.floor((positions * (part + 1)) / parts) - first];
  }

  private encode(block: number, positions: number): void {
    const { m, region } = this;
    const first = block * m.blockPositions;
    const count = Math.max(0, Math.min(m.blockPositions, positions - first));
    const from = m.records + first * RECORD_BYTES;
    core.bytes.set(this.bytes.subarray(from, from + count * RECORD_BYTES), region.records);
    const { layout, records, inputs, facts } = region;
    const kept = core.wasm.nnueFeatures(layout, records, count, core.POSITION, inputs, facts, m.quiet, m.scoreLimit);
    this.kept[block] = Math.max(0, kept);
    if (kept < 0) Atomics.compareExchange(this.control, BAD, 0, first - kept);
    else {
      const put = (address: number, size: number, to: number) =>
        this.bytes.set(core.bytes.subarray(address, address + kept * size), to + first * size);
      put(inputs, INPUT_BYTES, m.inputs);
      put(facts, FACT_BYTES, m.facts);
    }
  }

  /** The optimiser's part: first what is dense, then the first layer slice by slice. */
  private update(order: StepOrder): void {
    const scale = 1 / this.positions();
    this.share(UPDATE, this.m.slices + 1, (piece) => {
      if (piece === 0) this.updateDense(order, scale);
      else this.updateSlice(piece - 1, order, scale);
    });
  }

  private updateDense(order: StepOrder, scale: number): void {
    const { m, kernels } = this;
    const floats = m.denseBytes / 4;
    this.bytes.fill(0, m.denseGradient, m.denseGradient + m.denseBytes);
    for (let block = 0; block < BLOCKS; block++)
      kernels.accumulate(m.denseGradient, m.blockGradients + block * m.denseBytes, floats, 1);
    for (const region of m.dense) {
      const { name, length, parameter, gradient, slots, limit, shape } = region;
      const range = { name, length, parameter, gradient, slots, decay: shape.length > 1 };
      this.optimiser!.update(kernels, [range], { step: order.step }, order.learningRate, scale);
      if (limit > 0) kernels.clampRange(parameter, length, limit);
      this.average(region, 0, length, order);
    }
  }

  private updateSlice(slice: number, order: StepOrder, scale: number): void {
    const { m, kernels, optimiser } = this;
    const { features, shared } = m;
    const rule = m.rules[this.index];
    const { step, learningRate, everyRow } = order;
    writeRule(m.memory.buffer, rule, optimiser!.rule({ step }, learningRate, scale, true));
    const addresses = (region: Region | undefined) =>
      [region?.parameter ?? 0, region?.slots[0] ?? 0, region?.slots[1] ?? 0] as const;
    const [own, others] = [addresses(features), addresses(shared)];
    kernels.nnueUpdate(m.plan, slice, rule, everyRow, ...own, ...others, m.scratch[this.index]);
    for (const region of shared ? [features, shared] : [features]) {
      const length = region.length / m.slices;
      this.average(region, slice * length, length, order);
    }
  }

  private average({ average, parameter }: Region, first: number, length: number, { ema, step }: StepOrder): void {
    if (ema > 0) this.kernels.approach(average + first * 4, parameter + first * 4, length, 1 - emaDecayAt(ema, step));
  }

  /** Takes pieces of work, one after another, until none is left; which thread does which makes no difference. */
  private share(counter: number, pieces: number, work: (piece: number) => void): void {
    for (;;) {
      const piece = Atomics.add(this.control, counter, 1);
      if (piece >= pieces) return;
      work(piece);
    }
  }

  /** Waits until all threads are here. */
  private barrier(): void {
    const { control, m } = this;
    const generation = Atomics.load(control, GENERATION);
    if (Atomics.add(control, ARRIVED, 1) === m.threads - 1) {
      Atomics.store(control, ARRIVED, 0);
      Atomics.add(control, GENERATION, 1);
      Atomics.notify(control, GENERATION);
    } else while (Atomics.load(control, GENERATION) === generation) Atomics.wait(control, GENERATION, generation);
  }
}
