import { UserError } from "#base";
import type { Emitter } from "./onnx/emit.js";
import { OPS, type OpName } from "./ops/index.js";
import type { Array64 } from "./reference.js";
import { type Dim, formatShape, type Shape } from "./shape.js";

export const DTYPES = ["float32", "float16", "int32", "int64", "uint8", "int8", "bool"] as const;
/** The type of a tensor's numbers. */
export type DType = (typeof DTYPES)[number];

/** What an op can store beside its inputs: plain data only. */
type Attribute = number | string | boolean | Shape | Float32Array | Int32Array | BigInt64Array | Uint8Array | undefined;
export type Attributes = Readonly<Record<string, Attribute>>;

/** One step of a computation. Nodes point at what they read, so a graph is simply whatever its results reach. */
export interface Node {
  readonly id: number; // a node's inputs have smaller ids: ascending ids are an order of execution
  readonly op: OpName;
  readonly inputs: readonly Tensor[];
  readonly attributes: Attributes;
  readonly outputs: readonly Tensor[];
}

/** What an op promises about one of its results. */
export interface Signature {
  shape: Shape;
  dtype: DType;
}

/** Everything the engine knows about one kind of node. */
export interface Op {
  /** The shapes and types of the results; calls `fail` if the inputs do not fit. */
  infer(inputs: readonly Tensor[], attributes: Attributes, fail: (why: string) => never): Signature | Signature[];
  /** The gradient of each input, given those of the results. Absent: the op is constant almost everywhere. */
  gradient?(node: Node, dys: readonly (Tensor | undefined)[]): (Tensor | undefined)[];
  /** What the emitted node reads, if that is not simply the inputs. */
  reads?(node: Node): readonly Tensor[];
  /** Adds ONNX nodes and returns the names of the results. */
  emit(node: Node, inputs: readonly string[], emitter: Emitter): string | string[];
  /** The same in plain 64-bit loops: the yardstick of the tests. */
  evaluate(node: Node, inputs: readonly Array64[]): Array64 | Array64[];
}

let nextId = 0;

/** The first line of the stack that is not the engine's own: where the user's code built the op. */
function callerLine(): string {
  const own = new URL(".", import.meta.url).pathname;
  const lines = (new Error().stack ?? "").split("\n").slice(1);
  return (lines.find((line) => !line.includes(own) || line.includes(".test.")) ?? lines.at(-1) ?? "").trim();
}

/** Adds a node and returns its results. */
export function applyAll(op: OpName, inputs: readonly Tensor[], attributes: Attributes = {}): readonly Tensor[] {
  const fail = (why: string): never => {
    const shapes = inputs.map((input) => formatShape(input.shape)).join(" and ");
    throw new UserError("TENSOR_SHAPE", `${op} of ${shapes}: ${why}\n  ${callerLine()}`);
  };
  const found = (OPS[op] as Op).infer(inputs, attributes, fail);
  const outputs: Tensor[] = [];
  const node: Node = { id: nextId++, op, inputs, attributes, outputs };
  for (const { shape, dtype } of Array.isArray(found) ? found : [found]) {
    outputs.push(new Tensor(node, outputs.length, shape, dtype));
  }
  return outputs;
}

/** Adds a node with one result. */
export const apply = (op: OpName, inputs: readonly Tensor[], attributes: Attributes = {}): Tensor =>
  applyAll(op, inputs, attributes)[0];

const ARRAYS = { int32: Int32Array, int64: BigInt64Array, uint8: Uint8Array, float32: Float32Array };

/** Numbers known when the graph is built. */
export function constant(
  values: number | ArrayLike<number>,
  shape: readonly number[] = [],
  dtype: DType = "float32",
): Tensor {
  const list = typeof values === "number" ? [values] : Array.from(values);
  const kind = dtype === "bool" ? "uint8" : dtype;
  if (kind === "float16" || kind === "int8") throw new Error(`internal: constant of type ${dtype}`);
  const data = kind === "int64" ? BigInt64Array.from(list, BigInt) : ARRAYS[kind].from(list as never);
  return apply("constant", [], { data, shape, dtype });
}

/** Values given anew for every run, by name. */
export const input = (name: string, shape: Shape, dtype: DType = "float32"): Tensor =>
  apply("input", [], { name, shape, dtype });

/** A value of a computation that is yet to run: what it is computed from, its shape and its type. */
export class Tensor {
  constructor(
    readonly node: Node,
    readonly index: number, // which of the node's results
    readonly shape: Shape,
    readonly dtype: DType,
  ) {}

