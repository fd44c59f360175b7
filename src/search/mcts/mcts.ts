// Monte Carlo tree search guided by an evaluator (Silver et al. 2018), with batched leaves, proven results and Gumbel's
// root as the other way to choose. docs/mcts.md describes it and what its options do.
import { assert, breathe, Random } from "#base";
import type { Move, Position } from "#chess";
import type { Evaluation, Evaluator } from "../evaluator.js";
import type { Limits } from "../limits.js";
import { defaultValues } from "../options.js";
import type { Asking, Search } from "../search.js";
import { Budget } from "./budget.js";
import { type Batch, Descents } from "./descent.js";
import { Interrupt } from "./interrupt.js";
import { MCTS_OPTIONS, type MctsSettings } from "./options.js";
import { type MctsReport, makeReport } from "./report.js";
import { findDescendant, keepSubtree } from "./reuse.js";
import { Root } from "./root.js";
import { ROOT, Tree } from "./tree.js";

const BREATH_MS = 8; // the longest time without a look at signals and timers
const LONGEST_GATHERING = 1024; // descents, some milliseconds; a measured time would make the result depend on the machine
const REPORT_MS = 50; // between two reports
const LOOK_MS = 1000; // a report at least this often

/** A batch that is being evaluated. */
interface Flight extends Batch {
  evaluations: Promise<Evaluation[]>;
}

export class Mcts implements Search {
  private settings: MctsSettings;
  private tree = new Tree();
  private rootPosition: Position | undefined; // what the tree was grown from
  private random: Random;
  private running: { interrupt: Interrupt; done: Promise<unknown> } | undefined;

  /** The evaluator belongs to the caller, who may share it among many searches. */
  constructor(
    private readonly evaluator: Evaluator,
    settings: Partial<MctsSettings> = {},
  ) {
    this.settings = { ...defaultValues(MCTS_OPTIONS), ...settings };
    this.random = new Random(this.settings.seed);
  }

  /** Changes settings between searches; the tree grown by the old ones is forgotten. */
  configure(settings: Partial<MctsSettings>): void {
    assert(!this.running, "new settings during a search");
    this.settings = { ...this.settings, ...settings };
    this.forget();
  }

  search(position: Position, limits: Limits, asking: Asking<MctsReport> = {}): Promise<MctsReport> {
    assert(!this.running, "two searches at once");
    const interrupt = new Interrupt();
    const run = new Run(this.evaluator, this.settings, this.random, this.grow(position), interrupt);
    const done = run.search(position.clone(), limits, asking);
    this.running = { interrupt, done };
    return done.finally(() => {
      interrupt.close();
      this.running = undefined;
      if (!run.isSound) this.rootPosition = undefined;
    });
  }

  async clear(): Promise<void> {
    assert(!this.running, "the tree was cleared during a search");
    this.forget();
  }

  async close(): Promise<void> {
    this.running?.interrupt.fire();
    await this.running?.done.catch(() => undefined); // whoever asked hears of it
  }

  private forget(): void {
    this.tree.clear();
    this.rootPosition = undefined;
    this.random = new Random(this.settings.seed);
  }

  /** The tree for a position: what belongs to it of the last one, or an empty one. */
  private grow(position: Position): Tree {
    const known =
      this.settings.reuse && this.rootPosition ? findDescendant(this.tree, this.rootPosition, position) : undefined;
    if (known === undefined) this.tree.clear();
    else this.tree = keepSubtree(this.tree, known);
    this.rootPosition = position.clone();
    return this.tree;
  }
}

/** One search. */
class Run {
  /** Whether the tree may be used again: the root was evaluated, and nothing is awaited any more. */
  isSound = false;
  private readonly flights: Flight[] = []; // oldest first
  private awaited = 0; // leaves in them
  private isTimed = false; // a clock or a time limits the search, so that it cannot be repeated anyway
  private lastBreathMs = performance.now();
  private lastReport: { ms: number; simulations: number; move: Move | undefined } = {
    ms: 0,
    simulations: 1,
    move: undefined,
  };

  constructor(
    private readonly evaluator: Evaluator,
    private readonly settings: MctsSettings,
    private readonly random: Random,
    private readonly tree: Tree,
    private readonly interrupt: Interrupt,
  ) {}

  async search(position: Position, limits: Limits, asking: Asking<MctsReport>): Promise<MctsReport> {
    const { interrupt, settings, tree } = this;
    const budget = new Budget(position.turn, limits);
    this.isTimed = limits.clock !== undefined || limits.moveTimeMs !== undefined;
    const startClock = () => {
      const hardMs = budget.startClock();
      if (hardMs !== undefined) interrupt.fireAfter(hardMs);
    };
    interrupt.on(asking.signal, interrupt.fire);
    if (asking.ponderHit) interrupt.on(asking.ponderHit, startClock);
    else startClock();

    const descents = new Descents(tree, position, this.evaluator, settings);
    await this.openRoot(descents, position);
    const root = new Root(tree, settings, this.random, limits.moves, limits.nodes);
    assert(root.candidates.length > 0, "a search needs a legal move");
    const report = (order: readonly number[]) =>
      makeReport(tree, root, order, descents.counts, {
        multiPv: limits.multiPv ?? 1,
        timeMs: budget.elapsedMs,
        treeMb: settings.treeMb,
        scoreScale: this.evaluator.scoreScale,
      });
    if (!interrupt.fired) descents.tryMates(root.candidates);
    await this.simulate(descents, root, budget, () => {
      const { onReport } = asking;
      if (!onReport || performance.now() - this.lastReport.ms < REPORT_MS) return;
      const ranked = root.ranked();
      if (this.isNews(ranked[0], descents.counts.simulations)) onReport(report(ranked));
    });
    return report(root.chosen(position.fullmoves));
  }

