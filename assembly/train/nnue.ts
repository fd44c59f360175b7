// Training of efficiently updatable networks: the first layer, which is sparse. A position has some thirty inputs of
// thousands for each point of view; whatever is done costs by inputs that are on, not by weights.
//
// Both directions walk the first layer in *slices* of 32 neurons: sums stay in registers, and the part of the weights
// (forward) or of the derivatives (backward) that is being read stays in the cache. Backward, inputs and not positions are
// the outer loop: `nnueSort` lists for each input the points of view it is on for, so that every row of the gradient
// belongs to one thread and is summed in the order of the positions, whatever the number of threads.
//
// A plan at an address says where everything is (src/training/nnue/plan.ts writes it); all fields are 32-bit:
//   0 hidden, neurons for each point of view, a multiple of 32   4 rows, inputs in all   8 kinds: row k * kinds + i is input
//   i for king k   12 slots, room for positions   16 layers: 1 as HalfKP's 32-32-1, 2 one output straight away   20 outputs
//  24 inputs: u16 x 2 x 32 for each slot, mover first
//  28 facts: 8 bytes for each slot: u8 number of inputs, u8 output, i16 score, i8 result
//  32 effective: f32 [slices][rows][32], the weights of the first layer, filled by `nnueFold` where they are needed
//  36 derivatives: f32 [slices][2 * slots][32], of the loss by the sums of the first layer
//  40 starts: u32 [rows + 1], 44 points: u32 [...]: input r is on for points[starts[r]] .. points[starts[r + 1] - 1]
//  48 dense: f32, biases of the first layer and all that comes behind it    52 its bytes, a multiple of 64
//  56 x 6 offsets in it: first weights [2 * hidden][32], first biases, second weights [32][32], second biases, output
//     weights ([outputs][2 * hidden] or [32]), output biases
//  80 f32 logit: of the prediction 1 / (1 + exp(-logit * output))   84 f32 scores' logit a centipawn   88 f32 share of the result

/** Neurons in a slice: 8 vectors, which leaves registers for addresses. */
const SLICE_BYTES: usize = 128;

// @ts-expect-error: decorator
@inline
export function field(plan: usize, offset: usize): i32 {
  return load<i32>(plan + offset);
}

// @ts-expect-error: decorator
@inline
export function inputsOf(plan: usize, slot: i32, view: i32): usize {
  return <usize>field(plan, 24) + (<usize>slot << 7) + (<usize>view << 6);
}

// @ts-expect-error: decorator
@inline
export function factsOf(plan: usize, slot: i32): usize {
  return <usize>field(plan, 28) + (<usize>slot << 3);
}

/** Adds to `counts` (u32 [rows]) how often each input is on in the slots. */
export function nnueCount(plan: usize, first: i32, count: i32, counts: usize): void {
  for (let slot = first; slot < first + count; slot++) {
    const length = <usize>load<u8>(factsOf(plan, slot));
    for (let view = 0; view < 2; view++) {
      const list = inputsOf(plan, slot, view);
      for (let at = list; at < list + (length << 1); at += 2) {
        const place = counts + (<usize>load<u16>(at) << 2);
        store<u32>(place, load<u32>(place) + 1);
      }
    }
  }
}

/** Turns the counts of `threads` threads, one array behind another, into the places where each begins to write. */
export function nnueStarts(plan: usize, counts: usize, threads: i32): void {
  const rows = field(plan, 4);
  const starts = <usize>field(plan, 40);
  let next: u32 = 0;
  for (let row = 0; row < rows; row++) {
    store<u32>(starts + (<usize>row << 2), next);
    for (let thread = 0; thread < threads; thread++) {
      const place = counts + (<usize>(thread * rows + row) << 2);
      const count = load<u32>(place);
      store<u32>(place, next);
      next += count;
    }
  }
  store<u32>(starts + (<usize>rows << 2), next);
}

/** Lists the points of view, 2 * slot + view, by input; `places` is what `nnueStarts` left for this thread. */
export function nnueSort(plan: usize, first: i32, count: i32, places: usize): void {
  const points = <usize>field(plan, 44);
  for (let slot = first; slot < first + count; slot++) {
    const length = <usize>load<u8>(factsOf(plan, slot));
    for (let view = 0; view < 2; view++) {
      const list = inputsOf(plan, slot, view);
      for (let at = list; at < list + (length << 1); at += 2) {
        const place = places + (<usize>load<u16>(at) << 2);
        const next = load<u32>(place);
        store<u32>(place, next + 1);
        store<u32>(points + (<usize>next << 2), (slot << 1) | view);
      }
    }
  }
}

/**
 * Makes the effective weights of rows `first` to before `end`: their own (f32 [rows][hidden]) and those that all kings share
 * (f32 [kinds][hidden], or 0 if there are none). Rows that no position uses are passed over unless `all`.
 */
export function nnueFold(plan: usize, own: usize, shared: usize, first: i32, end: i32, all: bool): void {
  const rowBytes = <usize>field(plan, 0) << 2;
  const rows = <usize>field(plan, 4);
  const kinds = field(plan, 8);
  const starts = <usize>field(plan, 40);
  const sliceStride = rows * SLICE_BYTES;
  for (let row = first; row < end; row++) {
    const at = starts + (<usize>row << 2);
    if (!all && load<u32>(at) == load<u32>(at, 4)) continue;
    let from = own + <usize>row * rowBytes;
    let add = shared + <usize>(row % kinds) * rowBytes;
    const stop = from + rowBytes;
    let to = <usize>field(plan, 32) + <usize>row * SLICE_BYTES;
    while (from < stop) {
      for (let i: usize = 0; i < SLICE_BYTES; i += 16) {
        const w = v128.load(from + i);
        v128.store(to + i, shared ? f32x4.add(w, v128.load(add + i)) : w);
      }
      from += SLICE_BYTES;
      add += SLICE_BYTES;
      to += sliceStride;
    }
  }
}

