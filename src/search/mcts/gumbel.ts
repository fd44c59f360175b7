// Gumbel's way to choose (Danihelka et al. 2022, "Policy improvement by planning with Gumbel"): the root's best moves
// play sequential halving, nodes below follow the improved policy. It needs no noise in the policy and no first-play
// urgency, and improves on the policy from two simulations on.
import type { Random } from "#base";
import type { MctsSettings } from "./options.js";
import { ROOT, type Tree } from "./tree.js";

/** A round of sequential halving: so many moves share the simulations up to the one of this number. */
export interface Round {
  moves: number;
  until: number;
}

/** Shares `simulations` among `moves`: equal visits for all, then for the better half, and so on down to two. */
export function planHalving(moves: number, simulations: number): Round[] {
  if (moves <= 1) return [{ moves, until: simulations }];
  const rounds: Round[] = [];
  const halvings = Math.ceil(Math.log2(moves));
  let until = 0;
  for (let remaining = moves; until < simulations; remaining = Math.max(2, remaining >> 1)) {
    const each = Math.max(1, Math.floor(simulations / (halvings * remaining)));
    until = Math.min(simulations, until + each * remaining);
    rounds.push({ moves: remaining, until });
  }
  return rounds;
}

/**
 * Moves that halving begins with. With a visit each it would be a search of one ply: at 16 simulations, 16 moves lost ten
 * games of ten to puct where 4 moves held their own (docs/log/mcts.md).
 */
export const movesToHalve = (most: number, legal: number, simulations: number): number =>
  Math.min(most, legal, Math.max(2, Math.floor(simulations / VISITS_EACH)));

const VISITS_EACH = 4; // simulations of the whole plan for each move it begins with

/** What a node's children are worth, as far as a value can be given to all of them. */
interface Completed {
  unvisited: number; // what a child without visits counts
  scale: number; // (value - lowest) * scale is added to the logits
  lowest: number;
  last: number; // behind the last child that needs a look of its own
}

/**
 * Completes the values of a node's children: an unvisited one counts a mixture of the network's value of the node and of
 * the visited children, weighted by their priors. Values are then spread over [0, 1] and weighted by the visits.
 */
function complete(tree: Tree, node: number, { gumbelVisits, gumbelScale }: MctsSettings, all: boolean): Completed {
  const { visits, inflight, prior } = tree;
  const first = tree.first[node];
  const end = first + tree.count[node];
  let [sum, most, policy, weighted, last] = [0, 0, 0, 0, first];
  let [lowest, highest] = [Infinity, -Infinity];
  const consider = (value: number) => {
    if (value < lowest) lowest = value;
    if (value > highest) highest = value;
  };
  for (; last < end; last++) {
    const n = visits[last];
    if (n > 0 || tree.isProven(last)) {
      const value = tree.mean(last);
      consider(value);
      sum += n;
      if (n > most) most = n;
      policy += prior[last];
      weighted += prior[last] * value;
    } else if (tree.foresees) consider(tree.valueSum[last]);
    else if (inflight[last] === 0 && !all) {
      last++;
      break;
    }
  }
  const own = -tree.ownValue[node];
  const unvisited = policy > 0 ? (own + (sum * weighted) / policy) / (1 + sum) : own;
  consider(unvisited);
  const range = highest - lowest;
  return { unvisited, lowest, last, scale: ((gumbelVisits + most) * gumbelScale) / Math.max(range, 1e-8) };
}

function completedValue(tree: Tree, child: number, unvisited: number): number {
  if (tree.visits[child] > 0 || tree.isProven(child)) return tree.mean(child);
  return tree.foresees ? tree.valueSum[child] : unvisited;
}

/** Below the root: the child whose visits fall furthest behind its share of the improved policy. */
export function selectByImprovedPolicy(tree: Tree, node: number, settings: MctsSettings): number {
  const { visits, inflight, prior, upper } = tree;
  const first = tree.first[node];
  const { unvisited, lowest, scale, last } = complete(tree, node, settings, false);
  let [total, started, rest] = [0, 0, 1]; // rest: the policy of the children behind `last`
  for (let child = first; child < last; child++) {
    total += prior[child] * Math.exp((completedValue(tree, child, unvisited) - lowest) * scale);
    started += visits[child] + inflight[child];
    rest -= prior[child];
  }
  if (rest > 0) total += rest * Math.exp((unvisited - lowest) * scale);
  let best = -1;
  let bestScore = -Infinity;
  for (let child = first; child < last; child++) {
    if (upper[child] === -1) continue;
    const share = (prior[child] * Math.exp((completedValue(tree, child, unvisited) - lowest) * scale)) / total;
    const score = share - (visits[child] + inflight[child]) / (1 + started);
    if (score > bestScore) {
      bestScore = score;
      best = child;
    }
  }
  return best;
}

