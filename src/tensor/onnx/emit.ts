import { assert, UserError } from "#base";
import { type DType, type Node, nodesOf, type Op, type Tensor } from "../graph.js";
import { ELEMENTWISE } from "../ops/elementwise.js";
import { OPS } from "../ops/index.js";
import type { Parameter } from "../parameter.js";
import type { Dim, Shape } from "../shape.js";
import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from "./model.js";

/** Training: batch statistics, dropout, parameters as inputs. Inference: everything folded, parameters inside. */
export type Mode = "training" | "inference";

type OnnxAttributes = Readonly<Record<string, OnnxAttribute>>;

/**
 * Turns nodes of the graph into ONNX nodes. Equal nodes and equal constants are written once. A value may also exist
 * as pieces along its first axis (the tokens of each expert); elementwise ops keep it so, others join it.
 */
export class Emitter {
  private readonly nodes: OnnxNode[] = [];
  private readonly initialisers: OnnxTensor[] = [];
  private readonly inputs: OnnxValue[] = [];
  private readonly values = new Map<Tensor, string>();
  private readonly known = new Map<string, string[]>(); // text of a node -> its results
  private readonly piecesOf = new Map<string, readonly string[]>();
  private readonly symbols = new Map<string, { input: string; axis: number }>();
  private readonly names = new Set<string>();
  private opset = 21;
  readonly parameters: Parameter[] = [];
  readonly dropouts: { input: string; size: number; keep: number }[] = [];

  /** `products`: 3x3 convolutions become products of matrices instead of `Conv`. */
  constructor(
    readonly mode: Mode,
    readonly products = mode === "training",
  ) {}

  /** The name of a tensor's value; everything it needs is emitted first. */
  value(tensor: Tensor): string {
    const done = this.values.get(tensor);
    if (done !== undefined) return this.whole(done);
    const reads = (node: Node) =>
      node.outputs.some((output) => this.values.has(output)) ? [] : ((OPS[node.op] as Op).reads?.(node) ?? node.inputs);
    for (const node of nodesOf([tensor], reads)) {
      if (node.outputs.some((output) => this.values.has(output))) continue;
      const names = reads(node).map((read) => this.values.get(read)!);
      const op = OPS[node.op] as Op;
      const takesPieces = PIECEWISE.has(node.op);
      const found = op.emit(node, takesPieces ? names : names.map((name) => this.whole(name)), this);
      (Array.isArray(found) ? found : [found]).forEach((name, i) => {
        this.values.set(node.outputs[i], name);
      });
    }
    return this.whole(this.values.get(tensor)!);
  }

  /** Adds a node with several results, unless an equal one is there. */
  addAll(
    op: string,
    inputs: readonly string[],
    results: number,
    attributes: OnnxAttributes = {},
    domain = "",
  ): string[] {
    const text = JSON.stringify([op, inputs, attributes, domain]);
    const same = this.known.get(text);
    if (same) return same;
    const outputs = Array.from({ length: results }, (_, i) => `${this.nodes.length}${results > 1 ? `.${i}` : ""}`);
    this.nodes.push({ op, inputs, outputs, attributes, domain });
    this.known.set(text, outputs);
    return outputs;
  }

  add(op: string, inputs: readonly string[], attributes: OnnxAttributes = {}, domain = ""): string {
    return this.addAll(op, inputs, 1, attributes, domain)[0];
  }

  /** An elementwise node; on pieces, one for each of them. */
  elementwise(op: string, inputs: readonly string[], attributes: OnnxAttributes = {}, domain = ""): string {
    const lists = inputs.map((name) => this.piecesOf.get(name));
    const cut = lists.find((list) => list !== undefined);
    if (!cut) return this.add(op, inputs, attributes, domain);
    const together = lists.every((list) => list !== undefined);
    if (!together)
      return this.add(
        op,
        inputs.map((name) => this.whole(name)),
        attributes,
        domain,
      );
    return this.inPieces(
      cut.map((_, i) =>
        this.add(
          op,
          lists.map((list) => list![i]),
          attributes,
          domain,
        ),
      ),
    );
  }

  /** Remembers pieces of a value under a name of its own; they are joined when somebody needs the whole. */
  inPieces(pieces: readonly string[]): string {
    const name = `pieces:${pieces.join()}`;
    this.piecesOf.set(name, pieces);
    return name;
  }

  pieces(name: string): readonly string[] | undefined {
    return this.piecesOf.get(name);
  }

  private whole(name: string): string {
    const pieces = this.piecesOf.get(name);
    return pieces ? this.add("Concat", pieces, { axis: 0 }) : name;
  }

  constant(data: ArrayBufferView, shape: readonly number[], dtype: DType = "float32"): string {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const text = `${dtype}[${shape}]${fingerprint(bytes)}`;
    const same = this.known.get(text);
    if (same) return same[0];
    const name = `c${this.initialisers.length}`;
    this.initialisers.push({ name, shape, dtype, bytes });
    this.known.set(text, [name]);
    return name;
  }

  scalar(value: number): string {
    return this.constant(Float32Array.of(value), []);
  }

  int64s(values: readonly number[]): string {
    return this.constant(BigInt64Array.from(values, BigInt), [values.length], "int64");
  }

  cast(name: string, dtype: DType): string {
    return this.add("Cast", [name], {
      to: { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float16: 10 }[dtype],
    });
  }

