import { apply, constant, type Node, type Op, type Signature, type Tensor } from "../graph.js";
import { array64, at, fill } from "../reference.js";
import { broadcastShapes, type Shape, sameShape } from "../shape.js";

/** Adds up what broadcasting spread, so that a gradient has the shape of the input it belongs to. */
export function sumTo(gradient: Tensor, shape: Shape): Tensor {
  if (sameShape(gradient.shape, shape)) return gradient;
  const extra = gradient.shape.length - shape.length;
  const axes = gradient.shape.flatMap((dim, axis) =>
    axis < extra || (shape[axis - extra] === 1 && dim !== 1) ? [axis] : [],
  );
  return axes.length === 0 ? gradient.reshape(shape) : gradient.sum(axes, { keep: true }).reshape(shape);
}

type Unary = (x: Tensor, y: Tensor, dy: Tensor) => Tensor;

/** An op of one tensor. `emit` if it is not one ONNX node of that name. */
function unary(onnx: string, f: (x: number) => number, gradient?: Unary, emit?: Op["emit"]): Op {
  return {
    infer: ([x]) => x,
    gradient: gradient && ((node, [dy]) => [gradient(node.inputs[0], node.outputs[0], dy!)]),
    emit: emit ?? ((_, [x], emitter) => emitter.elementwise(onnx, [x])),
    evaluate: (_, [x]) => array64(x.shape, x.data.map(f)),
  };
}

/** `x` before it was stretched, if `y` keeps its shape thanks to the other side. */
function unstretched(x: Tensor, other: Tensor, y: Tensor): Tensor {
  return x.node.op === "broadcastTo" && sameShape(other.shape, y.shape) && other.node.op !== "broadcastTo"
    ? x.node.inputs[0]
    : x;
}

type Binary = (a: Tensor, b: Tensor, dy: Tensor, node: Node) => [Tensor, Tensor];

function binary(onnx: string, f: (a: number, b: number) => number, gradient?: Binary): Op {
  return {
    infer([a, b], _, fail) {
      if (a.dtype !== b.dtype) fail(`types ${a.dtype} and ${b.dtype} differ; cast one of them`);
      return {
        shape: broadcastShapes(a.shape, b.shape) ?? fail("the shapes cannot be stretched to fit"),
        dtype: a.dtype,
      };
    },
    gradient:
      gradient &&
      ((node, [dy]) => {
        const [a, b] = node.inputs;
        const [da, db] = gradient(a, b, dy!, node);
        return [sumTo(da, a.shape), sumTo(db, b.shape)];
      }),
    // What was stretched to fit need not be: the op stretches it again.
    reads: ({ inputs: [a, b], outputs: [y] }) => [unstretched(a, b, y), unstretched(b, a, y)],
    emit: (_, [a, b], emitter) => emitter.elementwise(onnx, [a, b]),
    evaluate({ inputs: [{ dtype }] }, [a, b]) {
      const shape = broadcastShapes(a.shape, b.shape) as readonly number[];
      const round = dtype === "float32" ? (x: number) => x : Math.trunc;
      return fill(shape, (index) => round(f(at(a, index), at(b, index))));
    },
  };
}

