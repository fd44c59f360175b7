import { UserError } from "#base";
import type { NnueWeights } from "#formats";
import { nnueImage, nnueName, shippedNets } from "#models";
import { AlphaBeta } from "#search";
import { PLAYING_FAMILIES } from "./families.js";
import { readNetworkFile } from "./network-file.js";

/** Uses the small evaluation written by hand, no network. */
export const BUILTIN = "builtin";
/** The best network we ship; if there is none, the built-in evaluation. */
const SHIPPED = "nnue";

/** An alpha-beta search with its evaluation. */
export interface AlphaBetaEngine {
  search: AlphaBeta;
  /** What values the positions, in one line. */
  evaluation: string;
}

/** The search with a network: "builtin", "nnue" for the shipped one, a file, or a run or checkpoint of training. */
export async function createAlphaBeta(
  network: string,
  options: { hashMb?: number; threads?: number } = {},
): Promise<AlphaBetaEngine> {
  if (network === BUILTIN) {
    return { search: await AlphaBeta.create(options), evaluation: "the small built-in evaluation, no network" };
  }
  if (network === SHIPPED && !(await shippedNets()).some(({ family }) => family === SHIPPED)) {
    const search = await AlphaBeta.create(options);
    return { search, evaluation: "the small built-in evaluation, for no network is shipped" };
  }
  const { path, weights } = await readNnue(network);
  const search = await AlphaBeta.create({ ...options, image: nnueImage(weights) });
  const name = network === SHIPPED ? path.replace(/^.*[\\/]/, "") : path; // where it is, the user need not know
  return { search, evaluation: `${name} (${nnueName(weights)})` };
}

/** The integers a network plays with: from a .nnue, .jnn or .tnn file, or from a run, a checkpoint or its weights. */
export const loadNnue = async (network: string): Promise<NnueWeights> => (await readNnue(network)).weights;

async function readNnue(network: string): Promise<{ path: string; weights: NnueWeights }> {
  const file = await readNetworkFile(network);
  const { nnue } = PLAYING_FAMILIES[file.family];
  if (nnue) return { path: file.path, weights: nnue(file) };
  throw new UserError(
    "NNUE_FAMILY",
    `${file.path}: a network of the family ${file.family}; the alpha-beta search plays with networks of the family nnue.`,
  );
}
