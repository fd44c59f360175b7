// Training of efficiently updatable networks: what comes behind the first layer, and the loss. The plan is described in
// nnue.ts. Gradients of the dense weights lie as the weights do, one copy for each block of positions, so that their sum
// does not depend on which thread computed what.
import { factsOf, field, rowsScratchBytes, slotOf, sumsOf, sumsStride, ZEROS } from "./nnue";
import {
  DENSE_AT, DENSE_BYTES_AT, FIRST_BIASES_AT, FIRST_WEIGHTS_AT, HIDDEN_AT, LAYERS_AT, LOGIT_AT, OUTPUT_BIASES_AT,
  OUTPUT_WEIGHTS_AT, RESULT_SHARE_AT, SCORE_LOGIT_AT, SECOND_BIASES_AT, SECOND_WEIGHTS_AT,
} from "./plan";

const HALFKP: i32 = 1;

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

/** Within 0 and 1; what is no number stays so. One instruction each, where `min` and `max` are seven. */
// @ts-expect-error: decorator
@inline
function clip(x: v128): v128 {
  return f32x4.pmax(f32x4.pmin(x, f32x4.splat(1)), f32x4.splat(0));
}

/** Where a clipped number still moves: all bits set where 0 < x < 1. */
// @ts-expect-error: decorator
@inline
function isInside(x: v128): v128 {
  return v128.and(f32x4.gt(x, f32x4.splat(0)), f32x4.lt(x, f32x4.splat(1)));
}

/** What is to be learnt of a slot: between the expected score that the score stands for and the result of the game. */
// @ts-expect-error: decorator
@inline
function targetOf(plan: usize, facts: usize): f32 {
  const share = load<f32>(plan, RESULT_SHARE_AT);
  const score = sigmoid(<f32>load<i16>(facts, 2) * load<f32>(plan, SCORE_LOGIT_AT));
  const result: f32 = <f32>(<i32>load<i8>(facts, 4) + 1) * 0.5;
  return score + share * (result - score);
}

/** Bytes of scratch memory that a thread needs. */
export function nnueScratchBytes(plan: usize): i32 {
  const learning = field(plan, LAYERS_AT) == HALFKP ? layersScratchBytes(plan) : 0;
  return max(learning, rowsScratchBytes(plan));
}

/**
 * Learns from the positions `first` to before `first + count` of the batch: puts the derivatives of the loss by the sums of the
 * first layer over them, writes the gradient of the dense weights, and returns the sum of squared errors. All is a sum
 * over positions, not a mean.
 */
export function nnueLearn(plan: usize, first: i32, count: i32, scratch: usize, gradient: usize): f64 {
  memory.fill(gradient, 0, field(plan, DENSE_BYTES_AT));
  if (field(plan, LAYERS_AT) == HALFKP) return learnLayers(plan, first, count, scratch, gradient);
  let loss: f64 = 0;
  for (let i = first; i < first + count; i++) {
    const facts = factsOf(plan, slotOf(plan, i));
    const output = <i32>load<u8>(facts, 1);
    const y = forwardWide(plan, i, output);
    const p = chancesOf(plan, y);
    const error = p - targetOf(plan, facts);
    loss += <f64>error * <f64>error;
    backwardWide(plan, i, output, gradient, slopeOf(plan, p, error));
  }
  return loss;
}

/** The network's outputs for some positions, into `outputs`, f32 by slot; returns the sum of squared errors. */
export function nnuePredict(plan: usize, first: i32, count: i32, scratch: usize, outputs: usize): f64 {
  const isHalfKp = field(plan, LAYERS_AT) == HALFKP;
  let loss: f64 = 0;
  for (let i = 0; i < count; i++) {
    const slot = slotOf(plan, first + i);
    const facts = factsOf(plan, slot);
    if (isHalfKp && i % TILE == 0) forwardLayers(plan, first + i, min(TILE, count - i), scratch);
    const y = isHalfKp ? outputOf(plan, i % TILE, scratch) : forwardWide(plan, first + i, <i32>load<u8>(facts, 1));
    store<f32>(outputs + (<usize>slot << 2), y);
    const error = <f64>(chancesOf(plan, y) - targetOf(plan, facts));
    loss += error * error;
  }
  return loss;
}

