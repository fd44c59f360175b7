import { Random } from "#base";
import { BLOCK, type RecordSource } from "./record-source.js";

/** One number from several, for seeds that must not meet. */
export function mixSeed(...numbers: readonly number[]): number {
  let hash = 0x811c9dc5;
  for (const number of numbers) {
    hash = Math.imul(hash ^ (number | 0), 0x01000193);
    hash = Math.imul(hash ^ Math.floor(number / 2 ** 32), 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return hash | 0;
}

/** A record and where it came from. */
export interface FoundRecord {
  bytes: Uint8Array;
  record: number; // its number in the file
}

/**
 * An endless random order over the records of a source, in which any place can be found without going there: pass after
 * pass, each of which visits every record once. A pass takes the blocks of the file in an order of its own, a window of
 * them at a time, and shuffles the records within the window. Without a seed, one pass in the order of the file.
 */
export class RecordOrder {
  private readonly blocks: number; // whole or not, in the source
  private readonly windowRecords: number;
  private pass = -1;
  private blockOrder = new Uint32Array(0);
  private window = -1;
  private records: FoundRecord[] = [];

  constructor(
    readonly source: RecordSource,
    private readonly seed: number | undefined,
    windowBlocks: number,
  ) {
    this.blocks = Math.ceil(source.count / BLOCK);
    this.windowRecords = windowBlocks * BLOCK;
  }

  /** The record at a place, 0 or more. Fast for places in order. */
  at(place: number): FoundRecord {
    const pass = Math.floor(place / this.source.count);
    const inPass = place % this.source.count;
    const window = Math.floor(inPass / this.windowRecords);
    if (pass !== this.pass || window !== this.window) this.load(pass, window);
    return this.records[inPass - window * this.windowRecords];
  }

  private load(pass: number, window: number): void {
    const { seed, source } = this;
    if (pass !== this.pass) {
      this.blockOrder = Uint32Array.from({ length: this.blocks }, (_, i) => i);
      // The last block, which may be short, stays last: so places can be computed.
      if (seed !== undefined) new Random(mixSeed(seed, pass)).shuffle(this.blockOrder.subarray(0, -1));
    }
    this.pass = pass;
    this.window = window;
    this.records = [];
    const perWindow = this.windowRecords / BLOCK;
    for (const block of this.blockOrder.subarray(window * perWindow, (window + 1) * perWindow)) {
      const first = block * BLOCK;
      const { bytes, ends } = source.read(first, Math.min(BLOCK, source.count - first));
      let start = 0;
      ends.forEach((end, i) => {
        this.records.push({ bytes: bytes.subarray(start, end), record: first + i });
        start = end;
      });
    }
    if (seed !== undefined) new Random(mixSeed(seed, pass, window, 1)).shuffle(this.records);
  }
}
