/**
 * Writes ONNX models: the few protobuf messages a graph needs, field numbers as in onnx.proto3.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3
 */
import { concatBytes } from "#base";
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

/** A protobuf message as it grows. Arrays put into it are copied once, when it is finished. */
class Message {
  private readonly chunks: Uint8Array[] = [];
  private length = 0;

  private push(chunk: Uint8Array): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
  }

  private varint(value: number): void {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
    bytes.push(Number(rest));
    this.push(Uint8Array.from(bytes));
  }

  /** Number and wire type of a field whose length is known, and the length. */
  private head(field: number, length: number): void {
    this.varint((field << 3) | 2);
    this.varint(length);
  }

  integer(field: number, value: number): this {
    this.varint(field << 3);
    this.varint(value);
    return this;
  }

  float(field: number, value: number): this {
    this.varint((field << 3) | 5);
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.push(bytes);
    return this;
  }

  bytes(field: number, bytes: Uint8Array): this {
    this.head(field, bytes.length);
    this.push(bytes);
    return this;
  }

  text(field: number, text: string): this {
    return this.bytes(field, new TextEncoder().encode(text));
  }

  message(field: number, message: Message): this {
    this.head(field, message.length);
    for (const chunk of message.chunks) this.push(chunk);
    return this;
  }

  finish(): Uint8Array {
    return concatBytes(this.chunks);
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
  return model.finish();
}