const KINGS: usize = 64; // places of the king at most

/** Bytes that `nnueGather` needs at `order` for so many slots. */
// @ts-expect-error: decorator
@inline
export function orderBytes(slots: i32): i32 {
  return <i32>(KINGS << 2) + (slots << 3);
}

/** Where the king of a point of view (2 * slot + view, counted from `first`) stands; 0 if there is nothing but kings. */
// @ts-expect-error: decorator
@inline
function kingOf(plan: usize, first: i32, point: i32): usize {
  const slot = first + (point >> 1);
  if (load<u8>(factsOf(plan, slot)) == 0) return 0;
  return <usize>(<i32>load<u16>(inputsOf(plan, slot, point & 1)) / field(plan, 8));
}

/** Lists the points of view of some slots by the place of the king, u32 [2 * count] behind KINGS counters. */
function orderByKing(plan: usize, first: i32, count: i32, order: usize): void {
  memory.fill(order, 0, KINGS << 2);
  const points = order + (KINGS << 2);
  for (let point = 0; point < count << 1; point++) {
    const place = order + (kingOf(plan, first, point) << 2);
    store<u32>(place, load<u32>(place) + 1);
  }
  let next: u32 = 0;
  for (let at = order; at < points; at += 4) {
    const length = load<u32>(at);
    store<u32>(at, next);
    next += length;
  }
  for (let point = 0; point < count << 1; point++) {
    const place = order + (kingOf(plan, first, point) << 2);
    const at = load<u32>(place);
    store<u32>(place, at + 1);
    store<u32>(points + (<usize>at << 2), point);
  }
}

/**
 * The first layer's sums of some slots, f32 [count][2][hidden] into `sums`. One king is dealt with after another, since
 * its inputs are a small part of the weights, which stays in the cache.
 */
export function nnueGather(plan: usize, first: i32, count: i32, sums: usize, order: usize): void {
  orderByKing(plan, first, count, order);
  const points = order + (KINGS << 2);
  const pointsEnd = points + (<usize>count << 3);
  const rowBytes = <usize>field(plan, 0) << 2;
  const sliceStride = <usize>field(plan, 4) * SLICE_BYTES;
  let weights = <usize>field(plan, 32);
  let bias = <usize>field(plan, 48);
  for (let slice: usize = 0; slice < rowBytes; slice += SLICE_BYTES) {
    for (let next = points; next < pointsEnd; next += 4) {
      const point = load<u32>(next);
      const slot = first + <i32>(point >> 1);
      const out = sums + slice + <usize>point * rowBytes;
      let at = inputsOf(plan, slot, point & 1);
      const end = at + (<usize>load<u8>(factsOf(plan, slot)) << 1);
      let s0 = v128.load(bias);
      let s1 = v128.load(bias, 16);
      let s2 = v128.load(bias, 32);
      let s3 = v128.load(bias, 48);
      let s4 = v128.load(bias, 64);
      let s5 = v128.load(bias, 80);
      let s6 = v128.load(bias, 96);
      let s7 = v128.load(bias, 112);
      for (; at < end; at += 2) {
        const row = weights + (<usize>load<u16>(at) << 7);
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
    }
    weights += sliceStride;
    bias += SLICE_BYTES;
  }
}

/** The gradient of a slice of rows `first` to before `end`, into f32 [rows][hidden]; rows that are never on stay as they are. */
export function nnueRowGradients(plan: usize, slice: i32, first: i32, end: i32, gradients: usize): void {
  const rowBytes = <usize>field(plan, 0) << 2;
  const starts = <usize>field(plan, 40);
  const points = <usize>field(plan, 44);
  const derivatives = <usize>field(plan, 36) + (<usize>slice * <usize>field(plan, 12) << 8);
  for (let row = first; row < end; row++) {
    let at = points + (<usize>load<u32>(starts + (<usize>row << 2)) << 2);
    const stop = points + (<usize>load<u32>(starts + (<usize>row << 2), 4) << 2);
    if (at == stop) continue;
    let s0 = f32x4.splat(0);
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    let s4 = s0;
    let s5 = s0;
    let s6 = s0;
    let s7 = s0;
    for (; at < stop; at += 4) {
      const d = derivatives + (<usize>load<u32>(at) << 7);
      s0 = f32x4.add(s0, v128.load(d));
      s1 = f32x4.add(s1, v128.load(d, 16));
      s2 = f32x4.add(s2, v128.load(d, 32));
      s3 = f32x4.add(s3, v128.load(d, 48));
      s4 = f32x4.add(s4, v128.load(d, 64));
      s5 = f32x4.add(s5, v128.load(d, 80));
      s6 = f32x4.add(s6, v128.load(d, 96));
      s7 = f32x4.add(s7, v128.load(d, 112));
    }
    const out = gradients + <usize>row * rowBytes + (<usize>slice << 7);
    v128.store(out, s0);
    v128.store(out, s1, 16);
    v128.store(out, s2, 32);
    v128.store(out, s3, 48);
    v128.store(out, s4, 64);
    v128.store(out, s5, 80);
    v128.store(out, s6, 96);
    v128.store(out, s7, 112);
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
