// Optimiser steps over flat ranges of 32-bit floats, in place. One pass over memory each: at nine million parameters
// the arrays are larger than any cache and the passes are what costs.
//
// Every element is computed by the same sequence of rounded operations whether it falls into the vector loop or the
// tail, so results do not depend on how parameters are cut into ranges. Factors such as 1 - beta arrive computed in
// double precision: 1 - f32(0.999) would be wrong in the fifth digit.
//
// The loops are alike, and each stands whole: what differs is in their middle, and AssemblyScript neither inlines closures
// nor keeps a dozen vectors in registers across a call.

/** SGD with momentum. `velocity` may be 0 (no array) if `momentum` is 0. */
export function sgd(
  parameter: usize,
  gradient: usize,
  velocity: usize,
  length: i32,
  learningRate: f32,
  momentum: f32,
  nesterov: bool,
  decay: f32,
  scale: f32,
): void {
  const rate = f32x4.splat(learningRate);
  const keep = f32x4.splat(momentum);
  const pull = f32x4.splat(decay);
  const factor = f32x4.splat(scale);
  const end = (<usize>length) << 2;
  const whole = end & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16) {
    const p = v128.load(parameter + i);
    let step = f32x4.add(f32x4.mul(v128.load(gradient + i), factor), f32x4.mul(pull, p));
    if (velocity != 0) {
      const moved = f32x4.add(f32x4.mul(keep, v128.load(velocity + i)), step);
      v128.store(velocity + i, moved);
      step = nesterov ? f32x4.add(step, f32x4.mul(keep, moved)) : moved;
    }
    v128.store(parameter + i, f32x4.sub(p, f32x4.mul(rate, step)));
  }
  for (; i < end; i += 4) {
    const p = load<f32>(parameter + i);
    let step = load<f32>(gradient + i) * scale + decay * p;
    if (velocity != 0) {
      const moved = momentum * load<f32>(velocity + i) + step;
      store<f32>(velocity + i, moved);
      step = nesterov ? step + momentum * moved : moved;
    }
    store<f32>(parameter + i, p - learningRate * step);
  }
}

/**
 * Adam and AdamW (Kingma and Ba 2015; Loshchilov and Hutter 2019). `decay` is added to the gradient (Adam's L2),
 * `shrink` multiplies the parameter first (AdamW's decoupled decay; 1 for none). `stepSize` is the learning rate over
 * the first bias correction, `rootScale` one over the root of the second.
 */
export function adam(
  parameter: usize,
  gradient: usize,
  mean: usize,
  square: usize,
  length: i32,
  stepSize: f32,
  oneMinusBeta1: f32,
  beta2: f32,
  oneMinusBeta2: f32,
  rootScale: f32,
  epsilon: f32,
  decay: f32,
  shrink: f32,
  scale: f32,
): void {
  const size = f32x4.splat(stepSize);
  const new1 = f32x4.splat(oneMinusBeta1);
  const old2 = f32x4.splat(beta2);
  const new2 = f32x4.splat(oneMinusBeta2);
  const root = f32x4.splat(rootScale);
  const small = f32x4.splat(epsilon);
  const pull = f32x4.splat(decay);
  const keep = f32x4.splat(shrink);
  const factor = f32x4.splat(scale);
  const end = (<usize>length) << 2;
  const whole = end & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16) {
    const p = v128.load(parameter + i);
    const g = f32x4.add(f32x4.mul(v128.load(gradient + i), factor), f32x4.mul(pull, p));
    let m = v128.load(mean + i);
    m = f32x4.add(m, f32x4.mul(new1, f32x4.sub(g, m)));
    v128.store(mean + i, m);
    const v = f32x4.add(f32x4.mul(old2, v128.load(square + i)), f32x4.mul(new2, f32x4.mul(g, g)));
    v128.store(square + i, v);
    const step = f32x4.div(f32x4.mul(size, m), f32x4.add(f32x4.mul(f32x4.sqrt(v), root), small));
    v128.store(parameter + i, f32x4.sub(f32x4.mul(p, keep), step));
  }
  for (; i < end; i += 4) {
    const p = load<f32>(parameter + i);
    const g = load<f32>(gradient + i) * scale + decay * p;
    let m = load<f32>(mean + i);
    m = m + oneMinusBeta1 * (g - m);
    store<f32>(mean + i, m);
    const v = beta2 * load<f32>(square + i) + oneMinusBeta2 * (g * g);
    store<f32>(square + i, v);
    store<f32>(parameter + i, p * shrink - (stepSize * m) / (sqrt<f32>(v) * rootScale + epsilon));
  }
}

