// Plain sums over flat ranges of 32-bit floats.

/**
 * The sum of squares, in double precision. Not finite if an element is not, which is how a training loop notices that
 * a run has gone wrong without a pass of its own.
 */
export function sumOfSquares(array: usize, length: i32): f64 {
  let a = f64x2.splat(0);
  let b = f64x2.splat(0);
  const end = (<usize>length) << 2;
  const whole = end & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16) {
    const x = v128.load(array + i);
    const low = f64x2.promote_low_f32x4(x);
    const high = f64x2.promote_low_f32x4(i8x16.shuffle(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    a = f64x2.add(a, f64x2.mul(low, low));
    b = f64x2.add(b, f64x2.mul(high, high));
  }
  const both = f64x2.add(a, b);
  let sum = f64x2.extract_lane(both, 0) + f64x2.extract_lane(both, 1);
  for (; i < end; i += 4) {
    const x = <f64>load<f32>(array + i);
    sum += x * x;
  }
  return sum;
}

/** target += factor * source, for accumulated gradients. */
export function accumulate(target: usize, source: usize, length: i32, factor: f32): void {
  const f = f32x4.splat(factor);
  const end = (<usize>length) << 2;
  const whole = end & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16)
    v128.store(target + i, f32x4.add(v128.load(target + i), f32x4.mul(f, v128.load(source + i))));
  for (; i < end; i += 4) store<f32>(target + i, load<f32>(target + i) + factor * load<f32>(source + i));
}

/** average += fresh * (source - average): one step of an exponential moving average with decay 1 - fresh. */
export function approach(average: usize, source: usize, length: i32, fresh: f32): void {
  const f = f32x4.splat(fresh);
  const end = (<usize>length) << 2;
  const whole = end & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16) {
    const a = v128.load(average + i);
    v128.store(average + i, f32x4.add(a, f32x4.mul(f, f32x4.sub(v128.load(source + i), a))));
  }
  for (; i < end; i += 4) {
    const a = load<f32>(average + i);
    store<f32>(average + i, a + fresh * (load<f32>(source + i) - a));
  }
}

/**
 * The gradient of an embedding: adds row r of `source` to row indices[r] of `target`, for `count` rows of `width`
 * floats. The rows are added in order, so the result is the same every time. Indices are 32-bit and must be in range.
 */
export function addRows(target: usize, indices: usize, source: usize, count: i32, width: i32): void {
  const bytes = (<usize>width) << 2;
  for (let r = 0; r < count; r++) {
    accumulate(
      target + <usize>load<i32>(indices + ((<usize>r) << 2)) * bytes,
      source + <usize>r * bytes,
      width,
      1,
    );
  }
}
