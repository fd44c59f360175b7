// Training of efficiently updatable networks: what comes behind the first layer, and the loss. The plan is described in
// nnue.ts. Gradients of the dense weights lie as the weights do, one copy for each block of positions, so that their sum
// does not depend on which thread computed what.
import { factsOf, field, nnueGather, orderBytes } from "./nnue";

const HALFKP: i32 = 1;

// Offsets in a thread's scratch memory, behind the sums of a block.
const FIRST_SLOPES: usize = 0; // f32 [TILE][32]: derivatives of the loss by the sums of the first small layer
const SLOPES: usize = 16384; // f32 [2 * hidden]: derivatives of the loss by its sums
const ACTIVE: usize = 32768; // u16: the neurons that are not zero
const HIDDEN: usize = 40960; // f32 [32] x 4: sums and activations of the two small layers
const SCRATCH_BYTES: i32 = 49152;

/** Positions whose gradient of the 2 * hidden x 32 weights is added at once. */
const TILE: i32 = 8;

/** For each 4 bits the places of the ones, 16 bits each, lowest first. */
const PLACES: usize = memory.data(16 * 8, 16);

function fillPlaces(): void {
  for (let mask = 0; mask < 16; mask++) {
    let at = PLACES + (<usize>mask << 3);
    for (let i = 0; i < 4; i++) {
      if (!(mask & (1 << i))) continue;
      store<u16>(at, i);
      at += 2;
    }
  }
}

/** Bytes of scratch memory that `nnueLearn` and `nnuePredict` need for blocks of so many positions. */
export function nnueScratchBytes(plan: usize, positions: i32): i32 {
  return SCRATCH_BYTES + positions * field(plan, 0) * 8 + orderBytes(positions);
}

// @ts-expect-error: decorator
@inline
function sigmoid(x: f32): f32 {
  return 1 / (1 + NativeMathf.exp(-x));
}

