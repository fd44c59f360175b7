/**
 * A table from position keys (64 bits, as two halves) to numbers, in some 24 bytes an entry: a Map of bigints needs five
 * times as much. Entries are never removed.
 */
export class KeyTable {
  private low: Uint32Array;
  private high: Uint32Array;
  private values: Float64Array; // NaN where there is no entry
  private count = 0;

  constructor(capacity = 1 << 12) {
    this.low = new Uint32Array(capacity); // a power of two
    this.high = new Uint32Array(capacity);
    this.values = new Float64Array(capacity).fill(Number.NaN);
  }

  get size(): number {
    return this.count;
  }

  get(low: number, high: number): number | undefined {
    const value = this.values[this.find(low, high)];
    return Number.isNaN(value) ? undefined : value;
  }

  /** Enters a key that is not there yet; false if it is, and then nothing changes. */
  add(low: number, high: number, value = 0): boolean {
    const at = this.find(low, high);
    if (!Number.isNaN(this.values[at])) return false;
    this.low[at] = low;
    this.high[at] = high;
    this.values[at] = value;
    if (++this.count > this.values.length * 0.7) this.grow();
    return true;
  }

  /** Where the key is, or the free place where it would be. */
  private find(low: number, high: number): number {
    const mask = this.values.length - 1;
    let at = (low ^ Math.imul(high, 0x9e3779b1)) & mask;
    while (!Number.isNaN(this.values[at]) && (this.low[at] !== low || this.high[at] !== high)) at = (at + 1) & mask;
    return at;
  }

  private grow(): void {
    const { low, high, values } = this;
    this.low = new Uint32Array(low.length * 2);
    this.high = new Uint32Array(low.length * 2);
    this.values = new Float64Array(low.length * 2).fill(Number.NaN);
    for (let i = 0; i < values.length; i++) {
      if (Number.isNaN(values[i])) continue;
      const at = this.find(low[i], high[i]);
      this.low[at] = low[i];
      this.high[at] = high[i];
      this.values[at] = values[i];
    }
  }
}
