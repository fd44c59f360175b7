// Training of efficiently updatable networks: the first layer, which is sparse. A position has some thirty inputs of
// thousands for each point of view; whatever is done costs by inputs that are on, not by weights.
//
// Both directions deal with one king after another: its inputs are a small part of the weights, and its points of view a small
// part of the derivatives. Positions are ordered by the buckets of their two kings, and points of view numbered in this order,
// those of one king together; so positions that are neighbours have neighbours for points of view, on either side. Weights and
// derivatives are cut into *slices* of 32 neurons besides: sums stay in registers, and what is read again and again stays in
// the cache. Backward, inputs and not positions are the outer loop: `nnueSort` lists for each input the points of view it is
// on for, so that every row of the gradient is summed in one order, whatever the number of threads.
//
// A plan at an address says where everything is: plan.ts.
//
// Weights of the first layer and what the optimiser keeps of them lie in slices too: f32 [slices][rows][32].
import { optimise } from "./optimisers";
import {
  DENSE_AT, FACTS_AT, INPUTS_AT, KINDS_AT, KINGS_AT, NUMBERS_AT, ON_COUNTS_AT, ON_KINDS_AT, ORDER_AT, POINTS_AT,
  ROWS_AT, SLOTS_AT, STARTS_AT, SUMS_AT,
} from "./plan";

/** Neurons in a slice: 8 vectors, which leaves registers for addresses. */
const SLICE_BYTES: usize = 128;

/** A slice of nothing, to begin sums with. */
export const ZEROS: usize = memory.data(128, 16);

const KINGS: usize = 64; // king buckets at most
const PAIRS_BYTES: usize = (KINGS * KINGS) << 2;
const POINTS_AT_ONCE: u32 = 2048; // points of view whose slice of derivatives, 256 KB, stays in the second cache

// @ts-expect-error: decorator
@inline
export function field(plan: usize, offset: usize): i32 {
  return load<i32>(plan + offset);
}

// @ts-expect-error: decorator
@inline
function inputsOf(plan: usize, slot: i32, view: i32): usize {
  return <usize>field(plan, INPUTS_AT) + (<usize>slot << 7) + (<usize>view << 6);
}

// @ts-expect-error: decorator
@inline
export function factsOf(plan: usize, slot: i32): usize {
  return <usize>field(plan, FACTS_AT) + (<usize>slot << 3);
}

// @ts-expect-error: decorator
@inline
export function slotOf(plan: usize, position: i32): i32 {
  return load<i32>(<usize>field(plan, ORDER_AT) + (<usize>position << 2));
}

/** The first slice of the sums, or the derivatives, of a point of view. */
// @ts-expect-error: decorator
@inline
export function sumsOf(plan: usize, position: i32, view: usize): usize {
  const number = load<u32>(<usize>field(plan, NUMBERS_AT) + (<usize>position << 3) + (view << 2));
  return <usize>field(plan, SUMS_AT) + (<usize>number << 7);
}

/** From one slice of the sums to the next. */
// @ts-expect-error: decorator
@inline
export function sumsStride(plan: usize): usize {
  return <usize>field(plan, SLOTS_AT) << 8;
}

/** Notes where the kings of some slots stand; 0 if there is nothing but kings. */
export function nnueKings(plan: usize, first: i32, count: i32): void {
  const kinds = <u32>field(plan, KINDS_AT);
  for (let slot = first; slot < first + count; slot++) {
    const facts = factsOf(plan, slot);
    const isBare = load<u8>(facts) == 0;
    store<u8>(facts, isBare ? 0 : <u8>(<u32>load<u16>(inputsOf(plan, slot, 0)) / kinds), 5);
    store<u8>(facts, isBare ? 0 : <u8>(<u32>load<u16>(inputsOf(plan, slot, 1)) / kinds), 6);
  }
}

/** Orders the slots that are used, `kept` (i32) of each of some blocks of `size`, by the buckets of the kings. */
export function nnueOrder(plan: usize, kept: usize, blocks: i32, size: i32, scratch: usize): void {
  const order = <usize>field(plan, ORDER_AT);
  memory.fill(scratch, 0, PAIRS_BYTES);
  for (let block = 0; block < blocks; block++) {
    const end = block * size + load<i32>(kept + (<usize>block << 2));
    for (let slot = block * size; slot < end; slot++) increment(pairOf(plan, slot, scratch));
  }
  let next: u32 = 0;
  for (let address = scratch; address < scratch + PAIRS_BYTES; address += 4) {
    const count = load<u32>(address);
    store<u32>(address, next);
    next += count;
  }
  for (let block = 0; block < blocks; block++) {
    const end = block * size + load<i32>(kept + (<usize>block << 2));
    for (let slot = block * size; slot < end; slot++)
      store<u32>(order + (<usize>increment(pairOf(plan, slot, scratch)) << 2), slot);
  }
}