/** The expected score that an output stands for. */
// @ts-expect-error: decorator
@inline
function chancesOf(plan: usize, y: f32): f32 {
  return sigmoid(load<f32>(plan, LOGIT_AT) * y);
}

/** The derivative of the squared error of the expected score `p` by the output. */
// @ts-expect-error: decorator
@inline
function slopeOf(plan: usize, p: f32, error: f32): f32 {
  return 2 * error * p * (1 - p) * load<f32>(plan, LOGIT_AT);
}

// @ts-expect-error: decorator
@inline
function addTo(address: usize, value: v128): void {
  v128.store(address, f32x4.add(v128.load(address), value));
}

// ---- one output of 2 x hidden neurons, squared after clipping

function forwardWide(plan: usize, position: i32, output: i32): f32 {
  const viewBytes = <usize>field(plan, HIDDEN_AT) << 2;
  const dense = <usize>field(plan, DENSE_AT);
  let weights = dense + <usize>field(plan, OUTPUT_WEIGHTS_AT) + <usize>output * (viewBytes << 1);
  let a = f32x4.splat(0);
  let b = a;
  for (let view: usize = 0; view < 2; view++) {
    const end = weights + viewBytes;
    for (let sums = sumsOf(plan, position, view); weights < end; sums += sumsStride(plan), weights += 128) {
      for (let at: usize = 0; at < 128; at += 32) {
        const x = clip(v128.load(sums + at));
        const y = clip(v128.load(sums + at, 16));
        a = f32x4.add(a, f32x4.mul(f32x4.mul(x, x), v128.load(weights + at)));
        b = f32x4.add(b, f32x4.mul(f32x4.mul(y, y), v128.load(weights + at, 16)));
      }
    }
  }
  return total(f32x4.add(a, b)) + load<f32>(dense + <usize>field(plan, OUTPUT_BIASES_AT) + (<usize>output << 2));
}

function backwardWide(plan: usize, position: i32, output: i32, gradient: usize, slope: f32): void {
  const viewBytes = <usize>field(plan, HIDDEN_AT) << 2;
  const s = f32x4.splat(slope);
  const twice = f32x4.splat(2 * slope);
  let part = <usize>field(plan, OUTPUT_WEIGHTS_AT) + <usize>output * (viewBytes << 1);
  for (let view: usize = 0; view < 2; view++) {
    let sums = sumsOf(plan, position, view);
    for (let slice: usize = 0; slice < viewBytes; slice += 128, sums += sumsStride(plan), part += 128) {
      for (let at: usize = 0; at < 128; at += 16) {
        const sum = v128.load(sums + at);
        const x = clip(sum);
        addTo(gradient + part + at, f32x4.mul(s, f32x4.mul(x, x)));
        const d = f32x4.mul(f32x4.mul(twice, x), v128.load(<usize>field(plan, DENSE_AT) + part + at));
        const inside = v128.and(d, isInside(sum));
        v128.store(sums + at, inside);
        addTo(gradient + slice + at, inside);
      }
    }
  }
  const bias = gradient + <usize>field(plan, OUTPUT_BIASES_AT) + (<usize>output << 2);
  store<f32>(bias, load<f32>(bias) + slope);
}

// ---- 2 x hidden -> 32 -> 32 -> 1, clipped. Each of the two small layers takes its inputs in groups of 32, the second has one:
// 32 x 32 weights, the inputs of a tile of positions and what is added up stay in the nearest cache. Forward everything is
// multiplied, since most inputs are on. Backward only what has a slope counts, and most neurons have none: they are clipped. So
// there the sums are over lists, for each position of neurons and for each neuron of positions, and weights and their gradients
// lie by neuron, [group][32 neurons][32 inputs], in the scratch memory.

