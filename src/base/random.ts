/**
 * A seeded source of random numbers (xoshiro128**, Blackman and Vigna 2018). The same seed gives the same numbers on
 * every machine; the state can be saved and restored, so that a resumed run draws what it would have drawn.
 */
export class Random {
  private readonly state = new Uint32Array(4);

  constructor(seed: number) {
    // splitmix32 spreads nearby seeds far apart
    let z = seed | 0;
    for (let i = 0; i < 4; i++) {
      z = (z + 0x9e3779b9) | 0;
      let x = z ^ (z >>> 16);
      x = Math.imul(x, 0x21f0aaad);
      x ^= x >>> 15;
      x = Math.imul(x, 0x735a2d97);
      this.state[i] = x ^ (x >>> 15);
    }
  }

  /** A whole number of 32 random bits, 0 .. 2^32-1. */
  bits(): number {
    const s = this.state;
    const x = Math.imul(s[1], 5);
    const result = Math.imul((x << 7) | (x >>> 25), 9) >>> 0;
    const t = s[1] << 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 11) | (s[3] >>> 21);
    return result;
  }

  /** A number in [0, 1). */
  next(): number {
    return (this.bits() * 0x200000 + (this.bits() >>> 11)) / 2 ** 53;
  }

  /** A whole number in [0, limit). */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** One element of a list that is not empty. */
  pick<T>(list: ArrayLike<T>): T {
    return list[this.below(list.length)];
  }

  /** A number from the standard normal distribution. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  /** Shuffles in place (Fisher-Yates) and returns the list. */
  shuffle<T extends { length: number; [index: number]: unknown }>(list: T): T {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const kept = list[i];
      list[i] = list[j];
      list[j] = kept;
    }
    return list;
  }

  save(): number[] {
    return [...this.state];
  }

  restore(saved: readonly number[]): void {
    this.state.set(saved);
  }
}

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