// @ts-expect-error: decorator
@inline
function pairOf(plan: usize, slot: i32, pairs: usize): usize {
  const facts = factsOf(plan, slot);
  return pairs + ((<usize>load<u8>(facts, 5) * KINGS + <usize>load<u8>(facts, 6)) << 2);
}

/** Adds to `counts` (u32 [rows], then [KINGS]) how often each input is on in some positions, and how often each king stands there. */
export function nnueCount(plan: usize, first: i32, count: i32, counts: usize): void {
  const kings = counts + (<usize>field(plan, ROWS_AT) << 2);
  for (let i = first; i < first + count; i++) {
    const slot = slotOf(plan, i);
    const facts = factsOf(plan, slot);
    const length = <usize>load<u8>(facts);
    for (let view = 0; view < 2; view++) {
      const list = inputsOf(plan, slot, view);
      increment(kings + (<usize>load<u8>(facts + view, 5) << 2));
      for (let at = list; at < list + (length << 1); at += 2) increment(counts + (<usize>load<u16>(at) << 2));
    }
  }
}

/** Adds one; what was there before. */
// @ts-expect-error: decorator
@inline
function increment(address: usize): u32 {
  const before = load<u32>(address);
  store<u32>(address, before + 1);
  return before;
}

/** Turns the counts of `threads` threads, one array behind another, into the offsets at which each begins to write. */
export function nnueStarts(plan: usize, counts: usize, threads: i32): void {
  const rows = <usize>field(plan, ROWS_AT);
  const stride = (rows + KINGS) << 2;
  startsOf(counts, stride, threads, rows, <usize>field(plan, STARTS_AT));
  startsOf(counts + (rows << 2), stride, threads, KINGS, <usize>field(plan, KINGS_AT));
}

function startsOf(counts: usize, stride: usize, threads: i32, length: usize, starts: usize): void {
  let next: u32 = 0;
  for (let i: usize = 0; i < length; i++) {
    store<u32>(starts + (i << 2), next);
    for (let thread = 0; thread < threads; thread++) {
      const address = counts + <usize>thread * stride + (i << 2);
      const count = load<u32>(address);
      store<u32>(address, next);
      next += count;
    }
  }
  store<u32>(starts + (length << 2), next);
}

/** Goes over the same inputs as `nnueCount`, by the same loop: numbers the points of view by king and lists them by input; `starts` is what `nnueStarts` left for this thread. */
export function nnueSort(plan: usize, first: i32, count: i32, starts: usize): void {
  const kings = starts + (<usize>field(plan, ROWS_AT) << 2);
  const numbers = <usize>field(plan, NUMBERS_AT);
  const points = <usize>field(plan, POINTS_AT);
  const kinds = <usize>field(plan, ON_KINDS_AT);
  const lengths = <usize>field(plan, ON_COUNTS_AT);
  for (let i = first; i < first + count; i++) {
    const slot = slotOf(plan, i);
    const facts = factsOf(plan, slot);
    const length = <usize>load<u8>(facts);
    for (let view = 0; view < 2; view++) {
      const list = inputsOf(plan, slot, view);
      const king = <usize>load<u8>(facts + view, 5);
      const number = increment(kings + (king << 2));
      const base = king * <usize>field(plan, KINDS_AT);
      store<u32>(numbers + (<usize>i << 3) + (<usize>view << 2), number);
      store<u8>(lengths + number, <u8>length);
      for (let at: usize = 0; at < length << 1; at += 2) {
        const row = <usize>load<u16>(list + at);
        store<u32>(kinds + (<usize>number << 7) + (at << 1), <u32>((row - base) * SLICE_BYTES));
        store<u32>(points + (<usize>increment(starts + (row << 2)) << 2), number * <u32>SLICE_BYTES);
      }
    }
  }
}

/** Bytes of scratch memory that the functions of this file need. */
export function rowsScratchBytes(plan: usize): i32 {
  return max(field(plan, KINDS_AT) * (2 * <i32>SLICE_BYTES + 6), <i32>PAIRS_BYTES);
}

