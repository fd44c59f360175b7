import type { Random } from "#base";
import type { Move } from "#chess";
import { GumbelRoot, improvedPolicy } from "./gumbel.js";
import { drawDirichlet } from "./noise.js";
import type { MctsSettings } from "./options.js";
import { selectRootByPuct } from "./select.js";
import { ROOT, type Tree } from "./tree.js";

/** What a search found out about the root: what self-play learns from. Lists are in one order. */
export interface RootStatistics {
  value: number; // for the mover, the mean of all visits or the proven result
  ownValue: number; // what the evaluator said of the root itself
  moves: Move[]; // all legal ones, likeliest first
  policy: Float32Array; // of the evaluator, after the temperature of the policy, without noise
  visits: Int32Array;
  values: Float32Array; // for the mover; of unvisited moves, what they count in the improved policy
  improvedPolicy: Float32Array; // adds up to 1
}

const FIRST_PLAN = 64; // simulations, where no limit says how many there will be; every next plan doubles them

/** The choices at the root: which move to visit next, and which one to play in the end. */
export class Root {
  readonly candidates: readonly number[]; // children that may be played
  private readonly priors: Float32Array; // by the number of the child, noise included
  private readonly gumbel: GumbelRoot | undefined;
  private planned = 0;

  /** `simulations`: how many there will be, if that is known. */
  constructor(
    private readonly tree: Tree,
    private readonly settings: MctsSettings,
    private readonly random: Random,
    moves: readonly Move[] | undefined,
    private readonly simulations: number | undefined,
  ) {
    const first = tree.first[ROOT];
    const children = Array.from({ length: tree.count[ROOT] }, (_, i) => first + i);
    this.candidates = moves ? children.filter((child) => moves.includes(tree.move[child])) : children;
    this.priors = tree.prior.slice(first, first + children.length);
    const { noise, noiseAlpha } = settings;
    if (noise > 0) {
      const draws = drawDirichlet(children.length, noiseAlpha, random);
      for (const [i, draw] of draws.entries()) this.priors[i] = (1 - noise) * this.priors[i] + noise * draw;
    }
    if (settings.root === "gumbel") this.gumbel = new GumbelRoot(tree, this.candidates, settings, random);
  }

  /** The child to visit next; undefined while evaluations under way must be awaited first. */
  select(): number | undefined {
    const { gumbel, tree } = this;
    if (!gumbel) return selectRootByPuct(tree, this.candidates, this.priors, this.settings);
    if (this.planned === 0 || (gumbel.isOver() && tree.inflight[ROOT] === 0)) {
      this.planned = this.planned === 0 ? (this.simulations ?? FIRST_PLAN) : 2 * this.planned;
      gumbel.begin(this.planned);
    }
    return gumbel.select();
  }

  /** Whether nothing is left to find out: a win is proven, or all results are. */
  isSettled(): boolean {
    const { lower, upper } = this.tree;
    let isOpen = false;
    for (const child of this.candidates) {
      if (lower[child] === 1) return true;
      if (lower[child] < upper[child]) isOpen = true;
    }
    return !isOpen;
  }

  /** Whether the move to be played is certain: all is settled, or all moves but one are proven lost. */
  isDecided(): boolean {
    return this.isSettled() || this.candidates.filter((child) => this.tree.upper[child] > -1).length <= 1;
  }

  /** Candidates, best first: wins, the shortest before others; then by visits, value and prior; losses, the longest first. */
  ranked(): number[] {
    const { tree } = this;
    const { visits, prior, lower, upper, plies } = tree;
    const order = this.gumbel && this.planned > 0 ? this.gumbel.ranked() : [...this.candidates];
    const rank = new Map(order.map((child, i) => [child, i]));
    const byVisits = (a: number, b: number) =>
      visits[b] - visits[a] || (visits[a] > 0 ? tree.mean(b) - tree.mean(a) : 0) || prior[b] - prior[a];
    const grade = (child: number) => (lower[child] === 1 ? 0 : upper[child] === -1 ? 2 : 1);
    return order.sort((a, b) => {
      if (grade(a) !== grade(b)) return grade(a) - grade(b);
      if (grade(a) === 0) return plies[a] - plies[b];
      if (grade(a) === 2) return plies[b] - plies[a];
      return this.gumbel ? (rank.get(a) as number) - (rank.get(b) as number) : byVisits(a, b);
    });
  }

  /** The ranking with the move to be played in front, drawn by its visits where there is a temperature. */
  chosen(fullmoves: number): number[] {
    const ranked = this.ranked();
    const { temperature, temperatureMoves } = this.settings;
    const { visits, lower, upper } = this.tree;
    if (temperature === 0 || fullmoves > temperatureMoves || lower[ranked[0]] === 1) return ranked;
    const most = Math.max(1, ...ranked.map((child) => visits[child]));
    const weights = ranked.map((child) => (upper[child] === -1 ? 0 : (visits[child] / most) ** (1 / temperature)));
    let left = this.random.next() * weights.reduce((a, b) => a + b, 0);
    const drawn = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    if (drawn > 0) ranked.unshift(...ranked.splice(drawn, 1));
    return ranked;
  }

  /** Whether the runner-up could still catch up if it got all the simulations that are left; halving plans for all of them. */
  canChange(simulationsLeft: number): boolean {
    const { smartPruning } = this.settings;
    if (smartPruning === 0 || this.gumbel) return true;
    const [best, second] = this.ranked();
    if (second === undefined) return false;
    const { visits } = this.tree;
    return simulationsLeft >= (visits[best] - visits[second]) * smartPruning;
  }

  statistics(): RootStatistics {
    const { tree } = this;
    const first = tree.first[ROOT];
    const count = tree.count[ROOT];
    const known = (child: number) => tree.visits[child] > 0 || tree.isProven(child);
    return {
      value: 0 - tree.mean(ROOT), // never -0
      ownValue: 0 - tree.ownValue[ROOT],
      moves: Array.from(tree.move.subarray(first, first + count)),
      policy: tree.prior.slice(first, first + count),
      visits: tree.visits.slice(first, first + count),
      values: Float32Array.from({ length: count }, (_, i) =>
        known(first + i) ? tree.mean(first + i) : tree.foresees ? tree.valueSum[first + i] : -tree.mean(ROOT),
      ),
      improvedPolicy: improvedPolicy(tree, this.settings),
    };
  }
}