  /** The size along an axis; negative counts from the end. */
  dim(axis: number): Dim {
    return this.shape[this.axis(axis)];
  }

  /** An axis counted from the front. */
  axis(axis: number): number {
    return axis < 0 ? axis + this.shape.length : axis;
  }

  private with(other: Tensor | number): [Tensor, Tensor] {
    return [this, typeof other === "number" ? constant(other, [], this.dtype) : other];
  }

  // Elementwise; shapes are stretched to fit each other as in NumPy.
  add(other: Tensor | number): Tensor {
    return apply("add", this.with(other));
  }
  sub(other: Tensor | number): Tensor {
    return apply("sub", this.with(other));
  }
  mul(other: Tensor | number): Tensor {
    return apply("mul", this.with(other));
  }
  div(other: Tensor | number): Tensor {
    return apply("div", this.with(other));
  }
  maximum(other: Tensor | number): Tensor {
    return apply("maximum", this.with(other));
  }
  minimum(other: Tensor | number): Tensor {
    return apply("minimum", this.with(other));
  }
  equal(other: Tensor | number): Tensor {
    return apply("equal", this.with(other));
  }
  less(other: Tensor | number): Tensor {
    return apply("less", this.with(other));
  }
  greater(other: Tensor | number): Tensor {
    return apply("greater", this.with(other));
  }
  and(other: Tensor): Tensor {
    return apply("and", [this, other]);
  }
  or(other: Tensor): Tensor {
    return apply("or", [this, other]);
  }
  not(): Tensor {
    return apply("not", [this]);
  }
  /** This tensor is a condition: `a` where it holds, `b` elsewhere. */
  where(a: Tensor | number, b: Tensor | number): Tensor {
    const dtype = typeof a === "number" ? (typeof b === "number" ? "float32" : b.dtype) : a.dtype;
    const [x, y] = [a, b].map((side) => (typeof side === "number" ? constant(side, [], dtype) : side));
    return apply("where", [this, x, y]);
  }

  neg(): Tensor {
    return apply("neg", [this]);
  }
  abs(): Tensor {
    return apply("abs", [this]);
  }
  sign(): Tensor {
    return apply("sign", [this]);
  }
  square(): Tensor {
    return this.mul(this);
  }
  exp(): Tensor {
    return apply("exp", [this]);
  }
  log(): Tensor {
    return apply("log", [this]);
  }
  sqrt(): Tensor {
    return apply("sqrt", [this]);
  }
  reciprocal(): Tensor {
    return apply("reciprocal", [this]);
  }
  sin(): Tensor {
    return apply("sin", [this]);
  }
  cos(): Tensor {
    return apply("cos", [this]);
  }
  erf(): Tensor {
    return apply("erf", [this]);
  }
  relu(): Tensor {
    return apply("relu", [this]);
  }
  /** Between `low` and `high`: clippedRelu is clip(0, 1). */
  clip(low: number, high: number): Tensor {
    return apply("clip", [this], { low, high });
  }
  clippedRelu(): Tensor {
    return this.clip(0, 1);
  }
  /** 1 where positive, else 0, as numbers. */
  step(): Tensor {
    return apply("step", [this]);
  }
  sigmoid(): Tensor {
    return apply("sigmoid", [this]);
  }
  tanh(): Tensor {
    return apply("tanh", [this]);
  }
  softplus(): Tensor {
    return apply("softplus", [this]);
  }
  silu(): Tensor {
    return apply("silu", [this]);
  }
  gelu(): Tensor {
    return apply("gelu", [this]);
  }
  mish(): Tensor {
    return apply("mish", [this]);
  }

  cast(dtype: DType): Tensor {
    return dtype === this.dtype ? this : apply("cast", [this], { dtype });
  }
  /** The same values, but nothing learns through them. */
  stopGradient(): Tensor {
    return apply("stopGradient", [this]);
  }

  /** [..., m, k] x [..., k, n]; either may be read transposed (its last two axes swapped) at no cost. */
  matmul(other: Tensor, options: { transA?: boolean; transB?: boolean; alpha?: number } = {}): Tensor {
    const { transA = false, transB = false, alpha = 1 } = options;
    return apply("matmul", [this, other], { transA, transB, alpha });
  }

