import { MATE_CP, type Move, scoreOfValue } from "#chess";
import type { SearchLine, SearchReport } from "../search.js";
import type { Counts } from "./descent.js";
import type { Root, RootStatistics } from "./root.js";
import { ROOT, type Tree } from "./tree.js";

/** What the tree search knows, with what self-play and measurements want to know beyond other searches. */
export interface MctsReport extends SearchReport {
  root: RootStatistics;
  counts: Counts; // of this search alone
}

const LONGEST_PV = 32;

/** Centipawns of a value from -1 to 1, or the score of a mate. */
function scoreOf(tree: Tree, child: number, scoreScale: number | undefined): number {
  if (tree.lower[child] === 1) return MATE_CP - (tree.plies[child] + 1);
  if (tree.upper[child] === -1) return tree.plies[child] + 1 - MATE_CP;
  return scoreOfValue(worthOf(tree, child), scoreScale) + 0; // never -0
}

/** What a root move is worth to the mover; an unvisited one as much as the root. */
function worthOf(tree: Tree, child: number): number {
  return tree.visits[child] > 0 || tree.isProven(child) ? tree.mean(child) : -tree.mean(ROOT);
}

/** The best line from a child on: what each side would play, as far as the tree was visited. */
function variation(tree: Tree, child: number): Move[] {
  const pv = [tree.move[child]];
  for (let node = child; pv.length < LONGEST_PV && tree.first[node] > 0; ) {
    const next = bestChild(tree, node);
    if (tree.visits[next] === 0 && !tree.isProven(next)) break;
    pv.push(tree.move[next]);
    node = next;
  }
  return pv;
}

function bestChild(tree: Tree, node: number): number {
  const { visits, lower, upper, plies } = tree;
  const first = tree.first[node];
  const grade = (child: number) => (lower[child] === 1 ? 2 : upper[child] === -1 ? 0 : 1);
  let best = first;
  for (let child = first + 1; child < first + tree.count[node]; child++) {
    const order = grade(child) - grade(best);
    const better =
      order !== 0
        ? order > 0
        : grade(child) === 2
          ? plies[child] < plies[best]
          : grade(child) === 0
            ? plies[child] > plies[best]
            : visits[child] > visits[best];
    if (better) best = child;
  }
  return best;
}

/** Probabilities for the mover; undefined where the evaluator tells only values. */
function wdlOf(tree: Tree, child: number): [number, number, number] | undefined {
  if (tree.isProven(child))
    return [1, 0, -1].map((result) => Number(tree.lower[child] === result)) as [number, number, number];
  if (!tree.knowsDraws || tree.visits[child] === 0) return undefined;
  const draw = Math.max(0, Math.min(1, tree.drawSum[child] / tree.visits[child]));
  const value = Math.max(draw - 1, Math.min(1 - draw, tree.mean(child)));
  return [(1 + value - draw) / 2, draw, (1 - value - draw) / 2];
}

/** `order`: root moves, the one to be played first. */
export function makeReport(
  tree: Tree,
  root: Root,
  order: readonly number[],
  counts: Counts,
  { multiPv, timeMs, treeMb, scoreScale }: { multiPv: number; timeMs: number; treeMb: number; scoreScale?: number },
): MctsReport {
  const { simulations, depthSum, deepest } = counts;
  const depth = Math.max(1, Math.round(depthSum / Math.max(1, simulations)));
  const selDepth = Math.max(depth, deepest);
  const lines = order.slice(0, multiPv).map((child): SearchLine => {
    const wdl = wdlOf(tree, child);
    const pv = variation(tree, child);
    const scoreCp = scoreOf(tree, child, scoreScale);
    return { scoreCp, ...(wdl && { wdl }), depth, selDepth, visits: tree.visits[child], pv };
  });
  return {
    lines,
    depth,
    nodes: simulations,
    timeMs,
    hashFull: tree.fillThousandths(treeMb),
    moves: order.map((child) => ({
      move: tree.move[child],
      share: tree.prior[child],
      visits: tree.visits[child],
      value: worthOf(tree, child),
    })),
    root: root.statistics(),
    counts: { ...counts },
  };
}
