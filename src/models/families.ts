import { DECODER } from "./decoder/family.js";
import { LC0 } from "./lc0.js";
import { MOE } from "./moe.js";
import { NNUE } from "./nnue-family.js";
import { RESIDUAL } from "./residual.js";

/** Every kind of network there is. Nothing else switches on a family's name. */
export const FAMILIES = { residual: RESIDUAL, moe: MOE, decoder: DECODER, nnue: NNUE, lc0: LC0 };

/** The name of a family of networks. */
export type FamilyName = keyof typeof FAMILIES;

/** Whether there is a family of this name. */
export const isFamily = (name: string): name is FamilyName => Object.hasOwn(FAMILIES, name);
