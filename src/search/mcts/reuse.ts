import type { Position } from "#chess";
import { ROOT, Tree } from "./tree.js";

/** The node of `next` in the tree of `root`, by the moves played since; undefined if it was not visited or is no descendant. */
export function findDescendant(tree: Tree, root: Position, next: Position): number | undefined {
  const plies = next.history.length - root.history.length;
  if (plies < 0) return undefined;
  const back = next.clone();
  const moves = Array.from({ length: plies }, () => back.undo() as number).reverse();
  // The same position is not enough: what can still be repeated belongs to it.
  if (!sameBytes(back.bytes(), root.bytes()) || back.repeatableKeys().join() !== root.repeatableKeys().join())
    return undefined;
  let node: number | undefined = ROOT;
  for (const move of moves) node = node === undefined ? undefined : tree.childBy(node, move);
  return node !== undefined && tree.first[node] > 0 ? node : undefined;
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, i) => byte === b[i]);

/**
 * A tree of its own for what stands below `node`, with all statistics. A draw by repeating a position that now lies
 * before the root is forgotten: one repetition of the game's own positions is not yet a draw.
 */
export function keepSubtree(tree: Tree, node: number): Tree {
  const slots = countSubtree(tree, node);
  const kept = new Tree(Math.max(1024, Math.ceil(slots * 1.5)));
  const source = new Int32Array(slots); // of each kept slot
  const depth = new Uint16Array(slots);
  kept.foresees = tree.foresees;
  kept.knowsDraws = tree.knowsDraws;
  kept.size = slots;
  source[ROOT] = node;
  let next = 1;
  for (let slot = 0; slot < slots; slot++) {
    const from = source[slot];
    copyNode(tree, from, kept, slot);
    const count = tree.count[from];
    if (count === 0) {
      const isRepetition = tree.isProven(from) && tree.lower[from] === 0 && tree.plies[from] > 0;
      if (isRepetition && tree.plies[from] > depth[slot]) reopen(kept, slot);
      continue;
    }
    kept.first[slot] = next;
    depth.fill(depth[slot] + 1, next, next + count);
    // A search that was interrupted leaves gaps among the visited children; selection counts on there being none.
    const children = tree.first[from];
    for (let child = children; child < children + count; child++) if (tree.visits[child] > 0) source[next++] = child;
    for (let child = children; child < children + count; child++) if (tree.visits[child] === 0) source[next++] = child;
  }
  // Children stand behind their parents: backwards, what is proven is drawn from children that are settled already.
  for (let slot = slots - 1; slot >= 0; slot--) if (kept.count[slot] > 0) kept.settle(slot);
  return kept;
}

function reopen(tree: Tree, node: number): void {
  tree.lower[node] = -1;
  tree.upper[node] = 1;
  tree.plies[node] = 0;
}

function countSubtree(tree: Tree, node: number): number {
  let slots = 1;
  const open = [node];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    const first = tree.first[parent];
    slots += tree.count[parent];
    for (let i = 0; i < tree.count[parent]; i++) if (tree.first[first + i] > 0) open.push(first + i);
  }
  return slots;
}

function copyNode(from: Tree, source: number, to: Tree, slot: number): void {
  to.visits[slot] = from.visits[source];
  to.inflight[slot] = 0;
  to.valueSum[slot] = from.valueSum[source];
  to.drawSum[slot] = from.drawSum[source];
  to.prior[slot] = from.prior[source];
  to.ownValue[slot] = from.ownValue[source];
  to.move[slot] = from.move[source];
  to.first[slot] = 0;
  to.count[slot] = from.count[source];
  to.lower[slot] = from.lower[source];
  to.upper[slot] = from.upper[source];
  to.plies[slot] = from.plies[source];
}
