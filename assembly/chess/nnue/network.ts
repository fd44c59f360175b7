// Efficiently updatable networks (Nasu 2018; Stockfish 12 for the arithmetic of HalfKP): quantised inference in exact
// integers. A network is an image of bytes at an address, made by src/models/nnue.ts: numbers that describe it, then weights.
//
//   0  i32  kind: 1 HalfKP 256x2-32-32-1, 2 one wide layer with squared clipped ReLU
//   4  i32  hidden: neurons of the first layer for each point of view, a multiple of 32
//   8  i32  outputs: how many output buckets, chosen by the number of pieces
//  12  i32  featureScale: where a neuron is full       16 i32  of one wide layer: the value of a unit of its sum, in 2^-32 centipawns
//  20  i32  units: the value of a pawn
//  24  i32 x 8  where, from the start of the image: feature weights, feature biases, first weights, first biases, second
//                weights, second biases, output weights, output biases
//  56  i32  1 if the board is turned left to right when the own king stands on the files e to h
//  64  u16 x 64  by king square, seen from its own side: where its features begin
// 192  u8 x 33  by number of pieces: which output
// 256  i16 x 2 x 16  by point of view and piece as in the mailbox: what the piece adds to the feature; -1 if it is none
// 320  u8 x 2  what squares are xored with, for White and for Black
//
// The first layer is kept up to date by differences: whatever two positions have in common was already summed. One *slot*
// per ply holds the sums of both points of view, computed only when an evaluation asks. If the king's square has changed the
// meaning of all features, the sums come from the last position evaluated with a king on that square instead.
import { BLACK, KING, kingSquare, occupied, roleSet, side, WHITE } from "../rules/position";

const HALFKP: i32 = 1;
const BOTH: u64 = 0x100000001; // computed for both
const SLOT_HEADER: i32 = 64; // u32 x 2 whether computed, u32 address of the position
const CACHE_HEADER: i32 = 128; // sets and mailbox as in a position

let net: usize = 0;
let hidden: i32 = 0;
let rowBytes: i32 = 0;
let slots: usize = 0;
let slotBytes: i32 = 0;
let cache: usize = 0;
let cacheBytes: i32 = 0;
let scratch: usize = 0;

const SCRATCH_BYTES: i32 = 4096 + 2048; // activations 2 x hidden, then lists
const ADDED: i32 = 4096; // u32 x 64 addresses of rows to add
const REMOVED: i32 = 4096 + 512;
const ACTIVE: i32 = 4096 + 1024; // u16: which pairs of activations are not both zero

/** For each 4 bits the numbers of the ones, 16 bits each, lowest first. */
const PLACES: usize = memory.data(16 * 8, 16);

@inline
function field(offset: i32): i32 {
  return load<i32>(net + offset);
}

@inline
function part(offset: i32): usize {
  return net + field(offset);
}

/** Bytes that `nnueStart` needs for this network and so many plies. */
export function nnueBytes(network: usize, plies: i32): i32 {
  const row = load<i32>(network + 4) << 1;
  return SCRATCH_BYTES + plies * (SLOT_HEADER + 2 * row) + 128 * (CACHE_HEADER + row);
}

/** Chooses the network; `memoryAt` is this thread's own, zeroed or used before. */
export function nnueStart(network: usize, memoryAt: usize, plies: i32): void {
  net = network;
  hidden = field(4);
  rowBytes = hidden << 1;
  scratch = memoryAt;
  slots = scratch + SCRATCH_BYTES;
  slotBytes = SLOT_HEADER + 2 * rowBytes;
  cache = slots + plies * slotBytes;
  cacheBytes = CACHE_HEADER + rowBytes;
  for (let i = 0; i < 128; i++) {
    const entry = cache + i * cacheBytes;
    memory.fill(entry, 0, CACHE_HEADER);
    memory.copy(entry + CACHE_HEADER, part(28), rowBytes);
  }
  for (let mask = 0; mask < 16; mask++) {
    let at = PLACES + (mask << 3);
    for (let i = 0; i < 4; i++) {
      if (!(mask & (1 << i))) continue;
      store<u16>(at, i);
      at += 2;
    }
  }
}

@inline
function slotAt(ply: i32): usize {
  return slots + ply * slotBytes;
}

@inline
function sums(slot: usize, view: i32): usize {
  return slot + SLOT_HEADER + view * rowBytes;
}

