// Options and checks of the commands that put questions to one player: puzzles, suites, agreement.
import { UserError } from "#base";
import { parsePlayer } from "#engine";
import type { Limits } from "#search";
import { CLUSTER_OPTIONS } from "./cluster.js";

export const THINKING_OPTIONS = {
  nodes: { type: "integer", minimum: 1, help: "nodes a move" },
  movetime: { type: "integer", minimum: 1, help: "milliseconds a move" },
  depth: { type: "integer", minimum: 1, help: "plies a move" },
  concurrency: {
    type: "integer",
    minimum: 1,
    help: "players in parallel; by default 1, or enough to fill the batches of a network that plays without a search",
  },
} as const;

/** The same for commands that a cluster can help with. */
export const SPREAD_OPTIONS = { ...THINKING_OPTIONS, ...CLUSTER_OPTIONS } as const;

const LATE_MS = 5_000; // after --movetime an engine is given up; a few milliseconds do not matter here

export function readLimits(
  player: string,
  { nodes, movetime, depth }: { nodes: number | undefined; movetime: number | undefined; depth: number | undefined },
): Limits {
  if (nodes === undefined && movetime === undefined && depth === undefined && parsePlayer(player).kind === "uci") {
    throw new UserError(
      "LIMIT_MISSING",
      `how long may ${player} think? Give --nodes 1000, --movetime 100 or --depth 8.`,
    );
  }
  return { nodes, depth, moveTimeMs: movetime, deadlineMs: movetime === undefined ? undefined : movetime + LATE_MS };
}
