/**
 * Tidies an inference model for export. Our graph keeps boards square-major and writes a layout change before and after
 * every convolution, and a batch norm as a product and a sum. Here what is known is computed ahead, layout changes move
 * towards the outputs until they cancel, 1x1 convolutions become ones, and products and sums per channel go into the
 * convolution before them. ONNX Runtime would do part of it on loading; a file for others should not need it, and
 * quantisation wants the true weights.
 */
import { assert } from "#base";
import { ModelBuilder, prune } from "./builder.js";
import { compute, type Known, permute, sizeOf } from "./constants.js";
import type { OnnxModel, OnnxNode } from "./model.js";

export function simplify(model: OnnxModel): OnnxModel {
  return prune(fuseChannels(prune(moveTransposes(model))));
}

/** Ops that treat every element alike, so that a layout change may come after them instead of before. */
const ELEMENTWISE = new Set(
  "Relu Tanh Sigmoid HardSigmoid Softplus Erf Exp Log Sqrt Neg Abs Reciprocal Clip LeakyRelu Gelu QuickGelu Mish Add Sub Mul Div Max Min".split(
    " ",
  ),
);

const orderOf = (node: OnnxNode) => node.attributes["perm"] as readonly number[];

function moveTransposes(model: OnnxModel): OnnxModel {
  const to = new ModelBuilder(model);
  for (const old of model.nodes) {
    const node = { ...old, inputs: old.inputs.map((name) => to.name(name)) };
    const before = (name: string) => {
      const producer = to.producers.get(name);
      return producer?.op === "Transpose" ? producer : undefined;
    };

    const tensors = node.inputs.map((name) => to.initialisers.get(name));
    const result = tensors.every((tensor) => tensor !== undefined) ? compute(node, tensors) : undefined;
    if (result && node.outputs.length === 1) {
      to.rename(node.outputs[0], to.constant(result));
      continue;
    }

    if (node.op === "Transpose") {
      const earlier = before(node.inputs[0]);
      if (earlier) {
        const perm = orderOf(node).map((axis) => orderOf(earlier)[axis]);
        const [source] = earlier.inputs;
        const name = perm.every((axis, i) => axis === i) ? source : to.add("Transpose", [source], { perm });
        to.rename(node.outputs[0], name);
        continue;
      }
    }

    // Rows picked by known numbers from a turned matrix are columns of the matrix itself.
    const turned = node.op === "Gather" && to.initialisers.get(node.inputs[1])?.shape.length === 1;
    const matrixBefore = turned ? before(node.inputs[0]) : undefined;
    if (matrixBefore) {
      const perm = orderOf(matrixBefore);
      const axis = perm[node.attributes["axis"] as number];
      const picked = to.add("Gather", [matrixBefore.inputs[0], node.inputs[1]], { axis });
      to.rename(node.outputs[0], to.add("Transpose", [picked], { perm }));
      continue;
    }

    const moved = node.inputs.map(before).find((producer) => producer !== undefined);
    if (moved && ELEMENTWISE.has(node.op)) {
      const perm = orderOf(moved);
      const inputs = node.inputs.map((name) => {
        const producer = before(name);
        if (producer) return orderOf(producer).join() === perm.join() ? producer.inputs[0] : undefined;
        const known = to.known(name);
        return known && unturned(to, name, known, perm);
      });
      if (inputs.every((name) => name !== undefined)) {
        const early = to.add(node.op, inputs, node.attributes, node.domain);
        to.rename(node.outputs[0], to.add("Transpose", [early], { perm }));
        continue;
      }
    }

    // A product over the channels of a board, [h, w, n, in] x [in, out], is a 1x1 convolution of its planes.
    const board = node.op === "MatMul" ? before(node.inputs[0]) : undefined;
    const matrix = board && orderOf(board).join() === "2,3,0,1" ? to.known(node.inputs[1]) : undefined;
    if (board && matrix?.shape.length === 2) {
      const turned = permute(matrix, [1, 0]);
      const weight = to.constant({ shape: [...turned.shape, 1, 1], data: turned.data });
      const planes = to.add("Conv", [board.inputs[0], weight], { kernel_shape: [1, 1] });
      to.rename(node.outputs[0], to.add("Transpose", [planes], { perm: [2, 3, 0, 1] }));
      continue;
    }
    to.push(node);
  }
  return to.finish();
}

