import type { Random } from "#base";
import { moeInference, residualInference } from "./inference.js";
import { checkMoe, MOE_FIELDS, MOE_SIZES, Moe, type MoeConfig } from "./moe.js";
import { NNUE_FIELDS, NNUE_SIZES, Nnue, type NnueConfig } from "./nnue-network.js";
import { RESIDUAL_FIELDS, RESIDUAL_SIZES, Residual, type ResidualConfig } from "./residual.js";

/** Every kind of network that the training loop knows. Nothing else switches on a family's name. */
export const FAMILIES = {
  residual: {
    sizes: RESIDUAL_SIZES as Record<string, ResidualConfig>,
    fields: RESIDUAL_FIELDS, // how a recipe's values are checked
    check: (_: ResidualConfig): string | undefined => undefined, // and all of them together
    build: (config: ResidualConfig, random: Random) => new Residual(config, random),
    inference: residualInference, // how it is used, as a graph
  },
  moe: {
    sizes: MOE_SIZES as Record<string, MoeConfig>,
    fields: MOE_FIELDS,
    check: checkMoe,
    build: (config: MoeConfig, random: Random) => new Moe(config, random),
    inference: moeInference,
  },
  nnue: {
    sizes: NNUE_SIZES as Record<string, NnueConfig>,
    fields: NNUE_FIELDS,
    check: (_: NnueConfig): string | undefined => undefined,
    build: (config: NnueConfig, random: Random) => new Nnue(config, random),
    inference: undefined, // no graph: it is played in WebAssembly, and has files of its own
  },
};

export type FamilyName = keyof typeof FAMILIES;

/** A network of any family. */
export type Network = ReturnType<(typeof FAMILIES)[FamilyName]["build"]>;