// @ts-expect-error: decorator
@inline
function isOn(plan: usize, row: usize): bool {
  const at = <usize>field(plan, STARTS_AT) + (row << 2);
  return load<u32>(at) != load<u32>(at, 4);
}

/**
 * A slice of the sums of all points of view of one king. The weights are the king's own and, if there are any, those that all
 * kings share.
 */
export function nnueGather(plan: usize, king: i32, slice: i32, own: usize, shared: usize, scratch: usize): void {
  const kings = <usize>field(plan, KINGS_AT) + (<usize>king << 2);
  let number = <usize>load<u32>(kings);
  const end = <usize>load<u32>(kings, 4);
  if (number == end) return;
  const kinds = <usize>field(plan, KINDS_AT);
  let weights = own + (<usize>slice * <usize>field(plan, ROWS_AT) + <usize>king * kinds) * SLICE_BYTES;
  if (shared) {
    fold(plan, <usize>king * kinds, weights, shared + <usize>slice * kinds * SLICE_BYTES, scratch);
    weights = scratch;
  }
  const bias = <usize>field(plan, DENSE_AT) + <usize>slice * SLICE_BYTES;
  let out = <usize>field(plan, SUMS_AT) + <usize>slice * sumsStride(plan) + number * SLICE_BYTES;
  for (; number < end; number++, out += SLICE_BYTES) {
    const list = <usize>field(plan, ON_KINDS_AT) + (number << 7);
    sumRows(list, list + (<usize>load<u8>(<usize>field(plan, ON_COUNTS_AT) + number) << 2), u32.MAX_VALUE, weights, bias, out);
  }
}

/**
 * A slice of a sum: out[32] = start[32] + the rows at the offsets listed, u32, up to the first that is not below `limit`; returns
 * where that one stands. A function of its own, not inlined: V8 would unroll a loop within a loop, and then has too few registers
 * for the sums. The eight sums have names, as in nnue-layers.ts and in the network of assembly/chess: only locals stay in registers,
 * and there are no arrays of locals.
 */
function sumRows(list: usize, end: usize, limit: u32, rows: usize, start: usize, out: usize): usize {
  let s0 = v128.load(start);
  let s1 = v128.load(start, 16);
  let s2 = v128.load(start, 32);
  let s3 = v128.load(start, 48);
  let s4 = v128.load(start, 64);
  let s5 = v128.load(start, 80);
  let s6 = v128.load(start, 96);
  let s7 = v128.load(start, 112);
  for (; list < end; list += 4) {
    const offset = load<u32>(list);
    if (offset >= limit) break;
    const row = rows + <usize>offset;
    s0 = f32x4.add(s0, v128.load(row));
    s1 = f32x4.add(s1, v128.load(row, 16));
    s2 = f32x4.add(s2, v128.load(row, 32));
    s3 = f32x4.add(s3, v128.load(row, 48));
    s4 = f32x4.add(s4, v128.load(row, 64));
    s5 = f32x4.add(s5, v128.load(row, 80));
    s6 = f32x4.add(s6, v128.load(row, 96));
    s7 = f32x4.add(s7, v128.load(row, 112));
  }
  v128.store(out, s0);
  v128.store(out, s1, 16);
  v128.store(out, s2, 32);
  v128.store(out, s3, 48);
  v128.store(out, s4, 64);
  v128.store(out, s5, 80);
  v128.store(out, s6, 96);
  v128.store(out, s7, 112);
  return list;
}

/** Adds the shared weights to a king's own, a slice of each, where an input is on. */
function fold(plan: usize, firstRow: usize, own: usize, shared: usize, to: usize): void {
  const kinds = <usize>field(plan, KINDS_AT);
  for (let kind: usize = 0; kind < kinds; kind++) {
    if (!isOn(plan, firstRow + kind)) continue;
    const at = kind * SLICE_BYTES;
    for (let i = at; i < at + SLICE_BYTES; i += 16)
      v128.store(to + i, f32x4.add(v128.load(own + i), v128.load(shared + i)));
  }
}

/**
 * Takes one step with a slice of the first layer's weights: those of inputs that are on in the batch, or all if `everyRow`.
 * `own` and `shared` (0 if there are none) are the weights, and behind each what the optimiser keeps of them. A gradient is
 * used as soon as it is known and nowhere kept.
 */
