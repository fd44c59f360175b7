import { gradients } from "../gradients.js";
import { constant, type Op, type Tensor } from "../graph.js";
import { at, fill } from "../reference.js";
import { axisTransforms, type Tile, weightTransform } from "../winograd.js";

/** x [h, w, n, in], weight [3, 3, in, out] -> [h, w, n, out], in matrix products. */
function winograd(x: Tensor, weight: Tensor, tile: Tile): Tensor {
  const [h, w, n, inputs] = x.shape as [number, number, number, number];
  const outputs = weight.dim(3) as number;
  const [down, across] = [axisTransforms(h, tile), axisTransforms(w, tile)];
  const p = down.points;
  const [rows, columns] = [p * down.tiles, p * across.tiles];

  // Rows of a batch of products are slower than one wide product, so the wide one comes when there is most to do.
  const wide = constant(across.input, [columns, w]).matmul(x.reshape([h, w, -1])); // [h, columns, n * in]
  const both = constant(down.input, [rows, h]).matmul(wide.reshape([h, -1])); // [rows, columns * n * in]
  const points = both.reshape([p, down.tiles, p, -1, inputs]); // [p, tiles, p, tiles * n, in]
  const filters = constant(weightTransform(tile), [p * p, 9])
    .matmul(weight.reshape([9, -1]))
    .reshape([p, 1, p, inputs, outputs]);
  const products = points.matmul(filters).reshape([rows, -1]); // [rows, columns * n * out]
  const low = constant(down.output, [h, rows]).matmul(products); // [h, columns * n * out]
  return constant(across.output, [w, columns])
    .matmul(low.reshape([h, columns, -1]))
    .reshape([h, w, n, outputs]);
}

/** Takes a gradient apart that was multiplied with one number for each channel, its last axis. */
function withoutFactor(dy: Tensor): { inner: Tensor; factor?: Tensor } {
  const source = dy.node.op === "reshape" ? dy.node.inputs[0] : dy;
  const [inner, factor] = source.node.inputs;
  if (source.node.op !== "mul" || factor.shape.length !== 1 || source.dim(-1) !== dy.dim(-1)) return { inner: dy };
  return { inner: inner.reshape(dy.shape), factor };
}

const EXACT: Tile = 4; // in play: 3e-5 from a direct convolution's logits after 12 layers, where a tile of 8 is 1e-3

export const CONVOLUTIONS = {
  /** 3x3, stride 1, zeros around the board. Square-major: [h, w, n, channels]. */
  conv3x3: {
    infer([x, weight], _, fail) {
      if (x.shape.length !== 4 || weight.shape.length !== 4) fail("needs [h, w, n, in] and [3, 3, in, out]");
      const [h, w, n, inputs] = x.shape;
      if (typeof h === "string" || typeof w === "string") fail("height and width must be numbers");
      if (weight.shape[0] !== 3 || weight.shape[1] !== 3 || weight.shape[2] !== inputs) {
        fail(`the weight must have shape [3, 3, ${inputs}, out]`);
      }
      return { shape: [h, w, n, weight.shape[3]], dtype: x.dtype };
    },
    gradient({ inputs: [x, weight], attributes }, [dy]) {
      const tile = attributes.tile as Tile;
      // A factor for each channel (a batch norm's) is cheaper on the weights than on the board.
      const { inner, factor } = withoutFactor(dy!);
      if (!factor) return gradients(winograd(x, weight, tile), [x, weight], dy);
      const scaled = weight.mul(factor).stopGradient();
      const [dx] = gradients(winograd(x, scaled, tile), [x], inner);
      const [dw] = gradients(winograd(x, weight, tile), [weight], inner);
      return [dx, dw.mul(factor)];
    },
    emit({ inputs: [tensor, filter], attributes: { tile } }, [x, weight], emitter) {
      if (emitter.products)
        return emitter.value(winograd(tensor, filter, emitter.mode === "training" ? (tile as Tile) : EXACT));
      const planes = emitter.add("Transpose", [x], { perm: [2, 3, 0, 1] });
      const taps = emitter.add("Transpose", [weight], { perm: [3, 2, 0, 1] });
      const y = emitter.add("Conv", [planes, taps], { kernel_shape: [3, 3], pads: [1, 1, 1, 1] });
      return emitter.add("Transpose", [y], { perm: [2, 3, 0, 1] });
    },
    evaluate(_, [x, weight]) {
      const [h, w, n, inputs] = x.shape;
      return fill([h, w, n, weight.shape[3]], ([i, j, k, out]) => {
        let sum = 0;
        for (let a = 0; a < 3; a++) {
          for (let b = 0; b < 3; b++) {
            const [y, z] = [i + a - 1, j + b - 1];
            if (y < 0 || y >= h || z < 0 || z >= w) continue;
            for (let c = 0; c < inputs; c++) sum += at(x, [y, z, k, c]) * at(weight, [a, b, c, out]);
          }
        }
        return sum;
      });
    },
  },
} satisfies Record<string, Op>;