  /** Gives the root its children: by its evaluation, or in haste by nothing at all. */
  private async openRoot(descents: Descents, position: Position): Promise<void> {
    const { tree } = this;
    if (tree.first[ROOT] > 0) {
      this.isSound = true;
      return;
    }
    const batch: Batch = { leaves: [], collisions: [] };
    if (!this.interrupt.fired) {
      descents.descend(batch, undefined);
      if (batch.leaves.length > 0) {
        this.launch(batch, descents);
        await this.land(descents);
      }
    }
    this.isSound = tree.first[ROOT] > 0;
    if (!this.isSound) {
      this.abandon(descents);
      const moves = position.moves();
      descents.guess({ value: 0, moves, policy: new Float32Array(moves.length).fill(1 / moves.length) });
    }
    descents.counts.simulations = 0; // the root's own evaluation is none
  }

  private async simulate(descents: Descents, root: Root, budget: Budget, onProgress: () => void): Promise<void> {
    const { counts } = descents;
    const { flights, interrupt, settings, tree } = this;
    while (!interrupt.fired) {
      const depth = counts.depthSum / Math.max(1, counts.simulations);
      if (budget.isSpent(tree, root, counts.simulations, depth)) break;
      const isFull = !tree.hasRoom(settings.treeMb);
      if (isFull && flights.length === 0) break;
      const before = counts.simulations;
      const batch = isFull || flights.length >= settings.pipeline ? undefined : this.gather(descents, root, budget);
      if (batch && batch.leaves.length > 0) {
        this.launch(batch, descents);
        if (flights.length < settings.pipeline) continue;
      } else if (batch) for (const path of batch.collisions) descents.cancel(path);
      if (flights.length > 0) await this.land(descents);
      else assert(counts.simulations > before, "a search that does not advance");
      if (performance.now() - this.lastBreathMs > BREATH_MS) await this.breathe();
      if (!interrupt.fired) onProgress();
    }
    this.abandon(descents);
  }

  /** Gathers leaves until the batch is full, or more would only collide or come too early. */
  private gather(descents: Descents, root: Root, budget: Budget): Batch {
    const { settings, tree } = this;
    const { counts } = descents;
    const batch: Batch = { leaves: [], collisions: [] };
    const most = settings.root === "gumbel" ? Infinity : Math.max(1, Math.floor(settings.parallel * tree.visits[ROOT]));
    const share = Math.max(1, Math.floor(most / settings.pipeline)); // one that takes all leaves nothing to the next
    const size = Math.min(settings.batch || this.evaluator.batchSize, share);
    for (let i = 0; i < LONGEST_GATHERING && batch.leaves.length < size; i++) {
      if (batch.collisions.length >= settings.collisions) break;
      const awaited = this.awaited + batch.leaves.length;
      if (awaited >= most || budget.simulationsLeft(counts.simulations + awaited) <= 0) break;
      if (root.isSettled() || !tree.hasRoom(settings.treeMb)) break;
      const child = root.select();
      if (child === undefined) break;
      descents.descend(batch, child);
    }
    return batch;
  }

  private launch(batch: Batch, { counts }: Descents): void {
    const evaluations = this.evaluator.evaluate(batch.leaves.map(({ position }) => position));
    evaluations.catch(() => undefined); // heard when it is awaited, if it still is
    counts.batches++;
    counts.evaluations += batch.leaves.length;
    this.awaited += batch.leaves.length;
    this.flights.push({ ...batch, evaluations });
  }

  /** Waits for the oldest batch, or against time for the one that is back first, and backs it up. */
  private async land(descents: Descents): Promise<void> {
    const { flights, isTimed } = this;
    const expected = isTimed ? flights : flights.slice(0, 1);
    const back = Promise.race(expected.map(async (flight) => ({ ...flight, answers: await flight.evaluations })));
    back.catch(() => undefined); // nobody waits for it after an interrupt
    const first = await this.interrupt.wait(back).catch((error) => {
      this.isSound = false;
      throw error;
    });
    if (!first) return;
    const { answers, collisions, evaluations, leaves } = first;
    flights.splice(
      flights.findIndex((flight) => flight.evaluations === evaluations),
      1,
    );
    this.awaited -= leaves.length;
    for (const [i, { path }] of leaves.entries()) descents.learn(path, path.length, answers[i]);
    for (const path of collisions) descents.cancel(path);
  }

  /** Takes all virtual visits back: answers that come now are too late. */
  private abandon(descents: Descents): void {
    for (const { leaves, collisions } of this.flights) {
      for (const { path } of leaves) descents.cancel(path);
      for (const path of collisions) descents.cancel(path);
    }
    this.flights.length = 0;
    this.awaited = 0;
  }

  private async breathe(): Promise<void> {
    await breathe();
    this.lastBreathMs = performance.now();
  }

  private isNews(best: number, simulations: number): boolean {
    const { lastReport, tree } = this;
    const move = tree.move[best];
    const passedMs = performance.now() - lastReport.ms;
    const isNew = move !== lastReport.move || simulations >= 2 * lastReport.simulations;
    if (!isNew && passedMs < LOOK_MS) return false;
    this.lastReport = { ms: performance.now(), simulations: Math.max(1, simulations), move };
    return true;
  }
}
