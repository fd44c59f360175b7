import { BATCH_NORM } from "./batchnorm.js";
import { CONVOLUTIONS } from "./conv.js";
import { CUSTOM } from "./custom.js";
import { DROPOUT } from "./dropout.js";
import { ELEMENTWISE } from "./elementwise.js";
import { EXPERTS } from "./experts.js";
import { INDEXING } from "./indexing.js";
import { LAYOUT } from "./layout.js";
import { MATMUL } from "./matmul.js";
import { NORMS } from "./norm.js";
import { REDUCTIONS } from "./reduce.js";
import { ROTARY } from "./rotary.js";
import { SOFTMAX } from "./softmax.js";
import { SOURCES } from "./sources.js";
import { STACK_MATMUL } from "./stack-matmul.js";

/** Every op of the engine, by the name its nodes carry. */
export const OPS = {
  ...SOURCES,
  ...ELEMENTWISE,
  ...MATMUL,
  ...STACK_MATMUL,
  ...REDUCTIONS,
  ...LAYOUT,
  ...INDEXING,
  ...SOFTMAX,
  ...NORMS,
  ...BATCH_NORM,
  ...CONVOLUTIONS,
  ...DROPOUT,
  ...EXPERTS,
  ...ROTARY,
  ...CUSTOM,
};

export type OpName = keyof typeof OPS;
