// Random masks that depend on nothing but a seed and the index in the mask.

/** Fills `mask` with 0, or with 1 / keep with probability `keep`. */
export function dropoutMask(mask: usize, length: i32, keep: f32, seed: u32): void {
  const limit = <u32>(<f64>keep * 4294967295.0);
  const kept: f32 = 1 / keep;
  for (let i: u32 = 0; i < <u32>length; i++) {
    // A 32-bit mixer with full avalanche (splitmix32's constants) over a Weyl sequence from the seed
    let z = seed + i * 0x9e3779b9;
    z ^= z >>> 16;
    z *= 0x21f0aaad;
    z ^= z >>> 15;
    z *= 0x735a2d97;
    z ^= z >>> 15;
    store<f32>(mask + ((<usize>i) << 2), z <= limit ? kept : 0);
  }
}