/** A binary op whose result is a condition. */
function comparison(onnx: string, f: (a: number, b: number) => boolean): Op {
  const op = binary(onnx, (a, b) => (f(a, b) ? 1 : 0));
  return {
    ...op,
    infer: (...args) => ({ ...(op.infer(...args) as Signature), dtype: "bool" }),
  };
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/** The error function to full double precision, by its series near 0 and a continued fraction far from it. */
export function erf(x: number): number {
  const z = Math.abs(x);
  if (z < 2.5) {
    let term = z;
    let sum = z;
    for (let n = 1; Math.abs(term) > 1e-17 * sum; n++) {
      term *= (-z * z) / n;
      sum += term / (2 * n + 1);
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (z + fraction);
  return Math.sign(x) * (1 - Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction));
}

export const ELEMENTWISE = {
  add: binary(
    "Add",
    (a, b) => a + b,
    (_a, _b, dy) => [dy, dy],
  ),
  sub: binary(
    "Sub",
    (a, b) => a - b,
    (_a, _b, dy) => [dy, dy.neg()],
  ),
  mul: binary(
    "Mul",
    (a, b) => a * b,
    (a, b, dy) => [dy.mul(b), dy.mul(a)],
  ),
  div: binary(
    "Div",
    (a, b) => a / b,
    (_, b, dy, node) => {
      const da = dy.div(b);
      return [da, da.mul(node.outputs[0]).neg()];
    },
  ),
  // At a tie the first gets the gradient.
  maximum: binary("Max", Math.max, (a, b, dy) => [b.greater(a).where(0, dy), b.greater(a).where(dy, 0)]),
  minimum: binary("Min", Math.min, (a, b, dy) => [b.less(a).where(0, dy), b.less(a).where(dy, 0)]),
  equal: comparison("Equal", (a, b) => a === b),
  less: comparison("Less", (a, b) => a < b),
  greater: comparison("Greater", (a, b) => a > b),
  and: binary("And", (a, b) => a * b),
  or: binary("Or", Math.max),
  not: unary("Not", (x) => 1 - x),

  neg: unary(
    "Neg",
    (x) => -x,
    (_x, _y, dy) => dy.neg(),
  ),
  abs: unary("Abs", Math.abs, (x, _, dy) => dy.mul(x.sign())),
  sign: unary("Sign", Math.sign),
  exp: unary("Exp", Math.exp, (_, y, dy) => dy.mul(y)),
  log: unary("Log", Math.log, (x, _, dy) => dy.div(x)),
  sqrt: unary("Sqrt", Math.sqrt, (_, y, dy) => dy.div(y).mul(0.5)),
  reciprocal: unary(
    "Reciprocal",
    (x) => 1 / x,
    (_, y, dy) => dy.mul(y.square()).neg(),
  ),
  sin: unary("Sin", Math.sin, (x, _, dy) => dy.mul(x.cos())),
  cos: unary("Cos", Math.cos, (x, _, dy) => dy.mul(x.sin()).neg()),
  erf: unary("Erf", erf, (x, _, dy) =>
    dy.mul(
      x
        .square()
        .neg()
        .exp()
        .mul(2 / Math.sqrt(Math.PI)),
    ),
  ),
  relu: unary(
    "Relu",
    (x) => Math.max(x, 0),
    (_, y, dy) => dy.mul(y.step()),
  ),
  // HardSigmoid with a huge slope is five times faster than a comparison and a cast (docs/log/tensor.md).
  step: unary(
    "",
    (x) => (x > 0 ? 1 : 0),
    undefined,
    (_, [x], emitter) => emitter.elementwise("HardSigmoid", [x], { alpha: { float: 1e38 }, beta: { float: 0 } }),
  ),
  sigmoid: unary("Sigmoid", sigmoid, (_, y, dy) => dy.mul(y.sub(y.square()))),
  tanh: unary("Tanh", Math.tanh, (_, y, dy) => dy.sub(dy.mul(y.square()))),
  softplus: unary("Softplus", softplus, (x, _, dy) => dy.mul(x.sigmoid())),
  silu: unary(
    "",
    (x) => x * sigmoid(x),
    // With s = sigmoid(x) and y = x s: dy/dx = s + y (1 - s)
    (x, y, dy) => {
      const s = x.sigmoid();
      return dy.mul(s.add(y.sub(y.mul(s))));
    },
    (_, [x], emitter) => emitter.elementwise("QuickGelu", [x], { alpha: { float: 1 } }, "com.microsoft"),
  ),
  gelu: unary(
    "Gelu",
    (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
    // With u = x / sqrt(2): (1 + erf(u)) / 2 + u exp(-u^2) / sqrt(pi), in as few passes over memory as there can be
    (x, _, dy): Tensor => {
      const u = x.mul(Math.SQRT1_2);
      const share: Tensor = apply("ramp", [u.erf()], { slope: 0.5, offset: 0.5 });
      const density: Tensor = constant(-0.5 * Math.log(Math.PI))
        .sub(u.square())
        .exp();
      return dy.mul(share.add(u.mul(density)));
    },
  ),
  /** slope x + offset, kept between 0 and 1: one pass where a product and a sum are two. */
  ramp: {
    infer: ([x]) => x,
    gradient({ outputs: [y], attributes: { slope } }, [dy]): (Tensor | undefined)[] {
      return [
        y
          .greater(0)
          .and(y.less(1))
          .where(dy!.mul(slope as number), 0),
      ];
    },
    emit: ({ attributes: { slope, offset } }, [x], emitter) =>
      emitter.elementwise("HardSigmoid", [x], { alpha: { float: slope as number }, beta: { float: offset as number } }),
    evaluate: ({ attributes: { slope, offset } }, [x]) =>
      array64(
        x.shape,
        x.data.map((v) => Math.min(Math.max((slope as number) * v + (offset as number), 0), 1)),
      ),
  },
  mish: unary(
    "Mish",
    (x) => x * Math.tanh(softplus(x)),
    (x, _, dy) => {
      const t = x.softplus().tanh();
      return dy.mul(t.add(x.mul(x.sigmoid()).mul(t.square().neg().add(1))));
    },
  ),
  clip: {
    infer: ([x]) => x,
    gradient({ inputs: [x], attributes: { low, high } }, [dy]) {
      const inside = x.greater(low as number).and(x.less(high as number));
      return [inside.where(dy!, 0)];
    },
    emit({ attributes: { low, high } }, [x], emitter) {
      return emitter.elementwise("Clip", [x, emitter.scalar(low as number), emitter.scalar(high as number)]);
    },
    evaluate: ({ attributes: { low, high } }, [x]) =>
      array64(
        x.shape,
        x.data.map((v) => Math.min(Math.max(v, low as number), high as number)),
      ),
  },
  where: {
    infer([condition, a, b], _, fail) {
      if (condition.dtype !== "bool") fail(`the condition must be of type bool, not ${condition.dtype}`);
      if (a.dtype !== b.dtype) fail(`types ${a.dtype} and ${b.dtype} differ; cast one of them`);
      const both = broadcastShapes(a.shape, b.shape) ?? fail("the two sides cannot be stretched to fit");
      const shape = broadcastShapes(condition.shape, both) ?? fail("the condition cannot be stretched to fit");
      return { shape, dtype: a.dtype };
    },
    gradient({ inputs: [condition, a, b] }, [dy]) {
      return [undefined, sumTo(condition.where(dy!, 0), a.shape), sumTo(condition.where(0, dy!), b.shape)];
    },
    emit: (_, inputs, emitter) => emitter.add("Where", inputs),
    evaluate(_, [condition, a, b]) {
      const shape = broadcastShapes(condition.shape, broadcastShapes(a.shape, b.shape)!) as readonly number[];
      return fill(shape, (index) => (at(condition, index) ? at(a, index) : at(b, index)));
    },
  },
  cast: {
    infer: ([x], { dtype }) => ({ shape: x.shape, dtype: dtype as Tensor["dtype"] }),
    gradient: ({ inputs: [x] }, [dy]) => [x.dtype === "float32" ? dy!.cast("float32") : undefined],
    emit: ({ attributes: { dtype } }, [x], emitter) => emitter.cast(x, dtype as Tensor["dtype"]),
    evaluate: ({ attributes: { dtype } }, [x]) =>
      array64(
        x.shape,
        String(dtype).startsWith("float") ? x.data : x.data.map(dtype === "bool" ? (v) => (v ? 1 : 0) : Math.trunc),
      ),
  },
  stopGradient: {
    infer: ([x]) => x,
    emit: (_, [x]) => x,
    evaluate: (_, [x]) => x,
  },
} satisfies Record<string, Op>;
