import { BATCH_NORM } from "./batchnorm.js";
import { CONVOLUTIONS } from "./conv.js";
import { CUSTOM } from "./custom.js";
import { DROPOUT } from "./dropout.js";
import { ELEMENTWISE } from "./elementwise.js";
import { INDEXING } from "./indexing.js";
import { LAYOUT } from "./layout.js";
import { MATMUL } from "./matmul.js";
import { NORMS } from "./norm.js";
import { REDUCTIONS } from "./reduce.js";
import { SOFTMAX } from "./softmax.js";
import { SOURCES } from "./sources.js";

/** Every op of the engine, by the name its nodes carry. */
export const OPS = {
  ...SOURCES,
  ...ELEMENTWISE,
  ...MATMUL,
  ...REDUCTIONS,
  ...LAYOUT,
  ...INDEXING,
  ...SOFTMAX,
  ...NORMS,
  ...BATCH_NORM,
  ...CONVOLUTIONS,
  ...DROPOUT,
  ...CUSTOM,
};

export type OpName = keyof typeof OPS;
