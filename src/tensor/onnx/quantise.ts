/**
 * Smaller and (for wide layers) faster copies of an exported model. Half-precision weights are widened on loading;
 * 8-bit ones are multiplied as integers, with activations measured at run time (dynamic) or ahead on sample inputs
 * (static). Only standard ONNX ops are used, so the files run wherever ONNX Runtime does.
 *
 * Weights are unsigned bytes with zero point 128, one scale per output: on AVX2 the product of unsigned and signed
 * bytes is summed in 16 bits, which saturate, and ONNX Runtime only avoids that for unsigned weights.
 */
import { assert } from "#base";
import { toHalf } from "../halves.js";
import { type Feeds, Session } from "../session.js";
import { ModelBuilder, prune } from "./builder.js";
import { bytesOf, floatsOf, sizeOf } from "./constants.js";
import { type OnnxModel, type OnnxNode, type OnnxTensor, writeOnnx } from "./model.js";

const FLOAT = 1; // ONNX's number for the type, as an attribute of Cast
const HALF_LIMIT = 65504; // the largest half

/** Weights in half precision; the model computes in full precision as before. Small tensors stay as they are. */
export function halfWeights(model: OnnxModel): OnnxModel {
  const small = 64; // elements; below, a cast costs more bytes than it saves
  const casts: OnnxNode[] = [];
  const initialisers = model.initialisers.map((tensor): OnnxTensor => {
    if (tensor.dtype !== "float32" || sizeOf(tensor.shape) < small) return tensor;
    const data = floatsOf(tensor);
    if (data.some((x) => !(Math.abs(x) <= HALF_LIMIT))) return tensor;
    const name = `${tensor.name}.half`;
    casts.push({ op: "Cast", inputs: [name], outputs: [tensor.name], attributes: { to: FLOAT }, domain: "" });
    return { name, shape: tensor.shape, dtype: "float16", bytes: bytesOf(toHalf(data)) };
  });
  return { ...model, nodes: [...casts, ...model.nodes], initialisers };
}

interface QuantisedWeight {
  values: Uint8Array; // 128 stands for zero
  scales: Float32Array; // one per output
}

/** Rounds weights to 255 steps per output; `outputOf` says which output an element belongs to. */
function quantiseWeight(data: Float32Array, outputs: number, outputOf: (index: number) => number): QuantisedWeight {
  const largest = new Float32Array(outputs);
  data.forEach((x, i) => {
    const output = outputOf(i);
    largest[output] = Math.max(largest[output], Math.abs(x));
  });
  const scales = largest.map((x) => (x > 0 ? x / 127 : 1));
  return { values: Uint8Array.from(data, (x, i) => Math.round(x / scales[outputOf(i)]) + 128), scales };
}

interface Found {
  shape: readonly number[];
  weight: QuantisedWeight;
}

/** The weight of a product with a known matrix [in, out], or of a convolution with known filters [out, in, h, w]. */
function weightOf(to: ModelBuilder, node: OnnxNode): Found | undefined {
  if (node.op !== "MatMul" && node.op !== "Conv") return undefined;
  const known = to.known(node.inputs[1]);
  if (!known || known.shape.length < 2 || to.known(node.inputs[0])) return undefined;
  const { shape, data } = known;
  if (node.op === "MatMul") {
    if (shape.length !== 2) return undefined;
    return { shape, weight: quantiseWeight(data, shape[1], (i) => i % shape[1]) };
  }
  const size = data.length / shape[0];
  return { shape, weight: quantiseWeight(data, shape[0], (i) => Math.floor(i / size)) };
}

const bytes = (to: ModelBuilder, values: Uint8Array, shape: readonly number[]): string =>
  to.tensor({ shape, dtype: "uint8", bytes: values });

/** A value rounded to bytes: names of the bytes, their scale and zero point. */
type Parts = readonly [bytes: string, scale: string, zero: string];

/** The product of a rounded value and a rounded weight, summed as integers and scaled back. */
function product(to: ModelBuilder, outputs: readonly string[], [x, scale, zero]: Parts, found: Found): void {
  const { shape, weight } = found;
  const matrix = bytes(to, weight.values, shape);
  const sums = to.add("MatMulInteger", [x, matrix, zero, bytes(to, Uint8Array.of(128), [])]);
  const scales = to.add("Mul", [scale, to.constant({ shape: [shape[1]], data: weight.scales })]);
  const inputs = [to.add("Cast", [sums], { to: FLOAT }), scales];
  to.push({ op: "Mul", inputs, outputs, attributes: {}, domain: "" });
}

/** Every product with a weight matrix in 8 bits, its other side rounded to 8 bits when the model runs. */
export function quantiseDynamic(model: OnnxModel): OnnxModel {
  const to = new ModelBuilder(model);
  const rounded = new Map<string, Parts>();
  for (const node of model.nodes) {
    const found = node.op === "MatMul" ? weightOf(to, node) : undefined;
    if (!found) {
      to.push(node);
      continue;
    }
    const [x] = node.inputs;
    let parts = rounded.get(x);
    if (!parts) {
      parts = [to.fresh(), to.fresh(), to.fresh()];
      to.push({ op: "DynamicQuantizeLinear", inputs: [x], outputs: parts, attributes: {}, domain: "" });
      rounded.set(x, parts);
    }
    product(to, node.outputs, parts, found);
  }
  return prune(to.finish());
}

/** The smallest and largest number a value took on sample inputs. */
export type Ranges = ReadonlyMap<string, { min: number; max: number }>;