/** Says which position a ply now holds. The position must stay until another takes the ply. */
@inline
export function nnuePush(ply: i32, position: usize): void {
  const slot = slotAt(ply);
  store<u64>(slot, 0);
  store<u32>(slot, <u32>position, 8);
}

/** What squares are xored with for this point of view and king: half a turn, top to bottom, left to right, or nothing. */
@inline
function turn(view: i32, king: i32): i32 {
  const flip = <i32>load<u8>(net + view, 320);
  return field(56) && king & 4 ? flip ^ 7 : flip;
}

/** Where the features of this king begin; together with `turn` it decides whether sums can be carried over. */
@inline
function base(view: i32, king: i32): i32 {
  return load<u16>(net + ((king ^ turn(view, king)) << 1), 64);
}

/** The squares on which two positions differ. */
@inline
function changedSquares(before: usize, after: usize): u64 {
  const changed = v128.or(
    v128.or(
      v128.xor(v128.load(before), v128.load(after)),
      v128.xor(v128.load(before, 16), v128.load(after, 16)),
    ),
    v128.or(
      v128.xor(v128.load(before, 32), v128.load(after, 32)),
      v128.xor(v128.load(before, 48), v128.load(after, 48)),
    ),
  );
  return i64x2.extract_lane(changed, 0) | i64x2.extract_lane(changed, 1);
}

/** Writes the rows of the differences between two positions into the lists; returns added | removed << 16. */
function differences(squares: u64, before: usize, after: usize, first: i32, flip: i32, view: i32): i32 {
  const weights = part(24);
  const kinds = net + 256 + (view << 5);
  let added = scratch + ADDED;
  let removed = scratch + REMOVED;
  while (squares) {
    const square = <i32>ctz(squares);
    squares &= squares - 1;
    const was = load<i16>(kinds + (<usize>load<u8>(before + square, 64) << 1));
    const is = load<i16>(kinds + (<usize>load<u8>(after + square, 64) << 1));
    const at = first + (square ^ flip);
    if (was >= 0) {
      store<u32>(removed, <u32>(weights + (at + was) * rowBytes));
      removed += 4;
    }
    if (is >= 0) {
      store<u32>(added, <u32>(weights + (at + is) * rowBytes));
      added += 4;
    }
  }
  return <i32>((added - scratch - ADDED) >> 2) | (<i32>((removed - scratch - REMOVED) >> 2) << 16);
}

/** target = source + added rows - removed rows. */
function applyRows(target: usize, source: usize, counts: i32): void {
  const added = scratch + ADDED;
  const removed = scratch + REMOVED;
  const a0 = <usize>load<u32>(added);
  const r0 = <usize>load<u32>(removed);
  if (counts == 0x10001) {
    for (let at = 0; at < rowBytes; at += 32) {
      const low = i16x8.sub(v128.load(source + at), v128.load(r0 + at));
      const high = i16x8.sub(v128.load(source + at, 16), v128.load(r0 + at, 16));
      v128.store(target + at, i16x8.add(low, v128.load(a0 + at)));
      v128.store(target + at, i16x8.add(high, v128.load(a0 + at, 16)), 16);
    }
    return;
  }
  if (counts == 0x20001) {
    const r1 = <usize>load<u32>(removed, 4);
    for (let at = 0; at < rowBytes; at += 32) {
      const low = i16x8.sub(i16x8.sub(v128.load(source + at), v128.load(r0 + at)), v128.load(r1 + at));
      const high = i16x8.sub(i16x8.sub(v128.load(source + at, 16), v128.load(r0 + at, 16)), v128.load(r1 + at, 16));
      v128.store(target + at, i16x8.add(low, v128.load(a0 + at)));
      v128.store(target + at, i16x8.add(high, v128.load(a0 + at, 16)), 16);
    }
    return;
  }
  const addedEnd = added + ((counts & 0xffff) << 2);
  const removedEnd = removed + ((counts >> 16) << 2);
  let at = 0;
  // Eight sums by name, here and below: only locals stay in registers, and there are no arrays of locals.
  for (; at + 128 <= rowBytes; at += 128) {
    let s0 = v128.load(source + at);
    let s1 = v128.load(source + at, 16);
    let s2 = v128.load(source + at, 32);
    let s3 = v128.load(source + at, 48);
    let s4 = v128.load(source + at, 64);
    let s5 = v128.load(source + at, 80);
    let s6 = v128.load(source + at, 96);
    let s7 = v128.load(source + at, 112);
    for (let list = added; list < addedEnd; list += 4) {
      const row = <usize>load<u32>(list) + at;
      s0 = i16x8.add(s0, v128.load(row));
      s1 = i16x8.add(s1, v128.load(row, 16));
      s2 = i16x8.add(s2, v128.load(row, 32));
      s3 = i16x8.add(s3, v128.load(row, 48));
      s4 = i16x8.add(s4, v128.load(row, 64));
      s5 = i16x8.add(s5, v128.load(row, 80));
      s6 = i16x8.add(s6, v128.load(row, 96));
      s7 = i16x8.add(s7, v128.load(row, 112));
    }
    for (let list = removed; list < removedEnd; list += 4) {
      const row = <usize>load<u32>(list) + at;
      s0 = i16x8.sub(s0, v128.load(row));
      s1 = i16x8.sub(s1, v128.load(row, 16));
      s2 = i16x8.sub(s2, v128.load(row, 32));
      s3 = i16x8.sub(s3, v128.load(row, 48));
      s4 = i16x8.sub(s4, v128.load(row, 64));
      s5 = i16x8.sub(s5, v128.load(row, 80));
      s6 = i16x8.sub(s6, v128.load(row, 96));
      s7 = i16x8.sub(s7, v128.load(row, 112));
    }
    v128.store(target + at, s0);
    v128.store(target + at, s1, 16);
    v128.store(target + at, s2, 32);
    v128.store(target + at, s3, 48);
    v128.store(target + at, s4, 64);
    v128.store(target + at, s5, 80);
    v128.store(target + at, s6, 96);
    v128.store(target + at, s7, 112);
  }
  for (; at < rowBytes; at += 32) {
    let s0 = v128.load(source + at);
    let s1 = v128.load(source + at, 16);
    for (let list = added; list < addedEnd; list += 4) {
      const row = <usize>load<u32>(list) + at;
      s0 = i16x8.add(s0, v128.load(row));
      s1 = i16x8.add(s1, v128.load(row, 16));
    }
    for (let list = removed; list < removedEnd; list += 4) {
      const row = <usize>load<u32>(list) + at;
      s0 = i16x8.sub(s0, v128.load(row));
      s1 = i16x8.sub(s1, v128.load(row, 16));
    }
    v128.store(target + at, s0);
    v128.store(target + at, s1, 16);
  }
}

