// How long work takes on a core, roughly: enough to cut it into jobs that are worth sending.
import { parsePlayer } from "#engine";
import type { Limits } from "#search";

const PLIES = 120; // of a game
const SPEED = { ab: 400_000, engine: 400_000, tree: 1_000, random: 1e9 }; // nodes a second
const DEPTH_SECONDS = 0.1; // of a search to a fixed depth
const FORWARD_SECONDS = 0.01; // of a network without a search
const BAREST_SECONDS = 1e-4; // of a move that takes no thought

/** Seconds that a player takes for a move. */
export function moveSeconds(player: string, { nodes, depth, moveTimeMs }: Limits): number {
  const spec = parsePlayer(player);
  if (moveTimeMs !== undefined) return moveTimeMs / 1000;
  if (spec.kind === "uci") return nodes === undefined ? DEPTH_SECONDS : BAREST_SECONDS + nodes / SPEED.engine;
  if (spec.network === "random") return BAREST_SECONDS;
  const asked = Math.min(nodes ?? Infinity, spec.nodes ?? Infinity);
  if (spec.search === "none" || (asked === Infinity && depth === undefined)) return FORWARD_SECONDS;
  const speed = spec.search === "mcts" || spec.search === "think" ? SPEED.tree : SPEED.ab;
  return asked === Infinity ? DEPTH_SECONDS : BAREST_SECONDS + asked / speed;
}

/** Seconds that a game takes; a clock is used up. */
export const gameSeconds = (players: readonly string[], limits: Limits, clockMs?: number): number =>
  clockMs === undefined
    ? (PLIES / players.length) * players.reduce((sum, player) => sum + moveSeconds(player, limits), 0)
    : (2 * clockMs) / 1000;

/** Cuts a sequence into pieces. */
export function* cut<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let held: T[] = [];
  for (const item of items) {
    held.push(item);
    if (held.length < size) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}
