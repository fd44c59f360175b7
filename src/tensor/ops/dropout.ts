import type { Op } from "../graph.js";

export const DROPOUT = {
  /** Zeroes a share of the values in training, and scales the others up; in inference it does nothing. */
  dropout: {
    infer([x], { rate }, fail) {
      if (!((rate as number) >= 0 && (rate as number) < 1))
        fail(`the rate must be at least 0 and below 1, not ${rate}`);
      if (x.shape.some((dim) => typeof dim === "string")) fail("training needs every dimension as a number");
      return [x, { shape: x.shape, dtype: "float32" }];
    },
    gradient: ({ outputs: [, mask] }, [dy]) => [dy!.mul(mask)],
    emit({ inputs: [{ shape }], attributes: { rate } }, [x], emitter) {
      if (emitter.mode === "inference") return [x, x];
      const size = (shape as readonly number[]).reduce((product, dim) => product * dim, 1);
      const mask = emitter.reshape(emitter.dropoutMask(size, 1 - (rate as number)), shape);
      return [emitter.add("Mul", [x, mask]), mask];
    },
    evaluate: (_, [x]) => [x, { shape: x.shape, data: x.data.map(() => 1) }],
  },
} satisfies Record<string, Op>;
