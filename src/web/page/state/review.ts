import { messageOf } from "#base";
import { type Color, opposite } from "#chess";
import type { MindAsking } from "../minds/mind.js";
import type { Question, Thought, Wish } from "../minds/protocol.js";
import type { PlayedGame } from "./game.js";
import { Store } from "./store.js";
import { lineThrough, type MoveNode } from "./tree.js";
import { type Verdict, verdictOf, whiteShare } from "./verdict.js";

/** How bad a move was, with the mark of PGN; the drop is in the mover's share of the point, Lichess's thresholds. */
const FAULTS = [
  { name: "blunder", nag: 4, drop: 0.15 },
  { name: "mistake", nag: 2, drop: 0.1 },
  { name: "inaccuracy", nag: 6, drop: 0.05 },
] as const;
type FaultName = (typeof FAULTS)[number]["name"];

export interface SideReview {
  accuracy: number; // 0 to 100
  faults: Record<FaultName, number>;
}

/** A move that was not the best, and what would have been. */
export interface Fault {
  node: MoveNode;
  name: FaultName;
  best: string | undefined; // in UCI, at the position before
  drop: number;
}

/** Lichess's accuracy of a move that takes the share of the point from one value to another (lichess.org/page/accuracy). */
export function accuracyOf(before: number, after: number): number {
  const lost = Math.max(0, before - after) * 100;
  return Math.max(0, Math.min(100, 103.1668 * Math.exp(-0.04354 * lost) - 3.1669));
}

export type ReviewThink = (question: Question, wish: Wish, asking: MindAsking) => Promise<Thought>;

/** A whole game looked through by one network: what it thinks of every position, and what it would have played. */
export class Review extends Store {
  done = 0; // positions
  total = 0;
  isRunning = false;
  trouble: string | undefined;
  sides: Record<Color, SideReview> | undefined;
  faults: readonly Fault[] = [];
  by = "";
  private stopper = new AbortController();

  /** Reviews the line on the board with so many nodes for each position. */
  async run(game: PlayedGame, by: string, nodes: number, think: ReviewThink): Promise<void> {
    this.stop();
    const stopper = new AbortController();
    this.stopper = stopper;
    const { tree } = game;
    const nodesOfLine = [tree.root, ...lineThrough(tree.current)];
    Object.assign(this, { done: 0, total: nodesOfLine.length, isRunning: true, trouble: undefined, by });
    this.sides = undefined;
    this.faults = [];
    this.changed();
    try {
      for (const node of nodesOfLine) {
        const position = tree.positionAt(node);
        const outcome = position.outcome();
        const verdict: Verdict = outcome
          ? {
              by,
              wdl:
                outcome.winner === undefined ? [0, 1000, 0] : outcome.winner === "white" ? [1000, 0, 0] : [0, 0, 1000],
            }
          : verdictOf(await think(game.questionAt(node), { nodes }, { signal: stopper.signal }), position.turn, by);
        if (stopper.signal.aborted) return;
        node.verdict = undefined;
        game.judge(node, verdict);
        this.done++;
        this.changed();
      }
      this.finish(nodesOfLine, tree.start.turn);
    } catch (error) {
      this.trouble = messageOf(error);
    } finally {
      if (this.stopper === stopper) {
        this.isRunning = false;
        this.changed();
      }
    }
  }

  stop(): void {
    this.stopper.abort();
    this.isRunning = false;
    this.changed();
  }

  private finish(nodes: readonly MoveNode[], first: Color): void {
    const accuracies: Record<Color, number[]> = { white: [], black: [] };
    const counts = { inaccuracy: 0, mistake: 0, blunder: 0 };
    const faults: Record<Color, Record<FaultName, number>> = { white: { ...counts }, black: { ...counts } };
    const found: Fault[] = [];
    nodes.slice(1).forEach((node, i) => {
      const mover = i % 2 === 0 ? first : opposite(first);
      const [before, after] = [nodes[i], node].map(({ verdict }) => share(verdict, mover));
      if (before === undefined || after === undefined) return;
      accuracies[mover].push(accuracyOf(before, after));
      const best = nodes[i].verdict?.best;
      const fault = node.uci === best ? undefined : FAULTS.find(({ drop }) => before - after >= drop);
      node.nags = node.nags.filter((nag) => !FAULTS.some((each) => each.nag === nag));
      if (!fault) return;
      node.nags.push(fault.nag);
      faults[mover][fault.name]++;
      found.push({ node, name: fault.name, best, drop: before - after });
    });
    const mean = (values: readonly number[]) =>
      values.length === 0 ? 100 : values.reduce((sum, value) => sum + value, 0) / values.length;
    this.faults = found;
    this.sides = {
      white: { accuracy: mean(accuracies.white), faults: faults.white },
      black: { accuracy: mean(accuracies.black), faults: faults.black },
    };
  }
}

function share(verdict: Verdict | undefined, color: Color): number | undefined {
  const white = verdict && whiteShare(verdict);
  return white === undefined ? undefined : color === "white" ? white : 1 - white;
}