export function nnueUpdate(
  plan: usize,
  slice: i32,
  rule: usize,
  everyRow: bool,
  own: usize,
  own0: usize,
  own1: usize,
  shared: usize,
  shared0: usize,
  shared1: usize,
  scratch: usize,
): void {
  const kinds = <usize>field(plan, KINDS_AT);
  const rows = <usize>field(plan, ROWS_AT);
  const bytes = kinds * SLICE_BYTES;
  const gradient = scratch; // of one king
  const sum = gradient + bytes; // of all kings
  const cursors = sum + bytes; // u32 [kinds]
  const moves = cursors + (kinds << 2); // u8 [kinds]: whether a row is to be moved
  const anyMoves = moves + kinds;
  memory.fill(sum, 0, bytes);
  memory.fill(anyMoves, <u8>everyRow, kinds);
  for (let king: usize = 0, first: usize = 0; first < rows; king++, first += kinds) {
    memory.fill(moves, <u8>everyRow, kinds);
    if (everyRow) memory.fill(gradient, 0, bytes);
    kingGradient(plan, slice, king, gradient, cursors);
    for (let kind: usize = 0; kind < kinds; kind++) {
      if (!isOn(plan, first + kind)) continue;
      store<u8>(moves + kind, 1);
      store<u8>(anyMoves + kind, 1);
      for (let i = kind * SLICE_BYTES; i < (kind + 1) * SLICE_BYTES; i += 16)
        v128.store(sum + i, f32x4.add(v128.load(sum + i), v128.load(gradient + i)));
    }
    updateRows(rule, own, own0, own1, (<usize>slice * rows + first) * SLICE_BYTES, gradient, moves, kinds);
  }
  if (shared) updateRows(rule, shared, shared0, shared1, <usize>slice * bytes, sum, anyMoves, kinds);
}

/** A slice of the gradient of those rows of a king that are on: sums of the derivatives of the points of view they are on for. */
function kingGradient(plan: usize, slice: i32, king: usize, gradient: usize, cursors: usize): void {
  const kinds = <usize>field(plan, KINDS_AT);
  const points = <usize>field(plan, POINTS_AT);
  const derivatives = <usize>field(plan, SUMS_AT) + <usize>slice * sumsStride(plan);
  const kings = <usize>field(plan, KINGS_AT) + (king << 2);
  const end = load<u32>(kings, 4);
  const starts = <usize>field(plan, STARTS_AT) + ((king * kinds) << 2);
  for (let kind: usize = 0; kind < kinds; kind++)
    store<u32>(cursors + (kind << 2), <u32>points + (load<u32>(starts + (kind << 2)) << 2));
  let isFirst = true;
  for (let first = load<u32>(kings); first < end; first += POINTS_AT_ONCE) {
    const limit = (first + POINTS_AT_ONCE) * <u32>SLICE_BYTES;
    for (let kind: usize = 0; kind < kinds; kind++) {
      if (!isOn(plan, king * kinds + kind)) continue;
      const cursor = cursors + (kind << 2);
      const stop = points + (<usize>load<u32>(starts + (kind << 2), 4) << 2);
      const row = gradient + kind * SLICE_BYTES;
      const before = isFirst ? ZEROS : row;
      store<u32>(cursor, <u32>sumRows(<usize>load<u32>(cursor), stop, limit, derivatives, before, row));
    }
    isFirst = false;
  }
}

/** Has the optimiser move the rows that are to be moved, neighbours at once; they begin `offset` bytes behind the three arrays. */
function updateRows(
  rule: usize,
  weights: usize,
  kept0: usize,
  kept1: usize,
  offset: usize,
  gradient: usize,
  moves: usize,
  count: usize,
): void {
  for (let row: usize = 0; row < count; row++) {
    if (!load<u8>(moves + row)) continue;
    const first = row;
    while (row < count && load<u8>(moves + row)) row++;
    const at = first * SLICE_BYTES;
    const length = <i32>(((row - first) * SLICE_BYTES) >> 2);
    const address = offset + at;
    optimise(rule, weights + address, gradient + at, kept0 ? kept0 + address : 0, kept1 ? kept1 + address : 0, length);
  }
}

/** Keeps each of `length` floats within +-limit. */
export function clampRange(array: usize, length: i32, limit: f32): void {
  const most = f32x4.splat(limit);
  const least = f32x4.splat(-limit);
  const end = (<usize>length) << 2;
  const whole = end & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16) v128.store(array + i, f32x4.max(f32x4.min(v128.load(array + i), most), least));
  for (; i < end; i += 4) store<f32>(array + i, max<f32>(min<f32>(load<f32>(array + i), limit), -limit));
}
