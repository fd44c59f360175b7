import { HALFKP_SHAPE } from "#formats";
import { defineFamily } from "./family.js";
import { exportNnue, NNUE_SUFFIXES } from "./nnue-export.js";
import { NNUE_SCHEMA, NNUE_SIZES, Nnue, type NnueConfig } from "./nnue-network.js";

const PIECES = 32;

/** Of all pieces on the board, added up anew for both sides; a search adds only what a move changes. */
function multiplyAdds({ inputs, hidden }: NnueConfig): number {
  const { first, second } = HALFKP_SHAPE;
  const output = inputs === "halfkp" ? 2 * hidden * first + first * second + second : 2 * hidden;
  return 2 * (inputs === "halfkp" ? PIECES - 2 : PIECES) * hidden + output;
}

/** No graph: it is played in WebAssembly, and has files of its own. */
export const NNUE = defineFamily<NnueConfig, Nnue>({
  sizes: NNUE_SIZES,
  schema: NNUE_SCHEMA,
  network: Nnue,
  multiplyAdds,
  export: exportNnue,
  suffixes: NNUE_SUFFIXES,
});
