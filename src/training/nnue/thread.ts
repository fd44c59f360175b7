import { compileWasm, WasmInstance } from "#base";
import { core } from "#chess";
import { buildOptimiser, emaDecayAt, type Optimiser, type OptimiserChoice, type ParameterRange } from "#tensor";
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
  type Room,
  WORK,
} from "./memory.js";

export interface StepOrder {
  positions: number; // records of the batch
  step: number; // steps done before
  learningRate: number;
  ema: number; // decay of the averaged weights; 0 for none
  everyRow: boolean; // give the optimiser also the rows of the first layer that are not on in the batch
}

type MutableRange = { -readonly [K in keyof ParameterRange]: ParameterRange[K] };

// Phases that share work out: each has a counter of its own.
const FOLD = WORK;
const LEARN = WORK + 1;
const ROWS = WORK + 2;
const UPDATE = WORK + 3;

const ROW_CHUNKS = 64; // pieces of the first layer in the phases that walk its rows
const KINDS_AT_ONCE = 8;

/** One of the threads that train a network together. All do the same phases; a barrier stands between two of them. */
export class NnueThread {
  private readonly control: Int32Array;
  private readonly kept: Int32Array;
  private readonly losses: Float64Array;
  private readonly bytes: Uint8Array;
  private readonly room: { layout: number; records: number; inputs: number; facts: number }; // in the chess core's memory

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
    this.room = {
      layout: core.allocate(m.layout.length),
      records: core.allocate(m.blockPositions * RECORD_BYTES),
      inputs: core.allocate(m.blockPositions * INPUT_BYTES),
      facts: core.allocate(m.blockPositions * FACT_BYTES),
    };
    core.bytes.set(m.layout, this.room.layout);
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
    const counts = m.counts + this.index * m.rows * 4;
    this.bytes.fill(0, counts, counts + m.rows * 4);
    for (const block of this.ownBlocks()) {
      this.encode(block, order.positions);
      kernels.nnueCount(m.plan, block * m.blockPositions, this.kept[block], counts);
    }
    this.barrier();
    if (this.control[BAD] !== 0) return;
    if (this.index === 0) kernels.nnueStarts(m.plan, m.counts, m.threads);
    this.barrier();
    for (const block of this.ownBlocks()) kernels.nnueSort(m.plan, block * m.blockPositions, this.kept[block], counts);
    this.foldRows(false, false);
    this.barrier();
    this.share(LEARN, BLOCKS, (block) => {
      const gradient = m.blockGradients + block * m.denseBytes;
      const first = block * m.blockPositions;
      this.losses[block] = kernels.nnueLearn(m.plan, first, this.kept[block], m.scratch[this.index], gradient);
    });
    this.barrier();
    if (!Number.isFinite(this.loss()) || this.positions() === 0) return;
    this.share(ROWS, m.slices * ROW_CHUNKS, (piece) => {
      const [first, end] = this.rowsOf(piece % ROW_CHUNKS);
      kernels.nnueRowGradients(m.plan, Math.floor(piece / ROW_CHUNKS), first, end, m.features.gradient);
    });
    this.barrier();
    this.update(order);
    this.barrier();
  }

  /** Makes the weights that `predict` uses from those in training, or from their moving average. */
  fold(averaged: boolean): void {
    this.foldRows(averaged, true);
    this.barrier();
  }

  /** The outputs for the records in the memory, and their losses. */
  predict(positions: number): void {
    const { m, kernels } = this;
    this.share(LEARN, BLOCKS, (block) => {
      this.encode(block, positions);
      const first = block * m.blockPositions;
      const outputs = m.outputs + first * 4;
      this.losses[block] = kernels.nnuePredict(m.plan, first, this.kept[block], m.scratch[this.index], outputs);
    });
  }

  private loss(): number {
    return this.losses.reduce((sum, loss) => sum + loss, 0);
  }

  private positions(): number {
    return this.kept.reduce((sum, kept) => sum + kept, 0);
  }

  /** The blocks whose positions this thread reads and sorts: neighbours, so that all threads together keep the order. */
  private *ownBlocks(): Generator<number> {
    const { threads } = this.m;
    const end = Math.floor((BLOCKS * (this.index + 1)) / threads);
    for (let block = Math.floor((BLOCKS * this.index) / threads); block < end; block++) yield block;
  }

  private encode(block: number, positions: number): void {
    const { m, room } = this;
    const first = block * m.blockPositions;
    const count = Math.max(0, Math.min(m.blockPositions, positions - first));
    const from = m.records + first * RECORD_BYTES;
    core.bytes.set(this.bytes.subarray(from, from + count * RECORD_BYTES), room.records);
    const { layout, records, inputs, facts } = room;
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

  private rowsOf(chunk: number): [number, number] {
    const { rows } = this.m;
    return [Math.floor((rows * chunk) / ROW_CHUNKS), Math.floor((rows * (chunk + 1)) / ROW_CHUNKS)];
  }

  private foldRows(averaged: boolean, all: boolean): void {
    const { m, kernels } = this;
    const at = (room: Room | undefined) => (room ? (averaged ? room.average : room.parameter) : 0);
    this.share(FOLD, ROW_CHUNKS, (chunk) => {
      const [first, end] = this.rowsOf(chunk);
      kernels.nnueFold(m.plan, at(m.features), at(m.shared), first, end, all);
    });
  }

  /** The optimiser's part: first what is dense, then the rows of the first layer, those of one man on one square together. */
  private update(order: StepOrder): void {
    const { m } = this;
    const scale = 1 / this.positions();
    const pieces = Math.ceil(m.kinds / KINDS_AT_ONCE);
    const starts = new Uint32Array(m.memory.buffer, new Int32Array(m.memory.buffer, m.plan, 20)[10], m.rows + 1);
    this.share(UPDATE, pieces + 1, (piece) => {
      if (piece === 0) this.updateDense(order, scale);
      const first = (piece - 1) * KINDS_AT_ONCE;
      if (piece > 0)
        for (let kind = first; kind < Math.min(m.kinds, first + KINDS_AT_ONCE); kind++)
          this.updateKind(kind, starts, order, scale);
    });
  }

  private updateDense(order: StepOrder, scale: number): void {
    const { m, kernels } = this;
    const floats = m.denseBytes / 4;
    this.bytes.fill(0, m.denseGradient, m.denseGradient + m.denseBytes);
    for (let block = 0; block < BLOCKS; block++)
      kernels.accumulate(m.denseGradient, m.blockGradients + block * m.denseBytes, floats, 1);
    for (const room of m.dense) {
      const { name, length, parameter, gradient, slots, limit, shape } = room;
      this.optimise({ name, length, parameter, gradient, slots, decay: shape.length > 1 }, order, scale);
      if (limit > 0) kernels.clampRange(parameter, length, limit);
      this.average(room, 0, length, order);
    }
  }

  /** The rows of one man on one square, for all kings, and what these share. */
  private updateKind(kind: number, starts: Uint32Array, order: StepOrder, scale: number): void {
    const { m, kernels } = this;
    const { features, shared, hidden } = m;
    const range: MutableRange = { name: "", length: hidden, parameter: 0, gradient: 0, slots: [], decay: true };
    let isOn = false;
    if (shared) {
      const gradient = shared.gradient + kind * hidden * 4;
      this.bytes.fill(0, gradient, gradient + hidden * 4);
    }
    for (let row = kind; row < m.rows; row += m.kinds) {
      const rowIsOn = starts[row] !== starts[row + 1];
      isOn ||= rowIsOn;
      const at = row * hidden * 4;
      if (rowIsOn && shared) kernels.accumulate(shared.gradient + kind * hidden * 4, features.gradient + at, hidden, 1);
      if (rowIsOn || order.everyRow) {
        this.point(range, features, at);
        if (!rowIsOn) range.gradient = m.zeros;
        this.optimise(range, order, scale);
      }
      this.average(features, at, hidden, order);
    }
    if (!shared) return;
    if (isOn || order.everyRow) {
      this.point(range, shared, kind * hidden * 4);
      this.optimise(range, order, scale);
    }
    this.average(shared, kind * hidden * 4, hidden, order);
  }

  private point(range: MutableRange, { parameter, gradient, slots }: Room, offset: number): void {
    range.parameter = parameter + offset;
    range.gradient = gradient + offset;
    range.slots = slots.map((slot) => slot + offset);
  }

  private optimise(range: ParameterRange, { step, learningRate }: StepOrder, scale: number): void {
    this.optimiser?.update(this.kernels, [range], { step }, learningRate, scale);
  }

  private average({ average, parameter }: Room, offset: number, length: number, { ema, step }: StepOrder): void {
    if (ema > 0) this.kernels.approach(average + offset, parameter + offset, length, 1 - emaDecayAt(ema, step));
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
