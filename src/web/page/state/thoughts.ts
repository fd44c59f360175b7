import { formatSan, type Position, parseUci } from "#chess";
import type { ThoughtMove } from "#engine";

/** A move of the tree that variations with common beginnings make, and the position after it. */
export interface ThoughtNode {
  uci: string;
  text: string; // "12. Nf3", "12... Nf6"
  value: number; // of the mover, -1 to 1, when it was last thought of
  agreed: boolean; // the board after it was imagined rightly
  turns: number[]; // the variations that go through it, from 0
  after: Position;
  children: ThoughtNode[];
}

/** The variations of a thought as one tree, in the order they were thought of; a move that is not legal ends its own. */
export function thoughtTree(position: Position, thoughts: readonly (readonly ThoughtMove[])[]): ThoughtNode[] {
  const roots: ThoughtNode[] = [];
  thoughts.forEach((variation, turn) => {
    let [at, level] = [position, roots];
    for (const { move: uci, value, agreed } of variation) {
      const move = parseUci(at, uci);
      if (move === undefined) break;
      let node = level.find((each) => each.uci === uci);
      if (!node) {
        const text = `${at.fullmoves}${at.turn === "white" ? "." : "…"} ${formatSan(at, move)}`;
        node = { uci, text, value, agreed, turns: [], after: at.clone().play(move), children: [] };
        level.push(node);
      }
      Object.assign(node, { value, agreed });
      node.turns.push(turn);
      [at, level] = [node.after, node.children];
    }
  });
  return roots;
}

/** The places of one variation in the tree, first move first. */
export function variationOf(roots: readonly ThoughtNode[], turn: number): ThoughtNode[] {
  const path: ThoughtNode[] = [];
  let level = roots;
  for (;;) {
    const next = level.find(({ turns }) => turns.includes(turn));
    if (!next) return path;
    path.push(next);
    level = next.children;
  }
}