/** Logits of the root's moves with their completed values: their softmax is the improved policy. */
function improvedLogits(tree: Tree, settings: MctsSettings): Float64Array {
  const first = tree.first[ROOT];
  const { unvisited, lowest, scale } = complete(tree, ROOT, settings, true);
  return Float64Array.from({ length: tree.count[ROOT] }, (_, i) => {
    const value = completedValue(tree, first + i, unvisited);
    return Math.log(Math.max(tree.prior[first + i], 1e-30)) + (value - lowest) * scale;
  });
}

/** What the policy of the root should have been, by the number of the child: a target to learn from. Adds up to 1. */
export function improvedPolicy(tree: Tree, settings: MctsSettings): Float32Array {
  const logits = improvedLogits(tree, settings);
  const top = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const weights = logits.map((logit) => Math.exp(logit - top));
  const sum = weights.reduce((a, b) => a + b, 0);
  return Float32Array.from(weights, (weight) => weight / sum);
}

/** Sequential halving among the root's moves. */
export class GumbelRoot {
  private readonly draws: Float64Array; // one for each candidate, the same for the whole search
  private rounds: readonly Round[] = [];
  private round = 0; // that is being played
  private remaining: readonly number[] = []; // candidates in it, by their numbers, best first
  private base: Int32Array = new Int32Array(); // visits before the plan began
  private plans = 0;

  constructor(
    private readonly tree: Tree,
    private readonly candidates: readonly number[],
    private readonly settings: MctsSettings,
    random: Random,
  ) {
    const { gumbelNoise } = settings;
    this.draws = Float64Array.from(candidates, () =>
      gumbelNoise === 0 ? 0 : -gumbelNoise * Math.log(-Math.log(random.next() || 1e-300)),
    );
  }

  /** Plans the next simulations, from what is known by now. */
  begin(simulations: number): void {
    const { tree, candidates } = this;
    const live = candidates.filter((child) => tree.upper[child] > -1).length;
    this.rounds = planHalving(movesToHalve(this.settings.gumbelMoves, live, simulations), simulations);
    this.round = 0;
    this.base = Int32Array.from(candidates, (child) => tree.visits[child]);
    this.remaining = this.bestOf(candidates.keys(), this.rounds[0].moves);
    this.plans++;
  }

  /** Whether all simulations planned are done or under way. */
  isOver(): boolean {
    return this.started() >= (this.rounds.at(-1)?.until ?? 0);
  }

  /**
   * The move to visit next; undefined while evaluations under way must be awaited first. Of those that remain it is the one
   * with the fewest visits: a descent that came to nothing, as it collided with another one, is made up for.
   */
  select(): number | undefined {
    const { candidates, rounds, tree } = this;
    if (this.isOver()) return undefined;
    while (this.started() >= rounds[this.round].until) {
      if (tree.inflight[ROOT] > 0) return undefined;
      this.remaining = this.bestOf(this.remaining, rounds[++this.round].moves);
    }
    let live = this.remaining.filter((i) => tree.upper[candidates[i]] > -1);
    if (live.length === 0) live = this.bestOf(candidates.keys(), 1); // all were lost: the next in line takes their visits
    if (live.length === 0) return undefined;
    const next = live.reduce((best, i) => (this.startedOf(i) < this.startedOf(best) ? i : best));
    const child = candidates[next];
    const waits = tree.inflight[child];
    return waits > 0 && waits + 1 > this.settings.parallel * tree.visits[child] ? undefined : child;
  }

  /**
   * The candidates, best first: those that remain by draw, policy and value, the others by their visits. After the first
   * plan all stand by their visits in all plans.
   */
  ranked(): number[] {
    const scores = this.scores();
    const { base, candidates, plans, remaining, tree } = this;
    const remains = candidates.map((_, i) => Number(plans === 1 && remaining.includes(i)));
    const visits = candidates.map((child, i) => tree.visits[child] - (plans === 1 ? base[i] : 0));
    return [...candidates.keys()]
      .sort((a, b) => remains[b] - remains[a] || (remains[a] ? 0 : visits[b] - visits[a]) || scores[b] - scores[a])
      .map((i) => candidates[i]);
  }

  /** Of some candidates, by their numbers, those that are not lost and look best. */
  private bestOf(some: Iterable<number>, count: number): number[] {
    const scores = this.scores();
    return [...some]
      .filter((i) => this.tree.upper[this.candidates[i]] > -1)
      .sort((a, b) => scores[b] - scores[a])
      .slice(0, count);
  }

  private scores(): Float64Array {
    const logits = improvedLogits(this.tree, this.settings);
    const first = this.tree.first[ROOT];
    return Float64Array.from(this.candidates, (child, i) => logits[child - first] + this.draws[i]);
  }

  private started(): number {
    let sum = 0;
    for (let i = 0; i < this.candidates.length; i++) sum += this.startedOf(i);
    return sum;
  }

  private startedOf(i: number): number {
    const child = this.candidates[i];
    return this.tree.visits[child] + this.tree.inflight[child] - this.base[i];
  }
}
