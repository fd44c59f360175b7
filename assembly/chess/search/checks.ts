// Which moves give check. `findChecks` looks once at a position, after that a move is two tests.
import { between, bishopAttacks, bit, knightAttacks, line, openBishopAttacks, openRookAttacks, pawnAttacks, rookAttacks } from "../rules/attacks";
import { checkSquares } from "./frame";
import {
  BISHOP, CASTLING, colorSet, EN_PASSANT, isShortCastling, KNIGHT, kingSquare, moveFrom, moveKind, movePromotion,
  moveTo, occupied, pieceOn, QUEEN, ROOK, roleSet, side,
} from "../rules/position";

/** Finds the squares from which the enemy king would be in check, and our pieces that uncover a check when they leave its line. */
export function findChecks(frame: usize): void {
  const us = side(frame);
  const king = kingSquare(frame, us ^ 1);
  const all = occupied(frame);
  const own = colorSet(frame, us);
  const queens = roleSet(frame, QUEEN);
  const diagonal = bishopAttacks(king, all);
  const straight = rookAttacks(king, all);
  const at = checkSquares(frame);
  store<u64>(at, pawnAttacks(us ^ 1, king));
  store<u64>(at, knightAttacks(king), 8);
  store<u64>(at, diagonal, 16);
  store<u64>(at, straight, 24);
  store<u64>(at, diagonal | straight, 32);
  store<u64>(at, 0, 40);
  let uncover: u64 = 0;
  let snipers = ((openRookAttacks(king) & (roleSet(frame, ROOK) | queens)) | (openBishopAttacks(king) & (roleSet(frame, BISHOP) | queens))) & own;
  while (snipers) {
    const shield = between(king, <i32>ctz(snipers)) & all;
    snipers &= snipers - 1;
    if (!(shield & (shield - 1))) uncover |= shield & own;
  }
  store<u64>(at, uncover, 48);
}

/** Whether a legal move gives check; `findChecks` has looked at the position. */
@inline
export function givesCheck(frame: usize, move: i32): bool {
  const from = moveFrom(move);
  const to = moveTo(move);
  const kind = moveKind(move);
  const at = checkSquares(frame);
  if (kind) return specialGivesCheck(frame, move);
  if (load<u64>(at + (((pieceOn(frame, from) & 7) - 1) << 3)) & bit(to)) return true;
  if (!(load<u64>(at, 48) & bit(from))) return false;
  return !(line(kingSquare(frame, side(frame) ^ 1), from) & bit(to));
}

/** Promotions, en passant and castling: look at the sliders anew. */
function specialGivesCheck(p: usize, move: i32): bool {
  const us = side(p);
  const from = moveFrom(move);
  const to = moveTo(move);
  const kind = moveKind(move);
  const king = kingSquare(p, us ^ 1);
  const queens = roleSet(p, QUEEN);
  let own = colorSet(p, us) & ~bit(from);
  let occ = occupied(p) ^ bit(from);
  let diagonal = roleSet(p, BISHOP) | queens;
  let straight = roleSet(p, ROOK) | queens;
  if (kind == CASTLING) {
    const home = to & 56;
    const rook = bit(home + (isShortCastling(move) ? 5 : 3));
    own = (own & ~bit(to)) | rook;
    occ = (occ & ~bit(to)) | rook | bit(home + (isShortCastling(move) ? 6 : 2));
    straight |= rook;
  } else {
    occ |= bit(to);
    if (kind == EN_PASSANT) {
      occ ^= bit(to ^ 8);
      if (pawnAttacks(us, to) & bit(king)) return true;
    } else {
      const role = movePromotion(move);
      own |= bit(to);
      diagonal &= ~bit(to);
      straight &= ~bit(to);
      if (role == BISHOP || role == QUEEN) diagonal |= bit(to);
      if (role == ROOK || role == QUEEN) straight |= bit(to);
      if (role == KNIGHT && knightAttacks(to) & bit(king)) return true;
    }
  }
  return (bishopAttacks(king, occ) & diagonal & own) != 0 || (rookAttacks(king, occ) & straight & own) != 0;
}
