import { UserError } from "#base";
import { type Position, parseFen, parseSan, parseUci } from "#chess";
import { formatGame, type Game, type Line, NO_CLOCK, NO_EVAL, parseGames, type Result } from "#formats";
import { endOf, GameTree, lineThrough, type MoveNode } from "./tree.js";

/** A game as text, read. */
export interface ReadGame {
  tree: GameTree;
  tags: Map<string, string>;
  result: Result;
  skipped: number; // games after the first
}

/** A tree from the first game of a PGN; a text without tags and moves is refused in words. */
export function parseTree(text: string): ReadGame {
  const games = parseGames(text, { source: "PGN" });
  const game = games[0];
  if (!game || (game.plies === 0 && game.tags.size === 0))
    throw new UserError("PGN_EMPTY", "There is no game in this text. Expected moves as in 1. e4 e5, or a FEN.");
  if (game.unsupportedVariant !== undefined)
    throw new UserError("PGN_VARIANT", `The variant "${game.unsupportedVariant}" is not chess or Chess960.`);
  const tree = new GameTree(game.start);
  addLine(tree, tree.root, game);
  return { tree, tags: new Map(game.tags), result: game.result, skipped: games.length - 1 };
}

/** Adds a game's moves below a node, and its variations. */
function addLine(tree: GameTree, from: MoveNode, game: Game): void {
  const position = game.start;
  let node = from;
  for (let ply = 0; ply <= game.plies; ply++) {
    const parent = node;
    if (ply > 0) {
      node = tree.add(parent, position, game.moves[ply - 1]);
      position.playUnchecked(game.moves[ply - 1]);
    }
    node.comments.push(...game.comments(ply));
    node.nags.push(...game.nags(ply));
    if (game.clocksMs[ply] !== NO_CLOCK) node.clockMs = game.clocksMs[ply];
    if (game.evals[ply] !== NO_EVAL) node.verdict = { by: "PGN", whiteCp: game.evals[ply] };
    for (const variation of game.variations(ply, () => {})) addLine(tree, parent, variation);
  }
}

/** The tree as PGN, with variations, clocks and evaluations. */
export function formatTree(tree: GameTree, tags: ReadonlyMap<string, string>, result: Result): string {
  return formatGame({ ...lineOf(tree, tree.root), tags, result });
}

/** The main line below a node; `first` begins it where it is a variation. */
function lineOf(tree: GameTree, from: MoveNode, first?: MoveNode): Line {
  const nodes = [from, ...(first ? [first, ...lineBelow(first)] : lineBelow(from))];
  const hasNotes = (ply: number) => ply > 0 || !first; // what stands before a variation was said in the line it leaves
  return {
    start: tree.positionAt(from),
    moves: nodes.slice(1).map(({ move }) => move),
    evals: nodes.map(({ verdict }, ply) => (hasNotes(ply) ? verdict?.whiteCp : undefined) ?? NO_EVAL),
    clocksMs: nodes.map(({ clockMs }, ply) =>
      clockMs === undefined || !hasNotes(ply) ? NO_CLOCK : Math.max(0, Math.round(clockMs)),
    ),
    comments: (ply) => (hasNotes(ply) ? nodes[ply].comments : []),
    nags: (ply) => (hasNotes(ply) ? nodes[ply].nags : []),
    variations: (ply) => {
      const node = nodes[ply];
      const siblings = node === first || !node.parent ? [] : node.parent.children.slice(1);
      return siblings.map((sibling) => lineOf(tree, node.parent as MoveNode, sibling));
    },
  };
}

const lineBelow = (node: MoveNode): MoveNode[] => lineThrough(endOf(node)).slice(node.ply);

/** A legal move as a person may type it: SAN or UCI, in any case where that is clear. */
export function parseTyped(position: Position, text: string): number | undefined {
  const word = text.trim();
  if (word === "") return undefined;
  const capital = word.replace(/^[nrqk]/, (letter) => letter.toUpperCase());
  return parseUci(position, word.toLowerCase()) ?? parseSan(position, word) ?? parseSan(position, capital) ?? undefined;
}

/** Text that begins like a board of FEN. */
export const looksLikeFen = (text: string): boolean => /^\s*([pnbrqk1-8]+\/){7}[pnbrqk1-8]+/i.test(text);

/** Reads a PGN or a FEN, whichever it is. */
export function parseAny(text: string): ReadGame {
  if (!looksLikeFen(text)) return parseTree(text);
  return { tree: new GameTree(parseFen(text)), tags: new Map(), result: "*", skipped: 0 };
}
