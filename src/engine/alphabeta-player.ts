import type { AlphaBeta, AlphaBetaLimits, OptionTable } from "#search";
import { BUILTIN, createAlphaBeta } from "./alphabeta-engine.js";
import { runBench } from "./bench.js";
import type { SearchKind } from "./search-player.js";
import { ELO_RANGE, strengthOf } from "./strength.js";

const OPTIONS = {
  hash: { type: "integer", default: 16, min: 1, max: 2048, uci: "Hash", help: "megabytes of the transposition table" },
  threads: { type: "integer", default: 1, min: 1, max: 64, uci: "Threads", help: "threads that search" },
  limitStrength: {
    type: "check",
    default: false,
    uci: "UCI_LimitStrength",
    help: "play as weakly as the option elo says",
  },
  elo: {
    type: "integer",
    default: 1500,
    ...ELO_RANGE,
    uci: "UCI_Elo",
    help: "strength to play with, if limitStrength is true",
  },
} as const satisfies OptionTable;

/** The alpha-beta search as a player. */
export const ALPHA_BETA: SearchKind<AlphaBeta, typeof OPTIONS> = {
  options: OPTIONS,
  opening: ["hash", "threads"],
  async open(network, { hash: hashMb, threads }) {
    const { search, evaluation } = await createAlphaBeta(network || BUILTIN, { hashMb, threads });
    return {
      search,
      evaluation,
      evaluate: (position) => search.evaluate(position),
      bench: (depth, isOver) => runBench(search, depth, 1, isOver),
      close: () => search.close(),
    };
  },
  limit(limits, { limitStrength, elo }, seed): AlphaBetaLimits {
    if (!limitStrength) return limits;
    const { nodes, noiseCp } = strengthOf(elo);
    return { ...limits, nodes: Math.min(nodes, limits.nodes ?? Infinity), noise: { cp: noiseCp, seed } };
  },
};
