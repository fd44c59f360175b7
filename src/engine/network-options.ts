import type { OptionTable } from "#search";

/** Which network a player has, `usual` at first. */
export const networkOption = (usual: string) =>
  ({
    network: { type: "text", default: usual, uci: "EvalFile", help: "the network: a file, a run, or a shipped one" },
  }) as const satisfies OptionTable;

/** How an evaluator computes. */
export const EVALUATOR_OPTIONS = {
  threads: {
    type: "integer",
    default: 0,
    min: 0,
    max: 64,
    uci: "Threads",
    help: "threads the network computes with; 0: one per core",
  },
} as const satisfies OptionTable;
