import { type Random, UserError } from "#base";
import { apply, Tensor } from "./graph.js";

/** A tensor that keeps its value between runs. Made by `parameter`; training changes `data`. */
export class Parameter extends Tensor {
  name = ""; // its path in the model; see parametersOf

  constructor(
    tensor: Tensor,
    readonly data: Float32Array,
    readonly trainable: boolean,
  ) {
    super(tensor.node, 0, tensor.shape, "float32");
    (tensor.node.outputs as Tensor[])[0] = this;
  }
}

/** Gives the first values of a parameter. */
export type Initialiser = (shape: readonly number[]) => Float32Array;

const count = (shape: readonly number[]) => shape.reduce((size, dim) => size * dim, 1);

/** `Float32Array.from` takes three times as long, most of the time it takes to open a network. */
function filled(length: number, next: () => number): Float32Array {
  const data = new Float32Array(length);
  for (let i = 0; i < length; i++) data[i] = next();
  return data;
}

/** Fills a parameter with one value. */
export const full =
  (value: number): Initialiser =>
  (shape) =>
    new Float32Array(count(shape)).fill(value);

/** Draws a parameter from a normal distribution with mean 0. */
export const normal =
  (deviation: number, random: Random): Initialiser =>
  (shape) =>
    filled(count(shape), () => random.normal() * deviation);

/** Draws a parameter evenly from -bound to bound. */
export const uniform =
  (bound: number, random: Random): Initialiser =>
  (shape) =>
    filled(count(shape), () => (random.next() * 2 - 1) * bound);

let left = Number.POSITIVE_INFINITY; // values that parameters may still have; a finite number while a model is built empty

/**
 * Builds a model for weights that are set afterwards: all zero, because drawing them takes time. It may have no more than
 * `limit` values, as a damaged description of one may ask for any number.
 */
export function buildEmpty<T>(limit: number, build: () => T): T {
  left = limit;
  try {
    return build();
  } finally {
    left = Number.POSITIVE_INFINITY;
  }
}

/** Something to learn, or (`trainable: false`) to carry along, as the running averages of a batch norm. */
export function parameter(
  shape: readonly number[],
  initial: Initialiser | Float32Array,
  options: { name?: string; trainable?: boolean } = {},
): Parameter {
  left -= count(shape);
  if (left < 0) throw new UserError("TENSOR_LIMIT", `There is no room for a parameter of shape [${shape}].`);
  const isEmpty = left < Number.POSITIVE_INFINITY;
  const data = typeof initial !== "function" ? initial : isEmpty ? new Float32Array(count(shape)) : initial(shape);
  if (data.length !== count(shape)) {
    throw new UserError("TENSOR_SHAPE", `A parameter of shape [${shape}] cannot have ${data.length} values.`);
  }
  const made = new Parameter(apply("parameter", [], { shape, data }), data, options.trainable ?? true);
  made.name = options.name ?? "";
  return made;
}

/** The parameters in a model's fields, fields' fields and lists, named by their paths: "trunk.0.conv1.weight". */
export function parametersOf(model: object): Parameter[] {
  const found: Parameter[] = [];
  const walk = (value: unknown, path: string) => {
    if (value instanceof Parameter) {
      if (found.includes(value)) return;
      value.name = path;
      found.push(value);
    } else if (value instanceof Tensor || ArrayBuffer.isView(value)) return;
    else if (typeof value === "object" && value !== null) {
      for (const [key, field] of Object.entries(value)) walk(field, path ? `${path}.${key}` : key);
    }
  };
  walk(model, "");
  return found;
}