/** Positions that are dealt with at once, a multiple of 4. */
const TILE: i32 = 32;
const TILE_BYTES: usize = 4096; // of 32 floats for each position
const GROUP_BYTES: usize = 4096; // of 32 x 32 weights

const LIST_BYTES: usize = 256; // of 32 entries: f32 factor, u32 offset of the row that it multiplies

// Offsets in a thread's scratch memory.
const FIRST: usize = 0; // f32 [TILE][32]: sums of the first small layer, then derivatives of the loss by them
const SECOND: usize = FIRST + TILE_BYTES; // the same of the second
const OUTPUTS: usize = SECOND + TILE_BYTES; // f32 [TILE][32]: what the second layer gives, clipped
const BY_POSITION: usize = OUTPUTS + TILE_BYTES; // lists for each position of a tile
const BY_NEURON: usize = BY_POSITION + <usize>TILE * LIST_BYTES; // lists for each of 32 neurons
const POSITION_ENDS: usize = BY_NEURON + 32 * LIST_BYTES; // u32 [TILE], addresses
const NEURON_ENDS: usize = POSITION_ENDS + (<usize>TILE << 2); // u32 [32]
const INPUTS: usize = NEURON_ENDS + 128; // f32 [groups + 1][TILE][32], clipped; the last group is the second layer's

/** Groups of inputs of the first small layer. */
// @ts-expect-error: decorator
@inline
function groupsOf(plan: usize): usize {
  return <usize>field(plan, HIDDEN_AT) >> 4;
}

// @ts-expect-error: decorator
@inline
function inputsAt(group: usize, scratch: usize): usize {
  return scratch + INPUTS + group * TILE_BYTES;
}

/** Weights of a group by neuron. */
// @ts-expect-error: decorator
@inline
function turnedAt(plan: usize, group: usize, scratch: usize): usize {
  return inputsAt(groupsOf(plan) + 1, scratch) + group * GROUP_BYTES;
}

/** The gradient of a group of weights, by neuron. */
// @ts-expect-error: decorator
@inline
function turnedGradientAt(plan: usize, group: usize, scratch: usize): usize {
  return turnedAt(plan, groupsOf(plan) + 1 + group, scratch);
}

function layersScratchBytes(plan: usize): i32 {
  return <i32>(INPUTS + (groupsOf(plan) + 1) * (TILE_BYTES + 2 * GROUP_BYTES));
}

function learnLayers(plan: usize, first: i32, count: i32, scratch: usize, gradient: usize): f64 {
  const dense = <usize>field(plan, DENSE_AT);
  const groups = groupsOf(plan);
  for (let group: usize = 0; group < groups; group++)
    turn(dense + <usize>field(plan, FIRST_WEIGHTS_AT) + group * GROUP_BYTES, turnedAt(plan, group, scratch));
  turn(dense + <usize>field(plan, SECOND_WEIGHTS_AT), turnedAt(plan, groups, scratch));
  memory.fill(turnedGradientAt(plan, 0, scratch), 0, (groups + 1) * GROUP_BYTES);
  let loss: f64 = 0;
  for (let i = 0; i < count; i += TILE) {
    const positions = min(TILE, count - i);
    forwardLayers(plan, first + i, positions, scratch);
    for (let k = 0; k < positions; k++) {
      const p = chancesOf(plan, outputOf(plan, k, scratch));
      const error = p - targetOf(plan, factsOf(plan, slotOf(plan, first + i + k)));
      loss += <f64>error * <f64>error;
      backwardOutput(plan, k, scratch, gradient, slopeOf(plan, p, error));
    }
    backwardLayers(plan, first + i, positions, scratch, gradient);
  }
  for (let group: usize = 0; group < groups; group++)
    turn(turnedGradientAt(plan, group, scratch), gradient + <usize>field(plan, FIRST_WEIGHTS_AT) + group * GROUP_BYTES);
  turn(turnedGradientAt(plan, groups, scratch), gradient + <usize>field(plan, SECOND_WEIGHTS_AT));
  return loss;
}

