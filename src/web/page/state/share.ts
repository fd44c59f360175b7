import { UserError } from "#base";
import { formatFen, parseFen, parseUci, START_FEN } from "#chess";
import { GameTree, lineThrough } from "./tree.js";

/** The start and the line up to the current node, for the part of an address behind "?". */
export function formatShared(tree: GameTree): string {
  const fen = formatFen(tree.start);
  const words = new URLSearchParams();
  if (fen !== START_FEN) words.set("fen", fen);
  if (tree.start.chess960) words.set("chess960", "1");
  const moves = lineThrough(tree.current).map(({ uci }) => uci);
  if (moves.length > 0) words.set("moves", moves.join("."));
  if (tree.current.ply < moves.length) words.set("ply", String(tree.current.ply));
  return words.toString();
}

/** The other way round; undefined if there is nothing shared in it. */
export function parseShared(query: string): GameTree | undefined {
  const words = new URLSearchParams(query);
  const [fen, moves] = [words.get("fen"), words.get("moves")];
  if (fen === null && moves === null) return undefined;
  const tree = new GameTree(parseFen(fen ?? START_FEN, { chess960: words.has("chess960") }));
  for (const word of (moves ?? "").split(".").filter(Boolean)) {
    const move = parseUci(tree.position, word);
    if (move === undefined)
      throw new UserError("SHARE_MOVE", `The link holds the move "${word.slice(0, 10)}", which is not legal there.`);
    tree.play(move);
  }
  const ply = Number(words.get("ply") ?? tree.current.ply);
  const node = lineThrough(tree.current)[ply - 1];
  tree.go(ply === 0 ? tree.root : (node ?? tree.current));
  return tree;
}
