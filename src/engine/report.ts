import { formatUci, type Move, movesToMate, type Position, wdlOfScore, wdlOfShares } from "#chess";
import {
  type RootMove,
  type SearchLine,
  type SearchReport,
  type ThoughtMove as SearchThought,
  sharesOf,
} from "#search";
import type { ByMove, Line, Report, ThoughtMove } from "./player.js";

/** The moves of a line in UCI, as far as they are legal. */
export function formatLine(position: Position, line: readonly Move[]): string[] {
  const board = position.clone();
  const words: string[] = [];
  for (const move of line) {
    if (!board.isLegal(move)) break;
    words.push(formatUci(board, move));
    board.play(move);
  }
  return words;
}

/** Numbers of moves by their names, the largest first. */
export const byMove = (position: Position, numbers: readonly (readonly [Move, number])[]): ByMove =>
  Object.fromEntries([...numbers].sort((a, b) => b[1] - a[1]).map(([move, n]) => [formatUci(position, move), n]));

/** What a search found, for whoever asked. */
export function reportOf(
  position: Position,
  { lines, depth, nodes, timeMs, hashFull, moves = [], thoughts }: SearchReport,
): Report {
  const known = (read: (root: RootMove) => number | undefined): ByMove | undefined => {
    const numbers = moves.flatMap((root) => {
      const number = read(root);
      return number === undefined ? [] : [[root.move, number] as const];
    });
    return numbers.length === 0 ? undefined : byMove(position, numbers);
  };
  const [policy, visits, values] = [known(({ share }) => share), known((root) => root.visits), known((r) => r.value)];
  return {
    lines: lines.map((line) => lineOf(position, line)),
    depth,
    nodes,
    timeMs,
    hashFull,
    ...(policy && { policy }),
    ...(visits && { visits }),
    ...(values && { values }),
    ...(thoughts && { thoughts: thoughts.map((variation) => thoughtOf(position, variation)) }),
  };
}

function thoughtOf(position: Position, variation: readonly SearchThought[]): ThoughtMove[] {
  const names = formatLine(
    position,
    variation.map(({ move }) => move),
  );
  return names.map((move, i) => {
    const { value, wrongTokens } = variation[i];
    return { move, value, wdl: wdlOfShares(sharesOf(variation[i])), agreed: wrongTokens === 0 };
  });
}

const lineOf = (position: Position, { scoreCp, wdl, depth, selDepth, visits, pv }: SearchLine): Line => ({
  scoreCp,
  mate: movesToMate(scoreCp),
  wdl: wdl ? wdlOfShares(wdl) : wdlOfScore(scoreCp, position.material()),
  depth,
  selDepth,
  visits,
  pv: formatLine(position, pv),
});