/** Adadelta (Zeiler 2012), with PyTorch's learning rate and L2 decay. */
export function adadelta(
  parameter: usize,
  gradient: usize,
  square: usize,
  change: usize,
  length: i32,
  learningRate: f32,
  rho: f32,
  oneMinusRho: f32,
  epsilon: f32,
  decay: f32,
  scale: f32,
): void {
  const rate = f32x4.splat(learningRate);
  const old = f32x4.splat(rho);
  const fresh = f32x4.splat(oneMinusRho);
  const small = f32x4.splat(epsilon);
  const pull = f32x4.splat(decay);
  const factor = f32x4.splat(scale);
  const end = (<usize>length) << 2;
  const whole = end & ~15;
  let i: usize = 0;
  for (; i < whole; i += 16) {
    const p = v128.load(parameter + i);
    const g = f32x4.add(f32x4.mul(v128.load(gradient + i), factor), f32x4.mul(pull, p));
    const s = f32x4.add(f32x4.mul(old, v128.load(square + i)), f32x4.mul(fresh, f32x4.mul(g, g)));
    v128.store(square + i, s);
    const c = v128.load(change + i);
    const ratio = f32x4.div(f32x4.sqrt(f32x4.add(c, small)), f32x4.sqrt(f32x4.add(s, small)));
    const step = f32x4.mul(ratio, g);
    v128.store(change + i, f32x4.add(f32x4.mul(old, c), f32x4.mul(fresh, f32x4.mul(step, step))));
    v128.store(parameter + i, f32x4.sub(p, f32x4.mul(rate, step)));
  }
  for (; i < end; i += 4) {
    const p = load<f32>(parameter + i);
    const g = load<f32>(gradient + i) * scale + decay * p;
    const s = rho * load<f32>(square + i) + oneMinusRho * (g * g);
    store<f32>(square + i, s);
    const c = load<f32>(change + i);
    const step = (sqrt<f32>(c + epsilon) / sqrt<f32>(s + epsilon)) * g;
    store<f32>(change + i, rho * c + oneMinusRho * (step * step));
    store<f32>(parameter + i, p - learningRate * step);
  }
}

const SGD: u32 = 0;
const ADAM: u32 = 1;

/**
 * A step by the rule at an address: u32, which of the above in the order of KERNELS (src/tensor/optimisers/optimiser.ts), then its
 * numbers, f32 each, in the order of its arguments.
 */
export function optimise(rule: usize, parameter: usize, gradient: usize, slot0: usize, slot1: usize, length: i32): void {
  const a = load<f32>(rule, 4);
  const b = load<f32>(rule, 8);
  const c = load<f32>(rule, 12);
  const d = load<f32>(rule, 16);
  const e = load<f32>(rule, 20);
  const f = load<f32>(rule, 24);
  const which = load<u32>(rule);
  if (which == SGD) sgd(parameter, gradient, slot0, length, a, b, c != 0, d, e);
  else if (which == ADAM) {
    const keep = load<f32>(rule, 32);
    adam(parameter, gradient, slot0, slot1, length, a, b, c, d, e, f, load<f32>(rule, 28), keep, load<f32>(rule, 36));
  } else adadelta(parameter, gradient, slot0, slot1, length, a, b, c, d, e, f);
}
