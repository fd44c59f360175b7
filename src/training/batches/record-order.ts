import { concatBytes, mixSeed, Random } from "#base";
import { core } from "#chess";
import { BLOCK, type RandomRows } from "./record-source.js";

/** Records that are gathered for a batch, one behind the other, and their numbers in the file. */
export class GatheredRecords {
  readonly numbers: Float64Array;
  private bytes: Uint8Array<ArrayBuffer>;
  private readonly ends: Uint32Array<ArrayBuffer>;
  private count = 0;
  private length = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity * core.RECORD_BYTES);
    this.ends = new Uint32Array(capacity);
    this.numbers = new Float64Array(capacity);
  }

  add(from: Uint8Array, start: number, end: number, number: number): void {
    const needed = this.length + end - start;
    if (needed > this.bytes.length) {
      const grown = new Uint8Array(2 * needed);
      grown.set(this.bytes.subarray(0, this.length));
      this.bytes = grown;
    }
    for (let at = start; at < end; at++) this.bytes[this.length++] = from[at]; // for so few faster than `set`
    this.ends[this.count] = this.length;
    this.numbers[this.count++] = number;
  }

  /** What was gathered. Its buffers may be handed over. */
  get batch(): { bytes: Uint8Array<ArrayBuffer>; ends: Uint32Array<ArrayBuffer> } {
    return { bytes: this.bytes.subarray(0, this.length), ends: this.ends.subarray(0, this.count) };
  }
}

/**
 * An endless random order over the records of a source, in which any index can be found without going there: pass after
 * pass, each of which visits every record once. A pass takes the blocks of the file in an order of its own, a window of
 * them at a time, and shuffles the records within the window. Without a seed, every pass is in the order of the file.
 */
export class RecordOrder<S extends Pick<RandomRows, "count" | "read"> = RandomRows> {
  private readonly blocks: number; // whole or not, in the source
  private readonly windowRecords: number;
  private pass = -1;
  private blockOrder = new Uint32Array(0);
  private window = -1;
  // Of the window: its records as they were read, and the order in which they come.
  private bytes: Uint8Array = new Uint8Array(0);
  private bounds = new Uint32Array(0);
  private numbers = new Float64Array(0);
  private order = new Uint32Array(0);

  constructor(
    readonly source: S,
    private readonly seed: number | undefined,
    windowBlocks: number,
  ) {
    this.blocks = Math.ceil(source.count / BLOCK);
    this.windowRecords = windowBlocks * BLOCK;
  }

  /** Adds the records from an index, 0 or more, to before another. Fast for indices in order. */
  gather(from: number, to: number, rows: GatheredRecords): void {
    const { source, windowRecords } = this;
    for (let index = from; index < to; index++) {
      const pass = Math.floor(index / source.count);
      const inPass = index - pass * source.count;
      const window = Math.floor(inPass / windowRecords);
      if (pass !== this.pass || window !== this.window) this.load(pass, window);
      const at = this.order[inPass - window * windowRecords];
      rows.add(this.bytes, this.bounds[at], this.bounds[at + 1], this.numbers[at]);
    }
  }

  private load(pass: number, window: number): void {
    const { seed, source } = this;
    if (pass !== this.pass) {
      this.blockOrder = Uint32Array.from({ length: this.blocks }, (_, i) => i);
      // The last block, which may be short, stays last: so indices can be computed.
      if (seed !== undefined) new Random(mixSeed(seed, pass)).shuffle(this.blockOrder.subarray(0, -1));
    }
    this.pass = pass;
    this.window = window;
    const perWindow = this.windowRecords / BLOCK;
    const chosen = this.blockOrder.subarray(window * perWindow, (window + 1) * perWindow);
    const parts: Uint8Array[] = [];
    this.bounds = new Uint32Array(this.windowRecords + 1);
    this.numbers = new Float64Array(this.windowRecords);
    let count = 0;
    let length = 0;
    for (const block of chosen) {
      const first = block * BLOCK;
      const { bytes, ends } = source.read(first, Math.min(BLOCK, source.count - first));
      parts.push(bytes);
      for (let i = 0; i < ends.length; i++) {
        this.numbers[count++] = first + i;
        this.bounds[count] = length + ends[i];
      }
      length += bytes.length;
    }
    this.bytes = concatBytes(parts);
    this.order = Uint32Array.from({ length: count }, (_, i) => i);
    if (seed !== undefined) new Random(mixSeed(seed, pass, window, 1)).shuffle(this.order);
  }
}
