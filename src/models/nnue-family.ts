import { defineFamily } from "./family.js";
import { exportNnue, NNUE_SUFFIXES } from "./nnue-export.js";
import { NNUE_SCHEMA, NNUE_SIZES, Nnue, type NnueConfig } from "./nnue-network.js";

/** No graph: it is played in WebAssembly, and has files of its own. */
export const NNUE = defineFamily<NnueConfig, Nnue>({
  sizes: NNUE_SIZES,
  schema: NNUE_SCHEMA,
  network: Nnue,
  export: exportNnue,
  suffixes: NNUE_SUFFIXES,
});
