import type { Move } from "#chess";
import type { Evaluation } from "../evaluator.js";

export const ROOT = 0;
const SLOT_BYTES = 37; // of all the arrays below
const MOST_CHILDREN = 218; // legal moves of any position

/**
 * The tree as flat arrays: a node is a slot number, the root is 0, and the children of a node stand behind one another,
 * likeliest first. All values of a node are for the side that *chose* it, the mover in its parent: a parent compares its
 * children as they stand, and a value changes its sign with every ply on its way up.
 */
export class Tree {
  visits: Int32Array;
  inflight: Uint16Array; // descents through the node whose evaluation is still awaited
  /** Of all visits; before the first one, the value the evaluator foresaw for the move, if `foresees`. */
  valueSum: Float64Array;
  drawSum: Float32Array; // probabilities of a draw, of all visits
  prior: Float32Array;
  ownValue: Float32Array; // what the evaluator said of this very position, for the side that chose it
  move: Uint16Array; // that leads here
  first: Int32Array; // its first child; 0 if it has none yet
  count: Uint8Array; // its children
  /** What is proven: the result is at least `lower` and at most `upper`, of -1, 0, 1. */
  lower: Int8Array;
  upper: Int8Array;
  /** Of a proven win or loss, plies to the mate; of a repetition, plies back to the position repeated. */
  plies: Uint16Array;

  size = 1; // slots in use
  /** Whether unvisited children carry a value of their own, as those of networks that value moves do. */
  foresees = false;
  /** Whether `drawSum` means anything. */
  knowsDraws = false;

  constructor(capacity = 1024) {
    this.visits = new Int32Array(capacity);
    this.inflight = new Uint16Array(capacity);
    this.valueSum = new Float64Array(capacity);
    this.drawSum = new Float32Array(capacity);
    this.prior = new Float32Array(capacity);
    this.ownValue = new Float32Array(capacity);
    this.move = new Uint16Array(capacity);
    this.first = new Int32Array(capacity);
    this.count = new Uint8Array(capacity);
    this.lower = new Int8Array(capacity);
    this.upper = new Int8Array(capacity);
    this.plies = new Uint16Array(capacity);
    this.clear();
  }

  get capacity(): number {
    return this.visits.length;
  }

  /** An unvisited root and nothing else. */
  clear(): void {
    this.size = 0;
    this.foresees = false;
    this.knowsDraws = false;
    this.add(1);
  }

  /** Whether another node can get its children within so many megabytes. */
  hasRoom(megabytes: number): boolean {
    return (this.size + MOST_CHILDREN) * SLOT_BYTES <= megabytes * 2 ** 20;
  }

  fillThousandths(megabytes: number): number {
    return Math.min(1000, Math.round((1000 * this.size * SLOT_BYTES) / (megabytes * 2 ** 20)));
  }

  isProven(node: number): boolean {
    return this.lower[node] === this.upper[node];
  }

  /** The mean of all visits, kept within what is proven; only of a visited or proven node. */
  mean(node: number): number {
    const { lower, upper, visits } = this;
    if (lower[node] === upper[node]) return lower[node];
    const mean = this.valueSum[node] / visits[node];
    return Math.max(lower[node], Math.min(upper[node], mean));
  }

  /** Gives a node its children. `temperature` flattens (above 1) or sharpens the policy. */
  expand(node: number, evaluation: Evaluation, temperature: number, useMoveValues: boolean): void {
    const { moves, policy } = evaluation;
    const count = moves.length;
    const first = this.add(count);
    this.first[node] = first;
    this.count[node] = count;
    this.ownValue[node] = -evaluation.value;
    const values = useMoveValues ? evaluation.moveValues : undefined;
    if (values) this.foresees = true;
    const { prior, move, valueSum } = this;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const share = temperature === 1 ? policy[i] : policy[i] ** (1 / temperature);
      sum += share;
      // Insertion keeps the order of equal shares, and costs next to nothing for uniform ones.
      let slot = first + i;
      for (; slot > first && prior[slot - 1] < share; slot--) {
        prior[slot] = prior[slot - 1];
        move[slot] = move[slot - 1];
        valueSum[slot] = valueSum[slot - 1];
      }
      prior[slot] = share;
      move[slot] = moves[i];
      valueSum[slot] = values ? values[i] : 0;
    }
    for (let slot = first; slot < first + count; slot++) prior[slot] = sum > 0 ? prior[slot] / sum : 1 / count;
  }

  /** The child a move leads to; undefined if the node has none yet. */
  childBy(node: number, move: Move): number | undefined {
    for (let i = 0; i < this.count[node]; i++) {
      if (this.move[this.first[node] + i] === move) return this.first[node] + i;
    }
    return undefined;
  }

  /** Marks the end of a game: `result` for the side that moved to it. */
  end(node: number, result: -1 | 0 | 1, plies = 0): void {
    this.lower[node] = result;
    this.upper[node] = result;
    this.plies[node] = plies;
  }

  /** Learns what is proven of a node from its children; returns whether that changed anything. */
  settle(node: number): boolean {
    const { lower, upper, plies } = this;
    const first = this.first[node];
    const end = first + this.count[node];
    let [least, most, fastestWin, slowestLoss] = [-1, -1, 65_534, 0]; // for the mover
    for (let child = first; child < end; child++) {
      if (lower[child] > least) least = lower[child];
      if (upper[child] > most) most = upper[child];
      if (lower[child] === 1 && plies[child] < fastestWin) fastestWin = plies[child];
      if (upper[child] === -1 && plies[child] > slowestLoss) slowestLoss = plies[child];
    }
    const length = least === 1 ? fastestWin + 1 : most === -1 ? slowestLoss + 1 : 0;
    if (lower[node] === -most && upper[node] === -least && plies[node] === length) return false;
    lower[node] = -most;
    upper[node] = -least;
    plies[node] = length;
    return true;
  }

  /** Room for `count` fresh nodes; returns the first one. */
  private add(count: number): number {
    const first = this.size;
    this.size += count;
    if (this.size > this.capacity) this.grow(Math.max(this.size, 2 * this.capacity));
    this.visits.fill(0, first, this.size);
    this.inflight.fill(0, first, this.size);
    this.valueSum.fill(0, first, this.size);
    this.drawSum.fill(0, first, this.size);
    this.ownValue.fill(0, first, this.size);
    this.first.fill(0, first, this.size);
    this.count.fill(0, first, this.size);
    this.lower.fill(-1, first, this.size);
    this.upper.fill(1, first, this.size);
    this.plies.fill(0, first, this.size);
    return first;
  }

  private grow(capacity: number): void {
    const larger = <T extends { length: number; set(from: T): void }>(old: T, make: new (length: number) => T): T => {
      const array = new make(capacity);
      array.set(old);
      return array;
    };
    this.visits = larger(this.visits, Int32Array);
    this.inflight = larger(this.inflight, Uint16Array);
    this.valueSum = larger(this.valueSum, Float64Array);
    this.drawSum = larger(this.drawSum, Float32Array);
    this.prior = larger(this.prior, Float32Array);
    this.ownValue = larger(this.ownValue, Float32Array);
    this.move = larger(this.move, Uint16Array);
    this.first = larger(this.first, Int32Array);
    this.count = larger(this.count, Uint8Array);
    this.lower = larger(this.lower, Int8Array);
    this.upper = larger(this.upper, Int8Array);
    this.plies = larger(this.plies, Uint16Array);
  }
}