/** A constant that met a turned tensor, so that it meets the tensor as it was before turning. */
function unturned(to: ModelBuilder, name: string, known: Known, perm: readonly number[]): string | undefined {
  if (sizeOf(known.shape) === 1) return known.shape.length <= perm.length ? name : undefined;
  if (known.shape.length > perm.length) return undefined;
  const shape = [...new Array<number>(perm.length - known.shape.length).fill(1), ...known.shape];
  const inverse = perm.map((_, axis) => perm.indexOf(axis));
  const turned = permute({ shape, data: known.data }, inverse);
  const needed = turned.shape.findIndex((dim) => dim !== 1);
  return to.constant({ shape: turned.shape.slice(needed), data: turned.data });
}

/** Multiplies and adds what follows a convolution channel by channel into its weights and bias. */
function fuseChannels(model: OnnxModel): OnnxModel {
  const uses = new Map<string, number>();
  for (const name of [...model.nodes.flatMap(({ inputs }) => inputs), ...model.outputs.map((output) => output.name)])
    uses.set(name, (uses.get(name) ?? 0) + 1);
  const to = new ModelBuilder(model);
  const alone = new Set<string>(); // convolutions that nothing else reads
  for (const old of model.nodes) {
    const node = { ...old, inputs: old.inputs.map((name) => to.name(name)) };
    if (node.op === "Mul" || node.op === "Add") {
      const side = node.inputs.findIndex((name) => alone.has(name));
      const conv = side >= 0 ? to.producers.get(node.inputs[side]) : undefined;
      const factor = conv && to.known(node.inputs[1 - side]);
      const weight = conv && to.known(conv.inputs[1]);
      if (conv && weight && factor && perChannel(factor, weight.shape[0])) {
        const fused = scaled(to, conv, weight, node.op, factor.data);
        to.rename(node.outputs[0], fused);
        if (uses.get(node.outputs[0]) === 1) alone.add(fused);
        continue;
      }
    }
    if (node.op === "Conv" && uses.get(node.outputs[0]) === 1) alone.add(node.outputs[0]);
    to.push(node);
  }
  return to.finish();
}

const perChannel = ({ shape }: Known, channels: number): boolean =>
  sizeOf(shape) === 1 || (shape.length >= 3 && sizeOf(shape) === channels && shape.at(-3) === channels);

/** The convolution with a factor (Mul) or a sum (Add) per channel inside. */
function scaled(to: ModelBuilder, conv: OnnxNode, weight: Known, op: string, values: Float32Array): string {
  const channels = weight.shape[0];
  const at = (channel: number) => values[values.length === 1 ? 0 : channel];
  const oldBias = conv.inputs[2] === undefined ? undefined : to.known(conv.inputs[2]);
  assert(conv.inputs[2] === undefined || oldBias, "a convolution's bias is not known");
  const bias = oldBias ? oldBias.data.slice() : new Float32Array(channels);
  let weights = conv.inputs[1];
  if (op === "Mul") {
    const size = weight.data.length / channels;
    weights = to.constant({ ...weight, data: weight.data.map((x, i) => x * at(Math.floor(i / size))) });
  }
  const data = bias.map((x, channel) => (op === "Mul" ? x * at(channel) : x + at(channel)));
  const inputs = [conv.inputs[0], weights];
  if (oldBias || op === "Add") inputs.push(to.constant({ shape: [channels], data }));
  return to.add("Conv", inputs, conv.attributes, conv.domain);
}
