import { listFolder, readBytes, UserError } from "#base";
import { type NnueWeights, readNnueNetwork } from "#formats";
import { findWeights, loadNetwork, Nnue, nnueImage, nnueName, quantiseNnue } from "#models";
import { AlphaBeta } from "#search";
import { readShippedNnue, shippedNets } from "./shipped.js";

/** Uses the small evaluation written by hand, no network. */
export const BUILTIN = "builtin";
/** The best network we ship; if there is none, the built-in evaluation. */
const SHIPPED = "nnue";

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
  const [shipped] = network === SHIPPED ? (await shippedNets()).filter(({ family }) => family === "nnue") : [];
  if (network === SHIPPED && !shipped) {
    const search = await AlphaBeta.create(options);
    return { search, evaluation: "the small built-in evaluation, for no network is shipped" };
  }
  const weights = shipped ? await readShippedNnue(shipped) : await loadNnue(network);
  const search = await AlphaBeta.create({ ...options, image: nnueImage(weights) });
  return { search, evaluation: `${shipped?.file ?? network} (${nnueName(weights)})` };
}

/** The integers a network plays with: from a .nnue, .jnn or .tnn file, or from a run, a checkpoint or its weights. */
export async function loadNnue(path: string): Promise<NnueWeights> {
  const isTraining = path.endsWith(".safetensors") || (await listFolder(path)) !== undefined;
  if (!isTraining) return readNnueNetwork(await readBytes(path), path);
  const { family, network } = await loadNetwork(await findWeights(path));
  if (network instanceof Nnue) return quantiseNnue(network, `from ${path}`);
  throw new UserError(
    "NNUE_FAMILY",
    `${path}: a network of the family ${family}; the alpha-beta search plays with networks of the family nnue.`,
  );
}