/** Turns 32 x 32 floats: rows become columns. */
function turn(from: usize, to: usize): void {
  for (let row: usize = 0; row < 32; row++)
    for (let column: usize = 0; column < 32; column++)
      store<f32>(to + (column << 7) + (row << 2), load<f32>(from + (row << 7) + (column << 2)));
}

/** The sums of the two small layers for a tile. */
function forwardLayers(plan: usize, first: i32, positions: i32, scratch: usize): void {
  const dense = <usize>field(plan, DENSE_AT);
  const groups = groupsOf(plan);
  setAll(scratch + FIRST, positions, dense + <usize>field(plan, FIRST_BIASES_AT));
  for (let group: usize = 0; group < groups; group++) {
    const inputs = inputsAt(group, scratch);
    for (let i = 0; i < positions; i++) clipRow(placeOf(plan, first + i, group), inputs + (<usize>i << 7));
    forwardGroup(inputs, positions, dense + <usize>field(plan, FIRST_WEIGHTS_AT) + group * GROUP_BYTES, scratch + FIRST);
  }
  const inputs = inputsAt(groups, scratch);
  for (let at: usize = 0; at < <usize>positions << 7; at += 128) clipRow(scratch + FIRST + at, inputs + at);
  setAll(scratch + SECOND, positions, dense + <usize>field(plan, SECOND_BIASES_AT));
  forwardGroup(inputs, positions, dense + <usize>field(plan, SECOND_WEIGHTS_AT), scratch + SECOND);
}

/** Where the sums of the first layer are that make a group of a position's inputs: first all of the mover. */
// @ts-expect-error: decorator
@inline
function placeOf(plan: usize, position: i32, group: usize): usize {
  const slices = groupsOf(plan) >> 1;
  const view: usize = group < slices ? 0 : 1;
  return sumsOf(plan, position, view) + (group - view * slices) * sumsStride(plan);
}

function setAll(rows: usize, count: i32, value: usize): void {
  for (let end = rows + (<usize>count << 7); rows < end; rows += 128)
    for (let at: usize = 0; at < 128; at += 16) v128.store(rows + at, v128.load(value + at));
}

// @ts-expect-error: decorator
@inline
function clipRow(from: usize, to: usize): void {
  for (let at: usize = 0; at < 128; at += 16) v128.store(to + at, clip(v128.load(from + at)));
}

/** sums[position][32] += inputs[position] * weights[input][32]. The last positions may be of no use, but there is room for them. */
function forwardGroup(inputs: usize, positions: i32, weights: usize, sums: usize): void {
  // Four positions by eight neurons: as many sums as there are registers for.
  for (let i = 0; i < positions; i += 4, inputs += 512, sums += 512) {
    for (let part: usize = 0; part < 128; part += 32) {
      const out = sums + part;
      let a0 = v128.load(out);
      let a1 = v128.load(out, 16);
      let b0 = v128.load(out, 128);
      let b1 = v128.load(out, 144);
      let c0 = v128.load(out, 256);
      let c1 = v128.load(out, 272);
      let d0 = v128.load(out, 384);
      let d1 = v128.load(out, 400);
      let row = weights + part;
      for (let at = inputs; at < inputs + 128; at += 4, row += 128) {
        const w0 = v128.load(row);
        const w1 = v128.load(row, 16);
        const a = v128.load32_splat(at);
        a0 = f32x4.add(a0, f32x4.mul(a, w0));
        a1 = f32x4.add(a1, f32x4.mul(a, w1));
        const b = v128.load32_splat(at, 128);
        b0 = f32x4.add(b0, f32x4.mul(b, w0));
        b1 = f32x4.add(b1, f32x4.mul(b, w1));
        const c = v128.load32_splat(at, 256);
        c0 = f32x4.add(c0, f32x4.mul(c, w0));
        c1 = f32x4.add(c1, f32x4.mul(c, w1));
        const d = v128.load32_splat(at, 384);
        d0 = f32x4.add(d0, f32x4.mul(d, w0));
        d1 = f32x4.add(d1, f32x4.mul(d, w1));
      }
      v128.store(out, a0);
      v128.store(out, a1, 16);
      v128.store(out, b0, 128);
      v128.store(out, b1, 144);
      v128.store(out, c0, 256);
      v128.store(out, c1, 272);
      v128.store(out, d0, 384);
      v128.store(out, d1, 400);
    }
  }
}

