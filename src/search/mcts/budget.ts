import type { Color } from "#chess";
import type { Limits } from "../limits.js";
import { stretch, type ThinkingTime, thinkingTime } from "../time.js";
import type { Root } from "./root.js";
import type { Tree } from "./tree.js";

const STEADY_STEP = 0.5; // doublings of the visits without a new best move count as one step of `stretch`
const FALL_CP = 400; // how much a value lost counts, as centipawns near equality

/** When a search has done enough. */
export class Budget {
  readonly startMs = performance.now();
  private clockMs: number | undefined; // when the time limits began to count
  private readonly time: ThinkingTime;
  private best = -1;
  private bestSince = 1; // simulations
  private earlierValue: number | undefined; // at half of the simulations, roughly
  private valueAt = 0; // simulations

  constructor(
    turn: Color,
    private readonly limits: Limits,
  ) {
    this.time = thinkingTime(turn, limits);
  }

  get elapsedMs(): number {
    return performance.now() - this.startMs;
  }

  /** The clock runs from now on. Returns the milliseconds until the search must end, if there are any. */
  startClock(): number | undefined {
    this.clockMs = performance.now();
    return this.time.hardMs;
  }

  /** Simulations that may still be started. */
  simulationsLeft(started: number): number {
    return (this.limits.nodes ?? Infinity) - started;
  }

  /** Whether to end, asked between batches. */
  isSpent(tree: Tree, root: Root, simulations: number, depth: number): boolean {
    const { nodes = Infinity, depth: deepest = Infinity, mate, multiPv = 1 } = this.limits;
    if (simulations >= nodes || root.isSettled()) return true;
    if (simulations === 0) return false;
    if (depth >= deepest) return true;
    const ranked = root.ranked();
    const best = ranked[0];
    if (mate !== undefined && tree.lower[best] === 1 && tree.plies[best] + 1 < 2 * mate) return true;
    this.observe(tree, best, simulations);
    const thinkingMs = this.clockMs === undefined ? 0 : performance.now() - this.clockMs;
    const softMs = this.softMs(tree, best, simulations);
    if (this.clockMs !== undefined && thinkingMs >= softMs) return true;
    // Whoever asked for several lines, or for all there is to see, gets all the simulations.
    const isPlaying = multiPv === 1 && (nodes < Infinity || (this.limits.clock && this.clockMs !== undefined));
    if (!isPlaying) return false;
    if (root.isDecided()) return true;
    const byTime = softMs === Infinity ? Infinity : (simulations / Math.max(1, this.elapsedMs)) * (softMs - thinkingMs);
    return !root.canChange(Math.min(nodes - simulations, byTime));
  }

  private observe(tree: Tree, best: number, simulations: number): void {
    if (best !== this.best) {
      this.best = best;
      this.bestSince = simulations;
    }
    if (simulations < 2 * this.valueAt || tree.visits[best] === 0) return;
    this.earlierValue = tree.mean(best);
    this.valueAt = simulations;
  }

  private softMs(tree: Tree, best: number, simulations: number): number {
    const { softMs } = this.time;
    if (softMs === undefined) return Infinity;
    const steps = Math.log2(simulations / this.bestSince) / STEADY_STEP;
    const fallen = tree.visits[best] === 0 ? 0 : (this.earlierValue ?? 0) - tree.mean(best);
    return softMs * stretch(steps, tree.visits[best] / Math.max(1, simulations), fallen * FALL_CP);
  }
}
