import { formatSan, formatUci, type Move, type Position } from "#chess";
import type { Verdict } from "./verdict.js";

/** A move and the position after it. The root has no move. */
export interface MoveNode {
  readonly ply: number; // moves since the start
  readonly move: Move; // 0 at the root
  readonly uci: string;
  readonly san: string;
  readonly parent: MoveNode | undefined;
  readonly children: MoveNode[]; // the main continuation first
  comments: string[];
  nags: number[];
  clockMs?: number; // what the mover had left
  verdict?: Verdict;
}

const emptyNode = (ply: number, move: Move, uci: string, san: string, parent: MoveNode | undefined): MoveNode => ({
  ply,
  move,
  uci,
  san,
  parent,
  children: [],
  comments: [],
  nags: [],
});

/** A game with its variations, and the place in it that is on the board. */
export class GameTree {
  readonly root: MoveNode = emptyNode(0, 0, "", "", undefined);
  private here: MoveNode = this.root;
  private board: Position;

  /** `start` is read once and not changed. */
  constructor(readonly start: Position) {
    this.board = start.clone();
  }

  get current(): MoveNode {
    return this.here;
  }

  /** The position at the current node, with its history; not to be changed. */
  get position(): Position {
    return this.board;
  }

  /** Plays a legal move from the current node: along a line that is there already, or as a new one at the end. */
  play(move: Move): MoveNode {
    const known = this.here.children.find((child) => child.move === move);
    const node = known ?? this.add(this.here, this.board, move);
    this.board = this.board.clone().play(move);
    this.here = node;
    return node;
  }

  /** Adds a move below any node without going there; `position` is the one at the node. */
  add(parent: MoveNode, position: Position, move: Move): MoveNode {
    const known = parent.children.find((child) => child.move === move);
    if (known) return known;
    const node = emptyNode(parent.ply + 1, move, formatUci(position, move), formatSan(position, move), parent);
    parent.children.push(node);
    return node;
  }

  go(node: MoveNode): void {
    if (node === this.here) return;
    this.board = node.parent === this.here ? this.board.clone().play(node.move) : this.positionAt(node);
    this.here = node;
  }

  /** The position at a node, with its history. */
  positionAt(node: MoveNode): Position {
    const position = this.start.clone();
    for (const { move } of pathTo(node)) position.playUnchecked(move);
    return position;
  }

  /** Removes a node and all after it; the current place moves to its parent if it was inside. */
  remove(node: MoveNode): void {
    const { parent } = node;
    if (!parent) return;
    if (pathTo(this.here).includes(node)) this.go(parent);
    parent.children.splice(parent.children.indexOf(node), 1);
  }

  /** Makes the line that leads to a node the main one. */
  promote(node: MoveNode): void {
    for (let at: MoveNode | undefined = node; at?.parent; at = at.parent) {
      const { children } = at.parent;
      children.splice(children.indexOf(at), 1);
      children.unshift(at);
    }
  }
}

/** The nodes from the first move to this one; none for the root. */
export function pathTo(node: MoveNode): MoveNode[] {
  const path: MoveNode[] = [];
  for (let at: MoveNode | undefined = node; at?.parent; at = at.parent) path.push(at);
  return path.reverse();
}

/** The end of the main continuation from a node. */
export function endOf(node: MoveNode): MoveNode {
  let end = node;
  while (end.children.length > 0) end = end.children[0];
  return end;
}

/** The line through a node: from the first move past the node to the end of its main continuation. */
export function lineThrough(node: MoveNode): MoveNode[] {
  return pathTo(endOf(node));
}