/** The output of one position of a tile, from the sums of the second layer. */
function outputOf(plan: usize, i: i32, scratch: usize): f32 {
  const dense = <usize>field(plan, DENSE_AT);
  const weights = dense + <usize>field(plan, OUTPUT_WEIGHTS_AT);
  const row = <usize>i << 7;
  let y = f32x4.splat(0);
  for (let at: usize = 0; at < 128; at += 16) {
    const x = clip(v128.load(scratch + SECOND + row + at));
    v128.store(scratch + OUTPUTS + row + at, x);
    y = f32x4.add(y, f32x4.mul(x, v128.load(weights + at)));
  }
  return total(y) + load<f32>(dense + <usize>field(plan, OUTPUT_BIASES_AT));
}

/** From the derivative by the output of one position to those by the sums of the second layer. */
function backwardOutput(plan: usize, i: i32, scratch: usize, gradient: usize, slope: f32): void {
  const weights = <usize>field(plan, OUTPUT_WEIGHTS_AT);
  const row = <usize>i << 7;
  const s = f32x4.splat(slope);
  for (let at: usize = 0; at < 128; at += 16) {
    const x = v128.load(scratch + OUTPUTS + row + at);
    addTo(gradient + weights + at, f32x4.mul(s, x));
    const d = f32x4.mul(s, v128.load(<usize>field(plan, DENSE_AT) + weights + at));
    const inside = v128.and(d, isInside(x));
    v128.store(scratch + SECOND + row + at, inside);
    addTo(gradient + <usize>field(plan, SECOND_BIASES_AT) + at, inside);
  }
  const bias = gradient + <usize>field(plan, OUTPUT_BIASES_AT);
  store<f32>(bias, load<f32>(bias) + slope);
}

/** From the derivatives by the sums of the second layer to those by the sums of the first layer of all. */
function backwardLayers(plan: usize, first: i32, positions: i32, scratch: usize, gradient: usize): void {
  const groups = groupsOf(plan);
  listSlopes(scratch + SECOND, positions, scratch);
  for (let i = 0; i < positions; i++) {
    const out = scratch + FIRST + (<usize>i << 7);
    backwardGroup(plan, groups, i, scratch, out, gradient + <usize>field(plan, FIRST_BIASES_AT));
  }
  addGradient(plan, groups, scratch);
  listSlopes(scratch + FIRST, positions, scratch);
  const viewBytes = <usize>field(plan, HIDDEN_AT) << 2;
  for (let group: usize = 0; group < groups; group++) {
    const bias = (group << 7) % viewBytes; // the same neurons for both points of view
    for (let i = 0; i < positions; i++)
      backwardGroup(plan, group, i, scratch, placeOf(plan, first + i, group), gradient + bias);
    addGradient(plan, group, scratch);
  }
}

