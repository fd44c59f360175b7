// Random numbers for checks inside the core, the same for the same seed.
let state: u64 = 0;

export function seedRandom(seed: u64): void {
  state = seed | 1;
}

/** A number from 0 to below `limit` (xorshift64*, Vigna 2016). */
export function random(limit: i32): i32 {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return <i32>(((state * 0x2545f4914f6cdd1d) >> 33) % <u64>limit);
}
