import { type Random, UserError } from "#base";
import { formatUci, movesToMate, type Position } from "#chess";
import type { Choice, Player } from "#engine";
import { type Evaluator, MCTS_OPTIONS, Mcts, type MctsReport, type MctsSettings } from "#search";
import { type SearchedPosition, sparsePolicy } from "./game.js";
import type { SelfPlaySpec } from "./spec.js";

/** Plays both sides of one game by a tree, and remembers what it found in the moves that it searched fully. */
export class TreePlayer implements Player {
  readonly name = "self-play";
  readonly options = {};
  readonly searched: SearchedPosition[] = [];
  private readonly tree: Mcts;
  private readonly root: MctsSettings["root"];

  constructor(
    evaluator: Evaluator,
    settings: MctsSettings,
    private readonly spec: Pick<SelfPlaySpec, "nodes" | "cheapNodes" | "fullShare">,
    private readonly random: Random,
  ) {
    this.tree = new Mcts(evaluator, { ...settings, seed: random.below(MCTS_OPTIONS.seed.max) });
    this.root = settings.root;
  }

  async newGame(): Promise<void> {}

  async choose(position: Position): Promise<Choice> {
    const { nodes, cheapNodes = Math.max(1, Math.round(nodes / 5)), fullShare } = this.spec;
    const isFull = this.random.next() < fullShare;
    const report = await this.tree.search(position, { nodes: isFull ? nodes : cheapNodes });
    if (isFull) this.searched.push(this.learn(position, report));
    const { lines, depth, timeMs } = report;
    const [{ scoreCp, pv }] = lines;
    const line = { scoreCp, mate: movesToMate(scoreCp), pv: [formatUci(position, pv[0])] };
    return { move: pv[0], lines: [line], depth, nodes: report.nodes, timeMs };
  }

  /** Gumbel's search improves on the policy even where it visited little; by upper bounds, the visits are the policy. */
  private learn(position: Position, { root: { value, moves, visits, improvedPolicy } }: MctsReport): SearchedPosition {
    const visited = visits.some((count) => count > 0);
    const shares = this.root === "gumbel" || !visited ? improvedPolicy : visits;
    return { ply: position.history.length, value: round(value), policy: sparsePolicy(position, moves, shares) };
  }

  async setOption(name: string): Promise<void> {
    throw new UserError("OPTION_UNKNOWN", `self-play has no option "${name}".`);
  }

  async close(): Promise<void> {
    await this.tree.close();
  }
}

const round = (value: number): number => Math.round(value * 1e5) / 1e5 + 0; // never -0
