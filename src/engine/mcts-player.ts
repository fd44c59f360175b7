import { scoreOfValue } from "#chess";
import { MCTS_OPTIONS, Mcts } from "#search";
import { openEvaluator } from "./evaluators/open.js";
import { EVALUATOR_OPTIONS } from "./network-options.js";
import type { SearchKind } from "./search-player.js";

const OPTIONS = { ...MCTS_OPTIONS, ...EVALUATOR_OPTIONS };

/** The tree search as a player: it keeps what it found of the moves that were played, until a new game. */
export const MCTS: SearchKind<Mcts, typeof OPTIONS> = {
  options: OPTIONS,
  opening: ["threads"],
  async open(network, { threads, ...settings }) {
    const evaluator = await openEvaluator(network, { threads });
    const search = new Mcts(evaluator, settings);
    return {
      search,
      evaluation: network,
      async evaluate(position) {
        const [{ value }] = await evaluator.evaluate([position]);
        return scoreOfValue(value, evaluator.scoreScale);
      },
      async close() {
        await search.close();
        await evaluator.close();
      },
    };
  },
  configure(search, settings, seed) {
    search.configure({ ...settings, seed: (settings.seed ^ Math.imul(seed - 1, 0x9e3779b1)) & 0x7fff_ffff });
  },
};