  /** Symbolic dimensions keep their size: the one at the same place as before is copied, another is worked out. */
  reshape(name: string, shape: Shape, from?: Shape): string {
    const target = shape.map((dim, i) => {
      if (typeof dim === "number") return dim;
      return from && from[i] === dim && from.slice(0, i).every((d, j) => d === shape[j]) ? 0 : -1;
    });
    if (target.filter((dim) => dim === -1).length > 1) return this.add("Reshape", [name, this.runtimeShape(shape)]);
    return this.add("Reshape", [name, this.int64s(target)]);
  }

  /** Stretched to a shape. */
  broadcast(name: string, shape: Shape): string {
    const known = shape.every((dim) => typeof dim === "number");
    return this.add("Expand", [name, known ? this.int64s(shape as number[]) : this.runtimeShape(shape)]);
  }

  /** Some ops came later than the version of ONNX we otherwise ask for. */
  requireOpset(version: number): void {
    this.opset = Math.max(this.opset, version);
  }

  oneHot(indices: string, size: number): string {
    const depth = this.constant(BigInt64Array.of(BigInt(size)), [1], "int64");
    return this.add("OneHot", [this.cast(indices, "int64"), depth, this.constant(Float32Array.of(0, 1), [2])], {
      axis: -1,
    });
  }

  /** A shape that is only known when the model runs, worked out from the inputs'. */
  runtimeShape(shape: Shape): string {
    return this.add(
      "Concat",
      shape.map((dim) => this.runtimeDim(dim)),
      { axis: 0 },
    );
  }

  private runtimeDim(dim: Dim): string {
    if (typeof dim === "number") return this.int64s([dim]);
    const [, times, symbol, plus] = /^(\d*)([A-Za-z_]\w*)(?:\+(\d+))?$/.exec(dim)!;
    const source = this.symbols.get(symbol);
    assert(source, `no input has dimension ${symbol}`);
    let size = this.add("Slice", [
      this.add("Shape", [source.input]),
      this.int64s([source.axis]),
      this.int64s([source.axis + 1]),
    ]);
    if (times) size = this.add("Mul", [size, this.int64s([Number(times)])]);
    return plus ? this.add("Add", [size, this.int64s([Number(plus)])]) : size;
  }

  input(tensor: Tensor, name: string): string {
    if (this.names.has(name)) throw new UserError("TENSOR_NAME", `Two inputs or parameters are called "${name}".`);
    this.names.add(name);
    this.inputs.push({ name, shape: tensor.shape, dtype: tensor.dtype });
    tensor.shape.forEach((dim, axis) => {
      if (typeof dim === "string" && /^[A-Za-z_]\w*$/.test(dim) && !this.symbols.has(dim)) {
        this.symbols.set(dim, { input: name, axis });
      }
    });
    return name;
  }

  parameter(tensor: Tensor): string {
    const parameter = tensor as Parameter;
    const { name } = parameter;
    if (name === "") {
      throw new UserError(
        "TENSOR_NAME",
        `A parameter of shape [${tensor.shape}] has no name.\nName all of a model's with parametersOf(model).`,
      );
    }
    this.parameters.push(parameter);
    if (this.mode === "training") return this.input(tensor, name);
    if (this.names.has(name)) throw new UserError("TENSOR_NAME", `Two inputs or parameters are called "${name}".`);
    this.names.add(name);
    const { data } = parameter;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.initialisers.push({ name, shape: tensor.shape as readonly number[], dtype: "float32", bytes });
    return name;
  }

  /** The mask of a dropout: an input [size] that training fills. */
  dropoutMask(size: number, keep: number): string {
    const input = `dropout:${this.dropouts.length}`;
    this.dropouts.push({ input, size, keep });
    this.inputs.push({ name: input, shape: [size], dtype: "float32" });
    return input;
  }

  /** The model whose outputs are the given tensors, by name; `stop` is one more, first: a list with the first in it. */
  finish(results: Readonly<Record<string, Tensor>>, stop?: string): OnnxModel {
    const outputs: OnnxValue[] = Object.entries(results).map(([name, tensor]) => {
      const value = this.value(tensor);
      this.nodes.push({ op: "Identity", inputs: [value], outputs: [name], attributes: {}, domain: "" });
      return { name, shape: tensor.shape, dtype: tensor.dtype };
    });
    if (stop !== undefined) {
      const [first] = outputs;
      this.nodes.push({ op: "SequenceConstruct", inputs: [first.name], outputs: [stop], attributes: {}, domain: "" });
      outputs.unshift({ ...first, name: stop, sequence: true });
    }
    return { nodes: this.nodes, initialisers: this.initialisers, inputs: this.inputs, outputs, opset: this.opset };
  }
}

/** Ops that know what to do with a value in pieces. */
const PIECEWISE = new Set<string>([...Object.keys(ELEMENTWISE), "expertMatmul", "expertOuter", "custom"]);

/** Equal bytes have equal texts; large ones are told apart by two hashes of 32 bits and their length. */
function fingerprint(bytes: Uint8Array): string {
  let a = 0x811c9dc5;
  let b = 0x9e3779b9;
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b + byte, 0x85ebca6b) ^ (b >>> 13);
  }
  return `${bytes.length}:${a >>> 0}:${b >>> 0}`;
}
