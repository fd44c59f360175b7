// Between our moves and chessground's squares.
import type { Key } from "@lichess-org/chessground/types";
import {
  castlingTarget,
  formatSquare,
  isCastling,
  type Move,
  moveFrom,
  moveTo,
  type Position,
  parseSquare,
} from "#chess";

export const keyOf = (square: number): Key => formatSquare(square) as Key;

/** The squares a move of this position can be made to: castling by the king's target too, unless it is Chess960. */
function targetsOf(position: Position, move: Move): number[] {
  if (!isCastling(move) || position.chess960) return [moveTo(move)];
  return [castlingTarget(move), moveTo(move)];
}

/** Where each piece may go. */
export function destinations(position: Position): Map<Key, Key[]> {
  const found = new Map<Key, Key[]>();
  for (const move of position.moves()) {
    const from = keyOf(moveFrom(move));
    const keys = found.get(from) ?? [];
    for (const square of targetsOf(position, move)) if (!keys.includes(keyOf(square))) keys.push(keyOf(square));
    found.set(from, keys);
  }
  return found;
}

/** The legal moves from one square to another; several if a pawn promotes. */
export function movesBetween(position: Position, from: Key, to: Key): Move[] {
  const [a, b] = [parseSquare(from), parseSquare(to)];
  return position
    .moves()
    .filter((move) => moveFrom(move) === a && b !== undefined && targetsOf(position, move).includes(b));
}

/** The squares to mark for a move that was played. */
export const keysOf = (move: Move, castled: boolean): Key[] => [
  keyOf(moveFrom(move)),
  keyOf(castled ? castlingTarget(move) : moveTo(move)),
];
