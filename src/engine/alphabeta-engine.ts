import { readBytes } from "#base";
import { readNnueNetwork } from "#formats";
import { nnueImage, nnueName } from "#models";
import { AlphaBeta } from "#search";

/** Uses the small evaluation written by hand, no network. */
export const BUILTIN = "builtin";
/** The best network we ship; while we ship none, the built-in evaluation. */
const SHIPPED = "nnue";

export interface AlphaBetaEngine {
  search: AlphaBeta;
  /** What values the positions, in one line. */
  evaluation: string;
}

/** The search with a network: "builtin", "nnue" for the shipped one, or a file. */
export async function createAlphaBeta(
  network: string,
  options: { hashMb?: number; threads?: number } = {},
): Promise<AlphaBetaEngine> {
  if (network === BUILTIN) {
    return { search: await AlphaBeta.create(options), evaluation: "the small built-in evaluation, no network" };
  }
  if (network === SHIPPED) {
    const search = await AlphaBeta.create(options);
    return { search, evaluation: "the small built-in evaluation, for no network is shipped yet" };
  }
  const weights = readNnueNetwork(await readBytes(network), network);
  const search = await AlphaBeta.create({ ...options, image: nnueImage(weights) });
  return { search, evaluation: `${network} (${nnueName(weights)})` };
}