/**
 * Brings the sums of one point of view up to date, and first those of the positions before it that were not evaluated: the
 * next move to be tried there will want them too.
 */
function update(ply: i32, view: i32): void {
  const slot = slotAt(ply);
  if (load<u32>(slot + (view << 2))) return;
  store<u32>(slot + (view << 2), 1);
  const position = <usize>load<u32>(slot, 8);
  const king = kingSquare(position, view);
  const first = base(view, king);
  const flip = turn(view, king);
  if (ply > 0) {
    const source = slotAt(ply - 1);
    const before = <usize>load<u32>(source, 8);
    const itsKing = kingSquare(before, view);
    if (itsKing == king || (base(view, itsKing) == first && turn(view, itsKing) == flip)) {
      update(ply - 1, view);
      applyRows(sums(slot, view), sums(source, view), differences(changedSquares(before, position), before, position, first, flip, view));
      return;
    }
  }
  const entry = cache + ((view << 6) | king) * cacheBytes;
  const kept = entry + CACHE_HEADER;
  applyRows(kept, kept, differences(changedSquares(entry, position), entry, position, first, flip, view));
  memory.copy(entry, position, CACHE_HEADER);
  memory.copy(sums(slot, view), kept, rowBytes);
}

/** Brings both points of view up to date: mostly from the position before, no king having moved. */
function updateBoth(ply: i32): void {
  const slot = slotAt(ply);
  if (ply > 0 && !load<u64>(slot)) {
    const source = slotAt(ply - 1);
    const position = <usize>load<u32>(slot, 8);
    const before = <usize>load<u32>(source, 8);
    if (load<u64>(source) == BOTH && roleSet(position, KING) == roleSet(before, KING)) {
      store<u64>(slot, BOTH);
      const squares = changedSquares(before, position);
      for (let view = WHITE; view <= BLACK; view++) {
        const king = kingSquare(position, view);
        const counts = differences(squares, before, position, base(view, king), turn(view, king), view);
        applyRows(sums(slot, view), sums(source, view), counts);
      }
      return;
    }
  }
  update(ply, WHITE);
  update(ply, BLACK);
}

/** The sums of a point of view, up to date: for checks. */
export function nnueSums(ply: i32, view: i32): usize {
  updateBoth(ply);
  return sums(slotAt(ply), view);
}

