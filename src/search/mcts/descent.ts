import type { Position } from "#chess";
import type { Evaluation, Evaluator } from "../evaluator.js";
import { selectByImprovedPolicy } from "./gumbel.js";
import type { MctsSettings } from "./options.js";
import { selectByPuct } from "./select.js";
import { ROOT, type Tree } from "./tree.js";

/** A leaf that waits for its evaluation: the nodes from the root to it, and the position it stands for. */
export interface Leaf {
  path: Int32Array;
  position: Position;
}

/** Leaves gathered to be evaluated together. */
export interface Batch {
  leaves: Leaf[];
  /** Ways to leaves that wait already; their virtual visits turn later descents elsewhere until the batch is back. */
  collisions: Int32Array[];
}

/** What simulations have done in one search. */
export interface Counts {
  simulations: number; // visits backed up
  evaluations: number; // asked of the evaluator
  recalled: number; // answers it remembered
  ends: number; // descents that ended in a proven result
  collisions: number;
  batches: number;
  depthSum: number; // plies, of all simulations
  deepest: number;
}

export const noCounts = (): Counts => ({
  simulations: 0,
  evaluations: 0,
  recalled: 0,
  ends: 0,
  collisions: 0,
  batches: 0,
  depthSum: 0,
  deepest: 0,
});

/** Goes down a tree from its root, and carries values back up. */
export class Descents {
  readonly counts = noCounts();
  private readonly line: Position; // stands at the end of the last descent
  private readonly rootPlies: number;
  private path = new Int32Array(64);
  private length = 0; // of the path

  constructor(
    private readonly tree: Tree,
    root: Position,
    private readonly evaluator: Evaluator,
    private readonly settings: MctsSettings,
  ) {
    this.line = root.clone();
    this.rootPlies = root.history.length;
  }

  /**
   * Goes down to a leaf and counts a virtual visit for every node on the way. A leaf whose value is known (the end of a
   * game, a proven result, an answer the evaluator remembers) is backed up at once; any other joins the batch.
   */
  descend(batch: Batch, rootChild: number | undefined): void {
    const { tree, settings } = this;
    const select = settings.root === "gumbel" ? selectByImprovedPolicy : selectByPuct;
    this.length = 0;
    this.enter(ROOT);
    let node = ROOT;
    if (rootChild !== undefined) {
      node = rootChild;
      this.enter(node);
    }
    while (tree.first[node] > 0 && (node === ROOT || !tree.isProven(node))) {
      node = select(tree, node, settings);
      this.enter(node);
    }
    if (node !== ROOT && tree.isProven(node)) {
      this.counts.ends++;
      this.backUp(this.path, this.length, tree.lower[node], tree.lower[node] === 0 ? 1 : 0, false);
    } else if (tree.inflight[node] > 1) {
      this.counts.collisions++;
      batch.collisions.push(this.path.slice(0, this.length));
    } else this.reachLeaf(node, batch);
  }

  private reachLeaf(node: number, batch: Batch): void {
    this.follow();
    if (node !== ROOT && this.recogniseEnd(node)) {
      this.counts.ends++;
      this.backUp(this.path, this.length, this.tree.lower[node], this.tree.lower[node] === 0 ? 1 : 0, true);
      return;
    }
    const known = this.settings.outOfOrder ? this.evaluator.recall(this.line) : undefined;
    if (known) {
      this.counts.recalled++;
      this.learn(this.path, this.length, known);
    } else batch.leaves.push({ path: this.path.slice(0, this.length), position: this.line.clone() });
  }

  /** Backs up the evaluation of a leaf and gives it its children. */
  learn(path: Int32Array, length: number, evaluation: Evaluation): void {
    const { tree, settings } = this;
    tree.expand(path[length - 1], evaluation, settings.policyTemperature, settings.moveValues);
    if (evaluation.wdl) tree.knowsDraws = true;
    this.backUp(path, length, -evaluation.value, evaluation.wdl ? evaluation.wdl[1] : 0, false);
  }

  /** Opens the root by something else than its evaluation, which did not come in time. */
  guess(evaluation: Evaluation): void {
    this.tree.expand(ROOT, evaluation, 1, false);
    this.tree.visits[ROOT]++;
  }

  /** Visits the root moves that mate at once, so that none is ever missed. */
  tryMates(candidates: readonly number[]): void {
    const { line, tree } = this;
    for (const child of candidates) {
      if (tree.visits[child] > 0) continue;
      this.path.set([ROOT, child]);
      this.length = 2;
      this.follow();
      if (line.isCheck() && line.outcome()?.winner) this.descend({ leaves: [], collisions: [] }, child);
    }
  }

  /** Takes the virtual visits of a descent back. */
  cancel(path: Int32Array): void {
    for (const node of path) this.tree.inflight[node]--;
  }

  /**
   * Turns the virtual visits of a path into real ones. `value` is for the side that chose the leaf and changes its sign
   * with every ply; what is proven of the leaf (`isNews`) is carried up as far as it proves anything.
   */
  private backUp(path: Int32Array, length: number, value: number, draw: number, isNews: boolean): void {
    const { tree, counts } = this;
    const { visits, inflight, valueSum, drawSum, lower, upper } = tree;
    counts.simulations++;
    counts.depthSum += length - 1;
    if (length - 1 > counts.deepest) counts.deepest = length - 1;
    let correction = 0; // of the visits of a node proven just now, seen from the node at hand
    for (let i = length - 1; i >= 0; i--) {
      const node = path[i];
      const before = visits[node];
      if (isNews && i < length - 1) {
        const wasProven = lower[node] === upper[node];
        isNews = tree.settle(node);
        // All visits so far were to find out this result: they count it from now on.
        if (!wasProven && lower[node] === upper[node] && i > 0) correction = before * lower[node] - valueSum[node];
      }
      const proven = Math.max(lower[node], Math.min(upper[node], value));
      value = i > 0 ? proven : value;
      valueSum[node] = (before === 0 ? 0 : valueSum[node]) + correction + value;
      drawSum[node] += draw;
      visits[node] = before + 1;
      inflight[node]--;
      value = -value;
      correction = -correction;
    }
  }

  private enter(node: number): void {
    if (this.length === this.path.length) {
      const longer = new Int32Array(2 * this.length);
      longer.set(this.path);
      this.path = longer;
    }
    this.path[this.length++] = node;
    this.tree.inflight[node]++;
  }

  /** Brings the position to the end of the path; what it shares with the last path is not played again. */
  private follow(): void {
    const { line, path, rootPlies, tree } = this;
    const { history } = line;
    let same = 0;
    while (
      rootPlies + same < history.length &&
      same + 1 < this.length &&
      history[rootPlies + same] === tree.move[path[same + 1]]
    )
      same++;
    while (history.length > rootPlies + same) line.undo();
    for (let i = same + 1; i < this.length; i++) line.playUnchecked(tree.move[path[i]]);
  }

  /** Whether the game is over at the leaf, or repeats itself within the tree, which is as good as a draw. */
  private recogniseEnd(node: number): boolean {
    const { line, tree } = this;
    const outcome = line.outcome();
    if (outcome) tree.end(node, outcome.winner === undefined ? 0 : 1);
    else {
      const repeated = this.settings.twoFold && line.halfmoves >= 4 ? line.repeatedAfter() : undefined;
      if (repeated === undefined || repeated > this.length - 1) return false;
      tree.end(node, 0, repeated);
    }
    return true;
  }
}