/** Lists the slopes that are not zero, by position and by neuron. */
function listSlopes(slopes: usize, positions: i32, scratch: usize): void {
  const neuronEnds = scratch + NEURON_ENDS;
  for (let neuron: usize = 0; neuron < 32; neuron++)
    store<u32>(neuronEnds + (neuron << 2), <u32>(scratch + BY_NEURON + neuron * LIST_BYTES));
  for (let i: usize = 0; i < <usize>positions; i++, slopes += 128) {
    let mask = 0;
    for (let at: usize = 0; at < 128; at += 16)
      mask |= i32x4.bitmask(f32x4.ne(v128.load(slopes + at), f32x4.splat(0))) << <i32>(at >> 2);
    let to = scratch + BY_POSITION + i * LIST_BYTES;
    for (; mask != 0; mask &= mask - 1, to += 8) {
      const neuron = <usize>ctz(mask);
      const slope = load<f32>(slopes + (neuron << 2));
      store<f32>(to, slope);
      store<u32>(to, <u32>(neuron << 7), 4);
      const end = <usize>load<u32>(neuronEnds + (neuron << 2));
      store<f32>(end, slope);
      store<u32>(end, <u32>(i << 7), 4);
      store<u32>(neuronEnds + (neuron << 2), <u32>end + 8);
    }
    store<u32>(scratch + POSITION_ENDS + (i << 2), <u32>to);
  }
}

/** From the slopes of one position to those by a group of its inputs, as far as these are not clipped; adds them to the bias's gradient. */
function backwardGroup(plan: usize, group: usize, i: usize, scratch: usize, out: usize, bias: usize): void {
  const list = scratch + BY_POSITION + i * LIST_BYTES;
  const end = <usize>load<u32>(scratch + POSITION_ENDS + (i << 2));
  weightedSum(list, end, turnedAt(plan, group, scratch), ZEROS, out);
  const inputs = inputsAt(group, scratch) + (i << 7);
  for (let at: usize = 0; at < 128; at += 16) {
    const d = v128.and(v128.load(out + at), isInside(v128.load(inputs + at)));
    v128.store(out + at, d);
    addTo(bias + at, d);
  }
}

/** Adds to the gradient of a group of weights what a tile of positions makes of it. */
function addGradient(plan: usize, group: usize, scratch: usize): void {
  const inputs = inputsAt(group, scratch);
  let row = turnedGradientAt(plan, group, scratch);
  for (let neuron: usize = 0; neuron < 32; neuron++, row += 128) {
    const list = scratch + BY_NEURON + neuron * LIST_BYTES;
    weightedSum(list, <usize>load<u32>(scratch + NEURON_ENDS + (neuron << 2)), inputs, row, row);
  }
}

/** out[32] = start[32] + the sum of factor * row[32] over a list. Not inlined, for the reason that `sumRows` is not. */
function weightedSum(list: usize, end: usize, rows: usize, start: usize, out: usize): void {
  let s0 = v128.load(start);
  let s1 = v128.load(start, 16);
  let s2 = v128.load(start, 32);
  let s3 = v128.load(start, 48);
  let s4 = v128.load(start, 64);
  let s5 = v128.load(start, 80);
  let s6 = v128.load(start, 96);
  let s7 = v128.load(start, 112);
  for (; list < end; list += 8) {
    const v = v128.load32_splat(list);
    const row = rows + <usize>load<u32>(list, 4);
    s0 = f32x4.add(s0, f32x4.mul(v, v128.load(row)));
    s1 = f32x4.add(s1, f32x4.mul(v, v128.load(row, 16)));
    s2 = f32x4.add(s2, f32x4.mul(v, v128.load(row, 32)));
    s3 = f32x4.add(s3, f32x4.mul(v, v128.load(row, 48)));
    s4 = f32x4.add(s4, f32x4.mul(v, v128.load(row, 64)));
    s5 = f32x4.add(s5, f32x4.mul(v, v128.load(row, 80)));
    s6 = f32x4.add(s6, f32x4.mul(v, v128.load(row, 96)));
    s7 = f32x4.add(s7, f32x4.mul(v, v128.load(row, 112)));
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