/** The sums of a position from nothing, one piece after another, into `target`: what `nnueSums` must equal. */
export function nnueFresh(position: usize, view: i32, target: usize): void {
  const king = kingSquare(position, view);
  const first = base(view, king);
  const flip = turn(view, king);
  memory.copy(target, part(28), rowBytes);
  for (let square = 0; square < 64; square++) {
    const kind = load<i16>(net + 256 + (view << 5) + (<usize>load<u8>(position + square, 64) << 1));
    if (kind < 0) continue;
    const row = part(24) + (first + kind + (square ^ flip)) * rowBytes;
    for (let at = 0; at < rowBytes; at += 16) {
      v128.store(target + at, i16x8.add(v128.load(target + at), v128.load(row + at)));
    }
  }
}

/** The network's value of the position at the ply, in its own units, for the side to move. */
export function nnueEvaluate(ply: i32): i32 {
  updateBoth(ply);
  const slot = slotAt(ply);
  const position = <usize>load<u32>(slot, 8);
  const us = side(position);
  return field(0) == HALFKP
    ? forwardHalfKp(sums(slot, us), sums(slot, us ^ 1))
    : forwardWide(sums(slot, us), sums(slot, us ^ 1), <i32>popcnt(occupied(position)));
}

/** The same as hundredths of a pawn. */
@inline
export function nnueCentipawns(ply: i32): i32 {
  return (nnueEvaluate(ply) * 100) / field(20);
}

/** Clips sums to 0..127 and lists the pairs that are not both zero, from `list` on; returns the end of the list. */
@inline
function clip(from: usize, to: usize, list: usize, firstPair: i32): usize {
  const zero = i16x8.splat(0);
  const full = i16x8.splat(127);
  let pairs = <u64>firstPair * 0x0001000100010001;
  for (let at = 0; at < rowBytes; at += 16) {
    const x = i16x8.min_s(i16x8.max_s(v128.load(from + at), zero), full);
    v128.store(to + at, x);
    const mask = i32x4.bitmask(i32x4.ne(x, zero));
    store<u64>(list, pairs + load<u64>(PLACES + (mask << 3)));
    list += popcnt(mask) << 1;
    pairs += 0x0004000400040004;
  }
  return list;
}

/** Two sums of 4 numbers as 8 activations: shifted, clipped to 0..127. */
@inline
function activate(low: v128, high: v128): v128 {
  const x = i16x8.narrow_i32x4_s(i32x4.shr_s(low, 6), i32x4.shr_s(high, 6));
  return i16x8.min_s(i16x8.max_s(x, i16x8.splat(0)), i16x8.splat(127));
}

/**
 * 512 -> 32 -> 32 -> 1. Weights are stored for pairs of inputs, [pair][output][2], so that one multiplication serves 4 outputs
 * and a pair of zeros (more than half of them, after clipping) costs nothing.
 */