  sum(axes?: number | readonly number[], options: { keep?: boolean } = {}): Tensor {
    return this.reduce("sum", axes, options);
  }
  mean(axes?: number | readonly number[], options: { keep?: boolean } = {}): Tensor {
    return this.reduce("mean", axes, options);
  }
  /** The largest value along the axes. */
  max(axes?: number | readonly number[], options: { keep?: boolean } = {}): Tensor {
    return this.reduce("max", axes, options);
  }
  private reduce(op: OpName, axes: number | readonly number[] | undefined, { keep = false }): Tensor {
    const list = axes === undefined ? this.shape.map((_, i) => i) : typeof axes === "number" ? [axes] : axes;
    return apply(op, [this], { axes: list.map((axis) => this.axis(axis)).sort((a, b) => a - b), keep });
  }
  /** The index of the largest value along the last axis. */
  argmax(): Tensor {
    return apply("argmax", [this]);
  }
  /** The `k` largest along the last axis, largest first, and where they stand. */
  topK(k: number): { values: Tensor; indices: Tensor } {
    const [values, indices] = applyAll("topK", [this], { k });
    return { values, indices };
  }

  /** One dimension may be -1: what is left over. */
  reshape(shape: Shape): Tensor {
    return apply("reshape", [this], { shape });
  }
  /** Axes in a new order; without one the last two are swapped. */
  transpose(order?: readonly number[]): Tensor {
    const rank = this.shape.length;
    return apply("transpose", [this], { order: order ?? [...Array(rank - 2).keys(), rank - 1, rank - 2] });
  }
  /** Elements start .. end-1 along an axis; negative ones count from the end. */
  slice(axis: number, start: number, end?: Dim): Tensor {
    if (start === 0 && (end === undefined || end === this.dim(axis))) return this;
    return apply("slice", [this], { axis: this.axis(axis), start, end });
  }
  /** Parts of the given sizes along an axis. */
  split(axis: number, sizes: readonly number[]): readonly Tensor[] {
    return applyAll("split", [this], { axis: this.axis(axis), sizes });
  }
  /** Stretched to a shape, as elementwise ops do. */
  broadcastTo(shape: Shape): Tensor {
    return apply("broadcastTo", [this], { shape });
  }
  /** `before` and `after` zeros along an axis. */
  pad(axis: number, before: number, after: number): Tensor {
    return apply("pad", [this], { axis: this.axis(axis), before, after });
  }

  /** Rows of this table [rows, ...] by index: [*indices, ...]. */
  gather(indices: Tensor): Tensor {
    return apply("gather", [this, indices]);
  }
  /** From each line along the last axis the elements at `indices`, which has the same shape but for that axis. */
  take(indices: Tensor): Tensor {
    return apply("take", [this, indices]);
  }
  /** Zeros [..., size] with the numbers [..., k] added at the places `indices` [..., k] of the last axis. */
  putAdd(indices: Tensor, size: number): Tensor {
    return apply("putAdd", [this, indices], { size });
  }
  /** This tensor's lines [*indices, ...] added up into `rows` rows by index: the reverse of gather. */
  scatterAdd(indices: Tensor, rows: number): Tensor {
    return apply("scatterAdd", [this, indices], { rows });
  }
  /** Whole numbers as lines of `size` zeros with a one. */
  oneHot(size: number): Tensor {
    return apply("oneHot", [this], { size });
  }

  /** In training, each value is dropped (made 0) with probability `rate`, and the others grow to make up for it. */
  dropout(rate: number): Tensor {
    return rate === 0 ? this : apply("dropout", [this], { rate });
  }

  /** Along the last axis. A mask, if given, is a condition: where it is false the probability is 0. */
  softmax(mask?: Tensor): Tensor {
    return apply("softmax", [mask ? mask.where(this, MASKED) : this]);
  }
  logSoftmax(mask?: Tensor): Tensor {
    return apply("logSoftmax", [mask ? mask.where(this, MASKED) : this]);
  }
}

/** Finite, so that a line that is masked altogether gives no NaN: exp of it minus any real score is 0. */
export const MASKED = -1e9;

/** Puts tensors one after another along an axis. */
export function concat(parts: readonly Tensor[], axis: number): Tensor {
  return parts.length === 1 ? parts[0] : apply("concat", parts, { axis: parts[0].axis(axis) });
}

/** The nodes the tensors are computed from, each after what it reads. */
export function nodesOf(
  tensors: readonly Tensor[],
  reads: (node: Node) => readonly Tensor[] = (node) => node.inputs,
): Node[] {
  const seen = new Set<Node>();
  const open = tensors.map((tensor) => tensor.node);
  for (let node = open.pop(); node; node = open.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const { node: below } of reads(node)) open.push(below);
  }
  return [...seen].sort((a, b) => a.id - b.id);
}
