/**
 * Several workers train copies of one model, each on its own part of a step's batches. Each of them owns a part of the
 * parameters: it adds up all workers' gradients of these, steps, and gives the new weights to the others. All of it goes
 * through shared memory, one slot for each worker; ONNX Runtime cannot work there itself.
 */
import type { WasmInstance } from "#base";
import type { TrainKernels } from "./optimisers/kernels.js";

/** One worker's place among the replicas. */
export interface Replica {
  rank: number;
  count: number;
  slots: SharedArrayBuffer | undefined; // nothing if it is alone
}

/** Floats from .. to-1 of a worker's results, or of the weights, which lie alike. */
export interface Span {
  from: number;
  to: number;
}

const BLOCK = 16384; // floats; a block stays in the cache while several things are done with it

/** A span in blocks. */
export function* blocksOf({ from, to }: Span): Generator<Span> {
  for (let start = from; start < to; start += BLOCK) yield { from: start, to: Math.min(start + BLOCK, to) };
}

export class Exchange {
  private readonly block: number; // address

  constructor(
    private readonly wasm: WasmInstance<TrainKernels>,
    private readonly slots: SharedArrayBuffer,
    private readonly rank: number,
    private readonly spans: readonly Span[], // what each worker owns, one after another
    private readonly results: number, // address
    private readonly weights: number, // address
  ) {
    this.block = wasm.allocate(BLOCK * 4);
  }

  private slot(rank: number, { from, to }: Span): Float32Array {
    const floats = this.spans[this.spans.length - 1].to;
    return new Float32Array(this.slots, (rank * floats + from) * 4, to - from);
  }

  private own(address: number, { from, to }: Span): Float32Array {
    return new Float32Array(this.wasm.memory.buffer, address + from * 4, to - from);
  }

  /** Gives this worker's results to those who own them; `complete` is called for each block before it is read. */
  publish(complete: (block: Span) => void): void {
    this.spans.forEach((span, owner) => {
      if (owner === this.rank) return;
      for (const block of blocksOf(span)) {
        complete(block);
        this.slot(this.rank, block).set(this.own(this.results, block));
      }
    });
  }

  /** The sum of the first `count` workers' results in place of this one's own, for a block of what it owns. */
  add(count: number, block: Span): void {
    const first = this.rank < count ? this.rank : 0;
    if (first !== this.rank) this.own(this.results, block).set(this.slot(first, block));
    for (let rank = 0; rank < count; rank++) if (rank !== first) this.addSlot(rank, block);
  }

  private addSlot(rank: number, block: Span): void {
    const length = block.to - block.from;
    new Float32Array(this.wasm.memory.buffer, this.block, length).set(this.slot(rank, block));
    this.wasm.exports.accumulate(this.results + block.from * 4, this.block, length, 1);
  }

  /** Gives the weights that this worker owns to the others; nobody puts results there. */
  give(): void {
    const span = this.spans[this.rank];
    this.slot(this.rank, span).set(this.own(this.weights, span));
  }

  /** Takes what the others gave. */
  take(): void {
    this.spans.forEach((span, owner) => {
      if (owner !== this.rank) this.own(this.weights, span).set(this.slot(owner, span));
    });
  }
}
