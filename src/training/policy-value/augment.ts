// Positions that are worth the same, seen another way: chess has two symmetries, as long as nobody may castle or whoever
// moves is told by the encoding itself.
import { MOVE_TABLES, type MoveTableName } from "#encodings";

const META = 12 * 64; // of planes13: the plane of facts

/** Moves by what they become when each square is moved to another; -1 stays. */
function permutation(table: MoveTableName, flip: number): Int16Array {
  const { size } = MOVE_TABLES[table];
  const moves = MOVE_TABLES[table];
  const ranks = flip >= 8; // the move becomes the other side's
  return Int16Array.from({ length: size }, (_, index) => {
    const named = moves.named(index, false);
    if (!named) return index;
    const { from, to, promotion } = named;
    return moves.indexOfNamed({ from: from ^ flip, to: to ^ flip, promotion }, ranks);
  });
}

const known = new Map<string, Int16Array>();

/** Renames the moves of a row, up to the first -1. */
export function flipMoves(row: Int32Array, table: MoveTableName, flip: number): void {
  const key = `${table} ${flip}`;
  let to = known.get(key);
  if (!to) {
    to = permutation(table, flip);
    known.set(key, to);
  }
  for (let i = 0; i < row.length && row[i] >= 0; i++) row[i] = to[row[i]];
}

/** Turns planes left to right. No castling right may be left. */
export function mirrorFiles(planes: Float32Array): void {
  for (let at = 0; at < planes.length; at += 8) planes.subarray(at, at + 8).reverse();
}

/** Gives each side the other's pieces, on the board turned top to bottom: for planes13, which shows White below. */
export function swapColours(planes: Float32Array): void {
  const before = planes.slice();
  for (let plane = 0; plane < 12; plane++) {
    for (let square = 0; square < 64; square++)
      planes[plane * 64 + square] = before[((plane + 6) % 12) * 64 + (square ^ 56)];
  }
  const row = (to: number, from: number) => {
    for (let file = 0; file < 8; file++) planes[META + to * 8 + file] = before[META + from * 8 + file];
  };
  row(0, 2); // the rights to castle short, long
  row(1, 3);
  row(2, 0);
  row(3, 1);
  for (let file = 0; file < 8; file++) planes[META + 32 + file] = 1 - before[META + 32 + file]; // whose move it is
}
