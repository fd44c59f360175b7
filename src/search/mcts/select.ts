import type { MctsSettings } from "./options.js";
import { ROOT, type Tree } from "./tree.js";

/** The weight of exploration at a node, before the prior and visits of a child (Silver et al. 2018, with lc0's growth). */
export function exploration(tree: Tree, node: number, { cpuct, cpuctBase, cpuctFactor }: MctsSettings): number {
  const visits = tree.visits[node];
  const growing = cpuctFactor === 0 ? cpuct : cpuct + cpuctFactor * Math.log((visits + cpuctBase) / cpuctBase);
  return growing * Math.sqrt(Math.max(visits - 1, 1)); // its first visit went to no child
}

/** What an unvisited child counts: the node's own mean, less the more of the policy was tried (first-play urgency). */
export function firstPlayValue(tree: Tree, node: number, visitedPolicy: number, { fpu }: MctsSettings): number {
  return -tree.mean(node) - fpu * Math.sqrt(visitedPolicy);
}

/**
 * The child to visit next: the largest value + exploration * prior / (1 + visits), descents under way counted as visits.
 * A child that is proven lost is never visited again. Children are visited in the order of their priors, so the first
 * one nobody went to is as good as all behind it, unless each has a value of its own.
 */
export function selectByPuct(tree: Tree, node: number, settings: MctsSettings): number {
  const { visits, inflight, prior, upper } = tree;
  const first = tree.first[node];
  const end = first + tree.count[node];
  let visitedPolicy = 0;
  let last = first; // behind the last child worth a look
  for (; last < end; last++) {
    if (visits[last] > 0) visitedPolicy += prior[last];
    else if (inflight[last] === 0 && !tree.foresees) {
      last++;
      break;
    }
  }
  const weight = exploration(tree, node, settings);
  const fresh = firstPlayValue(tree, node, visitedPolicy, settings);
  let best = -1;
  let bestScore = -Infinity;
  for (let child = first; child < last; child++) {
    if (upper[child] === -1) continue;
    const value = visits[child] > 0 ? tree.mean(child) : tree.foresees ? tree.valueSum[child] : fresh;
    const score = value + (weight * prior[child]) / (1 + visits[child] + inflight[child]);
    if (score > bestScore) {
      bestScore = score;
      best = child;
    }
  }
  return best;
}

/** The same at the root, where only some moves may be asked for and priors may carry noise. */
export function selectRootByPuct(
  tree: Tree,
  candidates: readonly number[],
  priors: Float32Array, // by the number of the child
  settings: MctsSettings,
): number {
  const { visits, inflight, upper } = tree;
  const first = tree.first[ROOT];
  let visitedPolicy = 0;
  for (const child of candidates) if (visits[child] > 0) visitedPolicy += priors[child - first];
  const weight = exploration(tree, ROOT, settings);
  const fresh = firstPlayValue(tree, ROOT, visitedPolicy, settings);
  let best = -1;
  let bestScore = -Infinity;
  for (const child of candidates) {
    if (upper[child] === -1) continue;
    const value = visits[child] > 0 ? tree.mean(child) : tree.foresees ? tree.valueSum[child] : fresh;
    const score = value + (weight * priors[child - first]) / (1 + visits[child] + inflight[child]);
    if (score > bestScore) {
      bestScore = score;
      best = child;
    }
  }
  return best;
}
