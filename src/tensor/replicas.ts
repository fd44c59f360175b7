/**
 * Several workers train copies of one model, each on its own part of a step's batches. Their gradients meet in shared
 * memory, one slot for each worker; ONNX Runtime cannot write there itself. Every worker adds up all slots and makes the
 * same update, so the copies stay equal to the last bit and weights are never sent.
 */
import type { WasmInstance } from "#base";
import type { TrainKernels } from "./optimisers/kernels.js";

/** One worker's place among the replicas. */
export interface Replica {
  rank: number;
  slots: SharedArrayBuffer | undefined; // nothing if it is alone
}

const BLOCK = 16384; // floats; a block stays in the cache between its copy and its addition

export class SharedSums {
  private readonly block: number; // address

  constructor(
    private readonly wasm: WasmInstance<TrainKernels>,
    private readonly slots: SharedArrayBuffer,
    private readonly rank: number,
    private readonly from: number, // address of what is added up
    private readonly floats: number,
  ) {
    this.block = wasm.allocate(BLOCK * 4);
  }

  private slot(rank: number): Float32Array {
    return new Float32Array(this.slots, rank * this.floats * 4, this.floats);
  }

  private own(address: number, length: number): Float32Array {
    return new Float32Array(this.wasm.memory.buffer, address, length);
  }

  publish(): void {
    this.slot(this.rank).set(this.own(this.from, this.floats));
  }

  /** The sum of the first `count` workers' values in place of this one's own; the same bits in all of them. */
  add(count: number): void {
    // a + b is b + a, so the second may start with its own; the others start with the first's.
    const first = this.rank === 1 && count > 1 ? 1 : 0;
    if (first !== this.rank) this.own(this.from, this.floats).set(this.slot(0));
    for (let rank = 0; rank < count; rank++) if (rank !== first) this.addSlot(this.slot(rank));
  }

  private addSlot(slot: Float32Array): void {
    const block = this.own(this.block, BLOCK);
    for (let start = 0; start < this.floats; start += BLOCK) {
      const part = slot.subarray(start, start + BLOCK);
      block.set(part);
      this.wasm.exports.accumulate(this.from + start * 4, this.block, part.length, 1);
    }
  }
}
