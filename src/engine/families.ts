import { PROBABILITY_SCALE_CP } from "#chess";
import { type NnueWeights, readNnueNetwork } from "#formats";
import { type FamilyName, inferenceOf, isFamily, NNUE, quantiseNnue, readNetwork, readRunnable } from "#models";
import type { Evaluator } from "#search";
import { fitActions } from "./evaluators/actions.js";
import { BatchingEvaluator, type Fit } from "./evaluators/batching.js";
import type { EvaluatorOptions } from "./evaluators/open.js";
import { type FitOptions, fitPolicy } from "./evaluators/policy.js";
import { StaticEvaluator } from "./evaluators/static.js";
import type { NetworkFile } from "./network-file.js";

/** The searches by the names they have behind an @. */
export const SEARCHES = ["ab", "mcts", "none", "think"] as const;
/** The name of a search. */
export type SearchName = (typeof SEARCHES)[number];

/** How networks of a family play. */
export interface PlayingFamily {
  searches: readonly SearchName[]; // that they can be played with, the usual one first
  evaluator(file: NetworkFile, options: Required<EvaluatorOptions>): Promise<Evaluator>;
  nnue?(file: NetworkFile): NnueWeights; // the integers of the alpha-beta search
  needsRuntime: boolean; // ONNX Runtime, which is optional
}

/** How a family is played with the least thought: by its network alone, where that chooses moves. */
export function quickSearchOf(family: string): SearchName {
  const searches = isFamily(family) ? PLAYING_FAMILIES[family].searches : [];
  const [usual = "none"] = searches;
  return searches.includes("none") ? "none" : usual;
}

/** A network that is a graph, by the fit for what its graph says. */
const graph =
  (fitGraph: (...parameters: Parameters<typeof fitPolicy>) => Promise<Fit>, usual: Partial<FitOptions> = {}) =>
  async ({ bytes, path }: NetworkFile, options: Required<EvaluatorOptions>): Promise<Evaluator> => {
    const { family, network, model } = readRunnable(bytes, path);
    const { scoreScale = usual.scoreScale } = network;
    return new BatchingEvaluator(await fitGraph(inferenceOf(family, network), { ...options, scoreScale, model }));
  };

/** A file of integers as others use, or the weights that training keeps. */
export function nnueOf({ bytes, path }: NetworkFile): NnueWeights {
  if (!path.endsWith(".safetensors")) return readNnueNetwork(bytes, path);
  return quantiseNnue(NNUE.own(readNetwork(bytes, path).network), `from ${path}`);
}

/** Every family as it plays. Nothing else in this folder switches on a family's name. */
export const PLAYING_FAMILIES: Record<FamilyName, PlayingFamily> = {
  residual: { searches: ["mcts", "none"], evaluator: graph(fitPolicy), needsRuntime: true },
  lc0: { searches: ["none", "mcts"], evaluator: graph(fitPolicy), needsRuntime: true },
  moe: {
    searches: ["none", "mcts"],
    evaluator: graph(fitActions, { scoreScale: PROBABILITY_SCALE_CP }),
    needsRuntime: true,
  },
  decoder: { searches: ["think", "none", "mcts"], evaluator: graph(fitPolicy), needsRuntime: true },
  nnue: {
    searches: ["ab", "mcts"],
    evaluator: async (file) => new StaticEvaluator(nnueOf(file)),
    nnue: nnueOf,
    needsRuntime: false,
  },
};