/** Runs the model on sample inputs and watches what the products, convolutions and skip connections see. */
export async function calibrate(model: OnnxModel, batches: Iterable<Feeds> | AsyncIterable<Feeds>): Promise<Ranges> {
  const to = new ModelBuilder(model);
  for (const node of model.nodes) to.push(node);
  const watched = new Set(plan(model).flatMap(({ reads, writes }) => [...reads, ...writes]));
  const names = [...watched].map((name) => ({
    name,
    min: to.add("ReduceMin", [name], { keepdims: 0 }),
    max: to.add("ReduceMax", [name], { keepdims: 0 }),
  }));
  const outputs = names
    .flatMap(({ min, max }) => [min, max])
    .map((name) => ({ name, shape: [], dtype: "float32" as const }));
  const session = await Session.open(writeOnnx({ ...to.finish(), outputs }));
  const ranges = new Map<string, { min: number; max: number }>();
  try {
    for await (const batch of batches) {
      const results = await session.run(batch);
      for (const { name, min, max } of names) {
        const seen = ranges.get(name) ?? { min: 0, max: 0 }; // zero is always inside: padding and ReLU need it exact
        seen.min = Math.min(seen.min, Number(results[min].data[0]));
        seen.max = Math.max(seen.max, Number(results[max].data[0]));
        ranges.set(name, seen);
      }
    }
  } finally {
    await session.close();
  }
  return ranges;
}

/** What is rounded: the values a node reads as bytes, and those it writes as bytes. */
interface Rounded {
  node: OnnxNode;
  reads: readonly string[];
  writes: readonly string[];
}

/**
 * Products read bytes and write floats. Convolutions also write bytes, after their ReLU, so that a chain of them
 * stays in bytes; so do the sums of skip connections between them.
 */
function plan(model: OnnxModel): Rounded[] {
  const to = new ModelBuilder(model);
  const readers = new Map<string, OnnxNode[]>();
  for (const node of model.nodes)
    for (const name of node.inputs) readers.set(name, [...(readers.get(name) ?? []), node]);
  const afterRelu = (name: string) => {
    const only = readers.get(name) ?? [];
    return only.length === 1 && only[0].op === "Relu" ? only[0].outputs[0] : name;
  };
  const planned: Rounded[] = [];
  const inBytes = new Set<string>();
  for (const node of model.nodes) {
    const sum = node.op === "Add" && node.inputs.every((name) => inBytes.has(name));
    if (!sum && !weightOf(to, node)) continue;
    const writes = node.op === "MatMul" ? [] : [afterRelu(node.outputs[0])];
    planned.push({ node, reads: sum ? node.inputs : [node.inputs[0]], writes });
    for (const name of writes) inBytes.add(name);
  }
  return planned;
}

/** Products and convolutions in 8 bits throughout, by the ranges `calibrate` found. */
export function quantiseStatic(model: OnnxModel, ranges: Ranges): OnnxModel {
  const to = new ModelBuilder(model);
  const planned = new Map(plan(model).map((entry) => [entry.node, entry]));
  const writes = new Set([...planned.values()].flatMap((entry) => entry.writes));
  const scaleOf = (name: string) => {
    const range = ranges.get(name);
    assert(range, `no range was measured for ${name}`);
    return Math.max(range.max - range.min, 1e-6) / 255;
  };
  const rounded = new Map<string, Parts>();
  const round = (name: string): Parts => {
    let parts = rounded.get(name);
    if (!parts) {
      const scale = scaleOf(name);
      const zeroPoint = Math.max(0, Math.min(255, Math.round(-ranges.get(name)!.min / scale)));
      const step = to.constant({ shape: [], data: Float32Array.of(scale) });
      const zero = bytes(to, Uint8Array.of(zeroPoint), []);
      parts = [to.add("QuantizeLinear", [to.name(name), step, zero]), step, zero];
      rounded.set(name, parts);
    }
    return parts;
  };
  /** The value after rounding to bytes and back; whoever reads it later reads this. */
  const roundTrip = (name: string): string => {
    if (to.name(name) === name) to.rename(name, to.add("DequantizeLinear", round(name)));
    return to.name(name);
  };
  for (const node of model.nodes) {
    const entry = planned.get(node);
    const found = entry && weightOf(to, node);
    if (found && node.op === "MatMul") {
      product(to, node.outputs, round(node.inputs[0]), found);
      continue;
    }
    const inputs = node.inputs.map((name) => (entry?.reads.includes(name) ? roundTrip(name) : to.name(name)));
    if (found) inputs.splice(1, 2, ...filters(to, node, found, scaleOf(node.inputs[0])));
    to.push({ ...node, inputs });
    for (const name of node.outputs) if (writes.has(name)) roundTrip(name);
  }
  return prune(to.finish());
}

/**
 * A convolution's weights, and its bias if it has one, as bytes that are widened: ONNX Runtime turns a convolution
 * between rounded values into one of integers. The bias is in units of the products' scale, as the sums are.
 */
function filters(to: ModelBuilder, node: OnnxNode, { shape, weight }: Found, inputScale: number): string[] {
  const size = [shape[0]];
  const zeros = bytes(to, new Uint8Array(shape[0]).fill(128), size);
  const scales = to.constant({ shape: size, data: weight.scales });
  const names = [to.add("DequantizeLinear", [bytes(to, weight.values, shape), scales, zeros], { axis: 0 })];
  const bias = node.inputs[2] === undefined ? undefined : to.known(node.inputs[2]);
  if (bias) {
    const units = weight.scales.map((scale) => scale * inputScale);
    const values = Int32Array.from(bias.data, (x, i) => Math.round(x / units[i]));
    const whole = to.tensor({ shape: size, dtype: "int32", bytes: bytesOf(values) });
    names.push(to.add("DequantizeLinear", [whole, to.constant({ shape: size, data: units })], { axis: 0 }));
  }
  return names;
}
