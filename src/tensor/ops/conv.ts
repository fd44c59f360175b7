import { gradients } from "../gradients.js";
import { constant, type Op, type Tensor } from "../graph.js";
import { at, fill } from "../reference.js";
import { axisTransforms, WEIGHT_TRANSFORM } from "../winograd.js";

/** x [h, w, n, in], weight [3, 3, in, out] -> [h, w, n, out], in matrix products. */
function winograd(x: Tensor, weight: Tensor): Tensor {
  const [h, w, n, inputs] = x.shape as [number, number, number, number];
  const outputs = weight.dim(3) as number;
  const [down, across] = [axisTransforms(h), axisTransforms(w)];
  const p = down.points;
  const [rows, columns] = [p * down.tiles, p * across.tiles];

  const tall = constant(down.input, [rows, h]).matmul(x.reshape([h, -1]));
  const both = constant(across.input, [columns, w]).matmul(tall.reshape([rows, w, -1])); // [rows, columns, n * in]
  const points = both.reshape([p, down.tiles, p, -1, inputs]); // [p, tiles, p, tiles * n, in]
  const filters = constant(WEIGHT_TRANSFORM, [p * p, 9])
    .matmul(weight.reshape([9, -1]))
    .reshape([p, 1, p, inputs, outputs]);
  const products = points.matmul(filters).reshape([rows, columns, -1]); // [rows, columns, n * out]
  const narrow = constant(across.output, [w, columns]).matmul(products); // [rows, w, n * out]
  return constant(down.output, [h, rows])
    .matmul(narrow.reshape([rows, -1]))
    .reshape([h, w, n, outputs]);
}

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
    gradient: ({ inputs: [x, weight] }, [dy]) => gradients(winograd(x, weight), [x, weight], dy),
    emit({ inputs: [tensor, filter] }, [x, weight], emitter) {
      if (emitter.mode === "training") return emitter.value(winograd(tensor, filter));
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