// @ts-expect-error: decorator
@inline
function total(x: v128): f32 {
  const y = f32x4.add(x, i8x16.shuffle(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  return f32x4.extract_lane(y, 0) + f32x4.extract_lane(y, 1);
}

// @ts-expect-error: decorator
@inline
function clip(x: v128): v128 {
  return f32x4.max(f32x4.min(x, f32x4.splat(1)), f32x4.splat(0));
}

/** Where a clipped number still moves: all bits set where 0 < x < 1. */
// @ts-expect-error: decorator
@inline
function isInside(x: v128): v128 {
  return v128.and(f32x4.gt(x, f32x4.splat(0)), f32x4.lt(x, f32x4.splat(1)));
}

/** What is to be learnt of a slot: between the chances the score stands for and the result of the game. */
// @ts-expect-error: decorator
@inline
function targetOf(plan: usize, facts: usize): f32 {
  const share = load<f32>(plan, 88);
  const score = sigmoid(<f32>load<i16>(facts, 2) * load<f32>(plan, 84));
  const result: f32 = <f32>(<i32>load<i8>(facts, 4) + 1) * 0.5;
  return score + share * (result - score);
}

/**
 * Learns from the slots `first` to before `first + count`: writes the derivatives of the loss by the sums of the first
 * layer, adds to the gradient of the dense weights (which is cleared first), and returns the sum of squared errors. All is a sum over
 * positions, not a mean.
 */
export function nnueLearn(plan: usize, first: i32, count: i32, scratch: usize, gradient: usize): f64 {
  fillPlaces();
  memory.fill(gradient, 0, field(plan, 52));
  const sumBytes = <usize>field(plan, 0) << 3;
  const isHalfKp = field(plan, 16) == HALFKP;
  const logit = load<f32>(plan, 80);
  let sums = scratch + SCRATCH_BYTES;
  nnueGather(plan, first, count, sums, sums + <usize>count * sumBytes);
  let loss: f64 = 0;
  for (let slot = first; slot < first + count; slot++, sums += sumBytes) {
    const facts = factsOf(plan, slot);
    const output = <i32>load<u8>(facts, 1);
    const y = isHalfKp ? forwardLayers(plan, sums, scratch) : forwardWide(plan, sums, output);
    const p = sigmoid(logit * y);
    const error = p - targetOf(plan, facts);
    loss += <f64>error * <f64>error;
    const slope: f32 = 2 * error * p * (1 - p) * logit;
    if (!isHalfKp) {
      backwardWide(plan, slot, sums, output, gradient, slope);
      continue;
    }
    const inTile = (slot - first) % TILE;
    const slopes = scratch + FIRST_SLOPES;
    backwardLayers(plan, slot, sums, scratch, slopes + (<usize>inTile << 7), gradient, slope);
    if (inTile < TILE - 1 && slot < first + count - 1) continue;
    const inputs = sums - <usize>inTile * sumBytes;
    affineGradient(inputs, sumBytes, slopes, inTile + 1, field(plan, 0) << 1, gradient + field(plan, 56));
  }
  return loss;
}

/** The network's outputs for some slots, f32 [count] into `outputs`; returns the sum of squared errors. */
export function nnuePredict(plan: usize, first: i32, count: i32, scratch: usize, outputs: usize): f64 {
  fillPlaces();
  const sumBytes = <usize>field(plan, 0) << 3;
  const isHalfKp = field(plan, 16) == HALFKP;
  let sums = scratch + SCRATCH_BYTES;
  nnueGather(plan, first, count, sums, sums + <usize>count * sumBytes);
  let loss: f64 = 0;
  for (let i = 0; i < count; i++, sums += sumBytes) {
    const facts = factsOf(plan, first + i);
    const y = isHalfKp ? forwardLayers(plan, sums, scratch) : forwardWide(plan, sums, <i32>load<u8>(facts, 1));
    store<f32>(outputs + (<usize>i << 2), y);
    const error = <f64>(sigmoid(load<f32>(plan, 80) * y) - targetOf(plan, facts));
    loss += error * error;
  }
  return loss;
}

/** Writes the derivative by one vector of sums to where its slice is. */
// @ts-expect-error: decorator
@inline
function storeDerivative(plan: usize, slot: i32, view: usize, at: usize, value: v128): void {
  const slice = (at >> 7) * <usize>field(plan, 12);
  v128.store(<usize>field(plan, 36) + (slice << 8) + (<usize>slot << 8) + (view << 7) + (at & 127), value);
}

// @ts-expect-error: decorator
@inline
function addTo(address: usize, value: v128): void {
  v128.store(address, f32x4.add(v128.load(address), value));
}

// ---- one output of 2 x hidden neurons, squared after clipping

function forwardWide(plan: usize, sums: usize, output: i32): f32 {
  const bytes = <usize>field(plan, 0) << 3;
  const dense = <usize>field(plan, 48);
  const weights = dense + <usize>field(plan, 72) + <usize>output * bytes;
  let a = f32x4.splat(0);
  let b = a;
  for (let at: usize = 0; at < bytes; at += 32) {
    const x = clip(v128.load(sums + at));
    const y = clip(v128.load(sums + at, 16));
    a = f32x4.add(a, f32x4.mul(f32x4.mul(x, x), v128.load(weights + at)));
    b = f32x4.add(b, f32x4.mul(f32x4.mul(y, y), v128.load(weights + at, 16)));
  }
  return total(f32x4.add(a, b)) + load<f32>(dense + <usize>field(plan, 76) + (<usize>output << 2));
}

function backwardWide(plan: usize, slot: i32, sums: usize, output: i32, gradient: usize, slope: f32): void {
  const viewBytes = <usize>field(plan, 0) << 2;
  const part = <usize>field(plan, 72) + <usize>output * (viewBytes << 1);
  const s = f32x4.splat(slope);
  const twice = f32x4.splat(2 * slope);
  for (let view: usize = 0; view < 2; view++) {
    for (let at: usize = 0; at < viewBytes; at += 16) {
      const place = part + view * viewBytes + at;
      const sum = v128.load(sums + view * viewBytes + at);
      const x = clip(sum);
      addTo(gradient + place, f32x4.mul(s, f32x4.mul(x, x)));
      const d = f32x4.mul(f32x4.mul(twice, x), v128.load(<usize>field(plan, 48) + place));
      const inside = v128.and(d, isInside(sum));
      storeDerivative(plan, slot, view, at, inside);
      addTo(gradient + at, inside);
    }
  }
  const bias = gradient + <usize>field(plan, 76) + (<usize>output << 2);
  store<f32>(bias, load<f32>(bias) + slope);
}

// ---- 2 x hidden -> 32 -> 32 -> 1, clipped. Weights lie by input, [inputs][32], so that an input that is zero, as most are
// after clipping, costs nothing in either direction.

/** One row of 32 weights times x, added to sums in registers, for the two small layers. */
function affine(x: usize, list: usize, end: usize, weights: usize, bias: usize, out: usize): void {
  let s0 = v128.load(bias);
  let s1 = v128.load(bias, 16);
  let s2 = v128.load(bias, 32);
  let s3 = v128.load(bias, 48);
  let s4 = v128.load(bias, 64);
  let s5 = v128.load(bias, 80);
  let s6 = v128.load(bias, 96);
  let s7 = v128.load(bias, 112);
  for (; list < end; list += 2) {
    const i = <usize>load<u16>(list);
    const v = v128.load32_splat(x + (i << 2));
    const w = weights + (i << 7);
    s0 = f32x4.add(s0, f32x4.mul(v, v128.load(w)));
    s1 = f32x4.add(s1, f32x4.mul(v, v128.load(w, 16)));
    s2 = f32x4.add(s2, f32x4.mul(v, v128.load(w, 32)));
    s3 = f32x4.add(s3, f32x4.mul(v, v128.load(w, 48)));
    s4 = f32x4.add(s4, f32x4.mul(v, v128.load(w, 64)));
    s5 = f32x4.add(s5, f32x4.mul(v, v128.load(w, 80)));
    s6 = f32x4.add(s6, f32x4.mul(v, v128.load(w, 96)));
    s7 = f32x4.add(s7, f32x4.mul(v, v128.load(w, 112)));
  }
  v128.store(out, s0);
  v128.store(out, s1, 16);
  v128.store(out, s2, 32);
  v128.store(out, s3, 48);
  v128.store(out, s4, 64);
  v128.store(out, s5, 80);
  v128.store(out, s6, 96);
  v128.store(out, s7, 112);
}

/** The way back through `affine`, for the inputs listed: inputSlopes[i] = weights[i] . slopes. */
function affineBack(list: usize, end: usize, weights: usize, slopes: usize, inputSlopes: usize): void {
  const d0 = v128.load(slopes);
  const d1 = v128.load(slopes, 16);
  const d2 = v128.load(slopes, 32);
  const d3 = v128.load(slopes, 48);
  const d4 = v128.load(slopes, 64);
  const d5 = v128.load(slopes, 80);
  const d6 = v128.load(slopes, 96);
  const d7 = v128.load(slopes, 112);
  for (; list < end; list += 2) {
    const i = <usize>load<u16>(list);
    const w = weights + (i << 7);
    const a = f32x4.add(f32x4.mul(d0, v128.load(w)), f32x4.mul(d1, v128.load(w, 16)));
    const b = f32x4.add(f32x4.mul(d2, v128.load(w, 32)), f32x4.mul(d3, v128.load(w, 48)));
    const c = f32x4.add(f32x4.mul(d4, v128.load(w, 64)), f32x4.mul(d5, v128.load(w, 80)));
    const d = f32x4.add(f32x4.mul(d6, v128.load(w, 96)), f32x4.mul(d7, v128.load(w, 112)));
    store<f32>(inputSlopes + (i << 2), total(f32x4.add(f32x4.add(a, b), f32x4.add(c, d))));
  }
}

/**
 * The gradient of the weights of `affine` for some positions at once: gradient[i] += x[i] * slopes, of each in turn; the x of the next
 * position lie `stride` bytes further on. The gradient of the first weights is larger than the nearest cache, so it is walked
 * through once for many positions.
 */
function affineGradient(x: usize, stride: usize, slopes: usize, positions: i32, inputs: i32, gradient: usize): void {
  const end = x + <usize>positions * stride;
  for (let i: usize = 0; i < <usize>inputs; i++) {
    const g = gradient + (i << 7);
    let s0 = v128.load(g);
    let s1 = v128.load(g, 16);
    let s2 = v128.load(g, 32);
    let s3 = v128.load(g, 48);
    let s4 = v128.load(g, 64);
    let s5 = v128.load(g, 80);
    let s6 = v128.load(g, 96);
    let s7 = v128.load(g, 112);
    let d = slopes;
    for (let at = x + (i << 2); at < end; at += stride, d += 128) {
      if (load<u32>(at) == 0) continue; // clipped numbers have no -0
      const v = v128.load32_splat(at);
      s0 = f32x4.add(s0, f32x4.mul(v, v128.load(d)));
      s1 = f32x4.add(s1, f32x4.mul(v, v128.load(d, 16)));
      s2 = f32x4.add(s2, f32x4.mul(v, v128.load(d, 32)));
      s3 = f32x4.add(s3, f32x4.mul(v, v128.load(d, 48)));
      s4 = f32x4.add(s4, f32x4.mul(v, v128.load(d, 64)));
      s5 = f32x4.add(s5, f32x4.mul(v, v128.load(d, 80)));
      s6 = f32x4.add(s6, f32x4.mul(v, v128.load(d, 96)));
      s7 = f32x4.add(s7, f32x4.mul(v, v128.load(d, 112)));
    }
    v128.store(g, s0);
    v128.store(g, s1, 16);
    v128.store(g, s2, 32);
    v128.store(g, s3, 48);
    v128.store(g, s4, 64);
    v128.store(g, s5, 80);
    v128.store(g, s6, 96);
    v128.store(g, s7, 112);
  }
}

/** Clips `bytes` of sums and lists what is not zero; returns the end of the list. */
function clipAndList(from: usize, bytes: usize, to: usize, list: usize): usize {
  let places: u64 = 0;
  for (let at: usize = 0; at < bytes; at += 16) {
    const x = clip(v128.load(from + at));
    v128.store(to + at, x);
    const mask = i32x4.bitmask(f32x4.gt(x, f32x4.splat(0)));
    store<u64>(list, places + load<u64>(PLACES + (<usize>mask << 3)));
    list += <usize>popcnt(mask) << 1;
    places += 0x0004000400040004;
  }
  return list;
}

const FIRST_SUMS: usize = HIDDEN;
const FIRST: usize = HIDDEN + 128;
const SECOND_SUMS: usize = HIDDEN + 256;
const SECOND: usize = HIDDEN + 384;
const OUTPUT_SLOPES: usize = HIDDEN + 512; // of the second layer's sums
const FIRST_ACTIVE: usize = HIDDEN + 768; // u16 x 32, with room for what is written past the end
const LIST_END: usize = HIDDEN + 1024; // of ACTIVE
const FIRST_LIST_END: usize = HIDDEN + 1028;

/** Clips the sums where they are. */
function forwardLayers(plan: usize, sums: usize, scratch: usize): f32 {
  const dense = <usize>field(plan, 48);
  const bytes = <usize>field(plan, 0) << 3;
  const active = scratch + ACTIVE;
  const end = clipAndList(sums, bytes, sums, active);
  store<u32>(scratch + LIST_END, <u32>end);
  const first = scratch + FIRST_SUMS;
  affine(sums, active, end, dense + field(plan, 56), dense + field(plan, 60), first);
  const firstEnd = clipAndList(first, 128, scratch + FIRST, scratch + FIRST_ACTIVE);
  store<u32>(scratch + FIRST_LIST_END, <u32>firstEnd);
  const second = scratch + SECOND_SUMS;
  affine(scratch + FIRST, scratch + FIRST_ACTIVE, firstEnd, dense + field(plan, 64), dense + field(plan, 68), second);
  const weights = dense + <usize>field(plan, 72);
  let y = f32x4.splat(0);
  for (let at: usize = 0; at < 128; at += 16) {
    const x = clip(v128.load(second + at));
    v128.store(scratch + SECOND + at, x);
    y = f32x4.add(y, f32x4.mul(x, v128.load(weights + at)));
  }
  return total(y) + load<f32>(dense + <usize>field(plan, 76));
}

/** `sums` are clipped by now; the gradient of the first weights is left to `affineGradient`, which finds its slopes in `firstSlopes`. */
function backwardLayers(
  plan: usize,
  slot: i32,
  sums: usize,
  scratch: usize,
  firstSlopes: usize,
  gradient: usize,
  slope: f32,
): void {
  const dense = <usize>field(plan, 48);
  const viewBytes = <usize>field(plan, 0) << 2;
  const s = f32x4.splat(slope);
  const bias = gradient + <usize>field(plan, 76);
  store<f32>(bias, load<f32>(bias) + slope);
  for (let at: usize = 0; at < 128; at += 16) {
    addTo(gradient + <usize>field(plan, 72) + at, f32x4.mul(s, v128.load(scratch + SECOND + at)));
    const d = f32x4.mul(s, v128.load(dense + <usize>field(plan, 72) + at));
    const inside = v128.and(d, isInside(v128.load(scratch + SECOND_SUMS + at)));
    v128.store(scratch + OUTPUT_SLOPES + at, inside);
    addTo(gradient + <usize>field(plan, 68) + at, inside);
    v128.store(firstSlopes + at, f32x4.splat(0));
  }
  affineBack(
    scratch + FIRST_ACTIVE,
    <usize>load<u32>(scratch + FIRST_LIST_END),
    dense + field(plan, 64),
    scratch + OUTPUT_SLOPES,
    firstSlopes,
  );
  affineGradient(scratch + FIRST, 128, scratch + OUTPUT_SLOPES, 1, 32, gradient + field(plan, 64));
  for (let at: usize = 0; at < 128; at += 16) {
    const d = v128.and(v128.load(firstSlopes + at), isInside(v128.load(scratch + FIRST_SUMS + at)));
    v128.store(firstSlopes + at, d);
    addTo(gradient + <usize>field(plan, 60) + at, d);
  }
  const slopes = scratch + SLOPES;
  memory.fill(slopes, 0, viewBytes << 1);
  affineBack(
    scratch + ACTIVE,
    <usize>load<u32>(scratch + LIST_END),
    dense + field(plan, 56),
    firstSlopes,
    slopes,
  );
  for (let view: usize = 0; view < 2; view++) {
    for (let at: usize = 0; at < viewBytes; at += 16) {
      const place = view * viewBytes + at;
      const d = v128.and(v128.load(slopes + place), isInside(v128.load(sums + place)));
      storeDerivative(plan, slot, view, at, d);
      addTo(gradient + at, d);
    }
  }
}