function forwardHalfKp(ours: usize, theirs: usize): i32 {
  const input = scratch;
  const list = scratch + ACTIVE;
  const end = clip(theirs, input + rowBytes, clip(ours, input, list, 0), hidden >> 1);
  const weights = part(32);
  let bias = part(36);
  let s0 = v128.load(bias);
  let s1 = v128.load(bias, 16);
  let s2 = v128.load(bias, 32);
  let s3 = v128.load(bias, 48);
  let s4 = v128.load(bias, 64);
  let s5 = v128.load(bias, 80);
  let s6 = v128.load(bias, 96);
  let s7 = v128.load(bias, 112);
  for (let at = list; at < end; at += 2) {
    const pair = <usize>load<u16>(at);
    const x = v128.load32_splat(input + (pair << 2));
    const w = weights + (pair << 7);
    s0 = i32x4.add(s0, i32x4.dot_i16x8_s(x, v128.load(w)));
    s1 = i32x4.add(s1, i32x4.dot_i16x8_s(x, v128.load(w, 16)));
    s2 = i32x4.add(s2, i32x4.dot_i16x8_s(x, v128.load(w, 32)));
    s3 = i32x4.add(s3, i32x4.dot_i16x8_s(x, v128.load(w, 48)));
    s4 = i32x4.add(s4, i32x4.dot_i16x8_s(x, v128.load(w, 64)));
    s5 = i32x4.add(s5, i32x4.dot_i16x8_s(x, v128.load(w, 80)));
    s6 = i32x4.add(s6, i32x4.dot_i16x8_s(x, v128.load(w, 96)));
    s7 = i32x4.add(s7, i32x4.dot_i16x8_s(x, v128.load(w, 112)));
  }
  v128.store(input, activate(s0, s1));
  v128.store(input, activate(s2, s3), 16);
  v128.store(input, activate(s4, s5), 32);
  v128.store(input, activate(s6, s7), 48);

  bias = part(44);
  s0 = v128.load(bias);
  s1 = v128.load(bias, 16);
  s2 = v128.load(bias, 32);
  s3 = v128.load(bias, 48);
  s4 = v128.load(bias, 64);
  s5 = v128.load(bias, 80);
  s6 = v128.load(bias, 96);
  s7 = v128.load(bias, 112);
  let w = part(40);
  for (let at = input; at < input + 64; at += 4) {
    const x = v128.load32_splat(at);
    s0 = i32x4.add(s0, i32x4.dot_i16x8_s(x, v128.load(w)));
    s1 = i32x4.add(s1, i32x4.dot_i16x8_s(x, v128.load(w, 16)));
    s2 = i32x4.add(s2, i32x4.dot_i16x8_s(x, v128.load(w, 32)));
    s3 = i32x4.add(s3, i32x4.dot_i16x8_s(x, v128.load(w, 48)));
    s4 = i32x4.add(s4, i32x4.dot_i16x8_s(x, v128.load(w, 64)));
    s5 = i32x4.add(s5, i32x4.dot_i16x8_s(x, v128.load(w, 80)));
    s6 = i32x4.add(s6, i32x4.dot_i16x8_s(x, v128.load(w, 96)));
    s7 = i32x4.add(s7, i32x4.dot_i16x8_s(x, v128.load(w, 112)));
    w += 128;
  }
  w = part(48);
  const even = i32x4.add(
    i32x4.dot_i16x8_s(activate(s0, s1), v128.load(w)),
    i32x4.dot_i16x8_s(activate(s2, s3), v128.load(w, 16)),
  );
  const odd = i32x4.add(
    i32x4.dot_i16x8_s(activate(s4, s5), v128.load(w, 32)),
    i32x4.dot_i16x8_s(activate(s6, s7), v128.load(w, 48)),
  );
  return (load<i32>(part(52)) + total(i32x4.add(even, odd))) / 16;
}

@inline
function total(x: v128): i32 {
  return i32x4.extract_lane(x, 0) + i32x4.extract_lane(x, 1) + i32x4.extract_lane(x, 2) + i32x4.extract_lane(x, 3);
}

/** x^2 * w of 8 neurons, their sums in eighths and clipped. x is at most 181, so that x^2 fits 16 bits. */
@inline
function squared(sums: v128, weights: v128, full: v128): v128 {
  const x = i16x8.min_s(i16x8.max_s(i16x8.shr_s(sums, 3), i16x8.splat(0)), full);
  return i32x4.dot_i16x8_s(i16x8.mul(x, x), weights);
}

/** One output of 2 x hidden neurons, chosen by the number of pieces, in centipawns rounded to the nearest. */
function forwardWide(ours: usize, theirs: usize, pieces: i32): i32 {
  const bucket = <i32>load<u8>(net + pieces, 192);
  const full = i16x8.splat(<i16>field(12));
  const w = part(48) + bucket * (rowBytes << 1);
  let s0 = i32x4.splat(0);
  let s1 = s0;
  for (let at = 0; at < rowBytes; at += 64) {
    const x = ours + at;
    const y = theirs + at;
    const a = w + at;
    const b = a + rowBytes;
    s0 = i32x4.add(s0, squared(v128.load(x), v128.load(a), full));
    s1 = i32x4.add(s1, squared(v128.load(y), v128.load(b), full));
    s0 = i32x4.add(s0, squared(v128.load(x, 16), v128.load(a, 16), full));
    s1 = i32x4.add(s1, squared(v128.load(y, 16), v128.load(b, 16), full));
    s0 = i32x4.add(s0, squared(v128.load(x, 32), v128.load(a, 32), full));
    s1 = i32x4.add(s1, squared(v128.load(y, 32), v128.load(b, 32), full));
    s0 = i32x4.add(s0, squared(v128.load(x, 48), v128.load(a, 48), full));
    s1 = i32x4.add(s1, squared(v128.load(y, 48), v128.load(b, 48), full));
  }
  const sum = total(i32x4.add(s0, s1)) + load<i32>(part(52) + (bucket << 2));
  return <i32>((<i64>sum * field(16) + 0x80000000) >> 32);
}
