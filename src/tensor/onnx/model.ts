/**
 * Writes ONNX models: the few protobuf messages a graph needs, field numbers as in onnx.proto3.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */
import type { DType } from "../graph.js";
import type { Shape } from "../shape.js";

/** A number is an integer attribute; `{ float }` a real one. */
export type OnnxAttribute = number | { float: number } | string | readonly number[];

export interface OnnxNode {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: Readonly<Record<string, OnnxAttribute>>;
  domain: string;
}

export interface OnnxTensor {
  name: string;
  shape: readonly number[];
  dtype: DType;
  bytes: Uint8Array;
}

export interface OnnxValue {
  name: string;
  shape: Shape;
  dtype: DType;
  sequence?: boolean; // a list with this tensor in it
}

/** An ONNX model as plain data. */
export interface OnnxModel {
  nodes: readonly OnnxNode[];
  initialisers: readonly OnnxTensor[];
  inputs: readonly OnnxValue[];
  outputs: readonly OnnxValue[];
  opset: number; // version of the standard ops
  metadata?: Readonly<Record<string, string>>;
}

const TYPES: Record<DType, number> = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float16: 10 };

/** A growing protobuf message. */
class Message {
  private buffer = new Uint8Array(256);
  private length = 0;

  private room(bytes: number): void {
    if (this.length + bytes <= this.buffer.length) return;
    const larger = new Uint8Array(Math.max(this.buffer.length * 2, this.length + bytes));
    larger.set(this.buffer.subarray(0, this.length));
    this.buffer = larger;
  }

  private varint(value: number): void {
    this.room(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.buffer[this.length++] = Number(rest & 127n) | 128;
    this.buffer[this.length++] = Number(rest);
  }

  integer(field: number, value: number): this {
    this.varint(field << 3);
    this.varint(value);
    return this;
  }

  float(field: number, value: number): this {
    this.varint((field << 3) | 5);
    this.room(4);
    new DataView(this.buffer.buffer).setFloat32(this.length, value, true);
    this.length += 4;
    return this;
  }

  bytes(field: number, bytes: Uint8Array): this {
    this.varint((field << 3) | 2);
    this.varint(bytes.length);
    this.room(bytes.length);
    this.buffer.set(bytes, this.length);
    this.length += bytes.length;
    return this;
  }

  text(field: number, text: string): this {
    return this.bytes(field, new TextEncoder().encode(text));
  }

  message(field: number, message: Message): this {
    return this.bytes(field, message.finish());
  }

  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }
}

function attribute(name: string, value: OnnxAttribute): Message {
  const message = new Message().text(1, name);
  if (typeof value === "number") return message.integer(3, value).integer(20, 2);
  if (typeof value === "string") return message.text(4, value).integer(20, 3);
  if ("float" in value) return message.float(2, value.float).integer(20, 1);
  for (const item of value) message.integer(8, item);
  return message.integer(20, 7);
}

function node({ op, inputs, outputs, attributes, domain }: OnnxNode, index: number): Message {
  const message = new Message();
  for (const name of inputs) message.text(1, name);
  for (const name of outputs) message.text(2, name);
  message.text(3, `${op}${index}`).text(4, op);
  for (const [name, value] of Object.entries(attributes)) message.message(5, attribute(name, value));
  return domain ? message.text(7, domain) : message;
}

function tensor({ name, shape, dtype, bytes }: OnnxTensor): Message {
  const message = new Message();
  for (const dim of shape) message.integer(1, dim);
  return message.integer(2, TYPES[dtype]).text(8, name).bytes(9, bytes);
}

function value({ name, shape, dtype, sequence }: OnnxValue): Message {
  const dims = new Message();
  for (const dim of shape) {
    dims.message(1, typeof dim === "number" ? new Message().integer(1, dim) : new Message().text(2, dim));
  }
  const type = new Message().message(1, new Message().integer(1, TYPES[dtype]).message(2, dims));
  return new Message()
    .text(1, name)
    .message(2, sequence ? new Message().message(4, new Message().message(1, type)) : type);
}

const opset = (domain: string, version: number) => new Message().text(1, domain).integer(2, version);

/** The bytes of a model file. */
export function writeOnnx({
  nodes,
  initialisers,
  inputs,
  outputs,
  opset: version,
  metadata = {},
}: OnnxModel): Uint8Array {
  const graph = new Message();
  nodes.forEach((item, index) => {
    graph.message(1, node(item, index));
  });
  graph.text(2, "tabiya");
  for (const item of initialisers) graph.message(5, tensor(item));
  for (const item of inputs) graph.message(11, value(item));
  for (const item of outputs) graph.message(12, value(item));
  const model = new Message().integer(1, 10).text(2, "tabiya").message(7, graph);
  model.message(8, opset("", version)).message(8, opset("com.microsoft", 1));
  for (const [key, text] of Object.entries(metadata)) model.message(14, new Message().text(1, key).text(2, text));
  return model.finish().slice();
}
