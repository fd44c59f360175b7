// The legal moves of a position, straight to legality: pins and checks first, then only moves that respect them.
import { NO_SQUARE } from "./layout";
import {
  between, bishopAttacks, bit, FILE_A, FILE_H, kingAttacks, knightAttacks, line, openBishopAttacks, openRookAttacks,
  pawnAttacks, RANK_1, RANK_8, rookAttacks,
} from "./attacks";
import {
  BISHOP, BLACK, CASTLING, castlingRights, castlingRook, colorSet, EN_PASSANT, epSquare, isAttacked, KING, KNIGHT,
  kingSquare, moveFrom, moveKind, moveTo, occupied, PAWN, PROMOTION, pieceOn, QUEEN, ROOK, roleSet, side, WHITE,
} from "./position";

// Which moves are wanted
const ALL: i32 = 0;
const NOISY: i32 = 1; // captures and promotions
const QUIET: i32 = 2; // the others

@inline
function pushAll(list: usize, from: i32, targets: u64): usize {
  const high = from << 6;
  while (targets) {
    store<u16>(list, high | <i32>ctz(targets));
    list += 2;
    targets &= targets - 1;
  }
  return list;
}

/** Pawn moves whose origin is `delta` below the target. */
@inline
function pushPawns(list: usize, targets: u64, delta: i32): usize {
  while (targets) {
    const to = <i32>ctz(targets);
    store<u16>(list, ((to - delta) << 6) | to);
    list += 2;
    targets &= targets - 1;
  }
  return list;
}

@inline
function pushPromotions(list: usize, targets: u64, delta: i32): usize {
  while (targets) {
    const to = <i32>ctz(targets);
    const move = PROMOTION | ((to - delta) << 6) | to;
    // queen, rook, bishop, knight in one store
    store<u64>(list, (<u64>(move | (3 << 12))) | (<u64>(move | (2 << 12)) << 16) | (<u64>(move | (1 << 12)) << 32) | (<u64>move << 48));
    list += 8;
    targets &= targets - 1;
  }
  return list;
}

/** All moves of the given pawns that end in `allowed`, except en passant. */
@inline
function generatePawns(list: usize, pawns: u64, empty: u64, enemy: u64, allowed: u64, white: bool, wanted: i32): usize {
  const lastRank = white ? RANK_8 : RANK_1;
  const thirdRank: u64 = white ? 0xff0000 : 0xff0000000000;
  const up = white ? 8 : -8;
  const left = white ? 7 : -9;
  const right = white ? 9 : -7;
  const one = (white ? pawns << 8 : pawns >> 8) & empty;
  const two = (white ? (one & thirdRank) << 8 : (one & thirdRank) >> 8) & empty & allowed;
  const single = one & allowed;
  const takeable = enemy & allowed;
  const leftward = (white ? (pawns & ~FILE_A) << 7 : (pawns & ~FILE_A) >> 9) & takeable;
  const rightward = (white ? (pawns & ~FILE_H) << 9 : (pawns & ~FILE_H) >> 7) & takeable;
  if (wanted != NOISY) {
    list = pushPawns(list, single & ~lastRank, up);
    list = pushPawns(list, two, up + up);
    if (wanted == QUIET) return list;
  }
  list = pushPawns(list, leftward & ~lastRank, left);
  list = pushPawns(list, rightward & ~lastRank, right);
  if ((single | leftward | rightward) & lastRank) {
    list = pushPromotions(list, single & lastRank, up);
    list = pushPromotions(list, leftward & lastRank, left);
    list = pushPromotions(list, rightward & lastRank, right);
  }
  return list;
}

/** Castling moves; the side is not in check. */
function generateCastling(p: usize, list: usize, us: i32, king: i32, occupied: u64): usize {
  const home = us == WHITE ? 0 : 56;
  for (let long = 0; long < 2; long++) {
    const right = us * 2 + long;
    if (!(castlingRights(p) & (1 << right))) continue;
    const rook = castlingRook(p, right);
    const kingTo = home + (long ? 2 : 6);
    const rookTo = home + (long ? 3 : 5);
    const others = occupied & ~bit(king) & ~bit(rook);
    const path = between(king, kingTo) | between(rook, rookTo) | bit(kingTo) | bit(rookTo);
    if (path & others) continue;
    // Nothing may attack the king on its way, nor where it arrives once the rook has left its shelter (Chess960).
    if (isAttacked(p, kingTo, us ^ 1, others | bit(rookTo), ~(<u64>0))) continue;
    let way = between(king, kingTo);
    let safe = true;
    while (way && safe) {
      safe = !isAttacked(p, <i32>ctz(way), us ^ 1, occupied & ~bit(king), ~(<u64>0));
      way &= way - 1;
    }
    if (!safe) continue;
    store<u16>(list, CASTLING | (king << 6) | rook);
    list += 2;
  }
  return list;
}

@inline
function generateFor(p: usize, start: usize, white: bool, wanted: i32): usize {
  let list = start;
  const us = white ? WHITE : BLACK;
  const them = us ^ 1;
  const own = colorSet(p, us);
  const enemy = colorSet(p, them);
  const occupied = own | enemy;
  const queens = roleSet(p, QUEEN);
  const king = <i32>ctz(roleSet(p, KING) & own);
  const enemyStraight = (roleSet(p, ROOK) | queens) & enemy;
  const enemyDiagonal = (roleSet(p, BISHOP) | queens) & enemy;

  // Enemy sliders that would see the king on an empty board: with nothing between they check, with one piece they pin.
  let checkers = (pawnAttacks(us, king) & roleSet(p, PAWN) & enemy) | (knightAttacks(king) & roleSet(p, KNIGHT) & enemy);
  let pinned: u64 = 0;
  let snipers = (openRookAttacks(king) & enemyStraight) | (openBishopAttacks(king) & enemyDiagonal);
  while (snipers) {
    const sniper = <i32>ctz(snipers);
    snipers &= snipers - 1;
    const shield = between(king, sniper) & occupied;
    if (!shield) checkers |= bit(sniper);
    else if (!(shield & (shield - 1))) pinned |= shield & own;
  }

  // King
  const withoutKing = occupied ^ bit(king);
  let allowed = wanted == NOISY ? enemy : wanted == QUIET ? ~occupied : ~own; // where pieces may go
  let pawnsAllowed = ~own;
  let targets = kingAttacks(king) & allowed;
  while (targets) {
    const to = <i32>ctz(targets);
    targets &= targets - 1;
    if (isAttacked(p, to, them, withoutKing, ~(<u64>0))) continue;
    store<u16>(list, (king << 6) | to);
    list += 2;
  }

  if (checkers) {
    if (checkers & (checkers - 1)) return list; // two at once: only the king can move
    const answers = checkers | between(king, <i32>ctz(checkers));
    allowed &= answers;
    pawnsAllowed &= answers;
  } else if (wanted != NOISY && castlingRights(p) & (white ? 3 : 12)) {
    list = generateCastling(p, list, us, king, occupied);
  }

  // Pawns
  const pawns = roleSet(p, PAWN) & own;
  list = generatePawns(list, pawns & ~pinned, ~occupied, enemy, pawnsAllowed, white, wanted);
  let pinnedPawns = pawns & pinned;
  while (pinnedPawns) {
    const from = <i32>ctz(pinnedPawns);
    pinnedPawns &= pinnedPawns - 1;
    list = generatePawns(list, bit(from), ~occupied, enemy, pawnsAllowed & line(king, from), white, wanted);
  }
  const ep = epSquare(p);
  if (wanted != QUIET && ep != NO_SQUARE) {
    const alive = ~bit(ep ^ 8);
    let takers = pawnAttacks(them, ep) & pawns;
    while (takers) {
      const from = <i32>ctz(takers);
      takers &= takers - 1;
      if (isAttacked(p, king, them, (occupied & alive & ~bit(from)) | bit(ep), alive)) continue;
      store<u16>(list, EN_PASSANT | (from << 6) | ep);
      list += 2;
    }
  }

  // Pieces; a pinned knight cannot move at all
  let knights = roleSet(p, KNIGHT) & own & ~pinned;
  while (knights) {
    const from = <i32>ctz(knights);
    knights &= knights - 1;
    list = pushAll(list, from, knightAttacks(from) & allowed);
  }
  let diagonal = (roleSet(p, BISHOP) | queens) & own;
  while (diagonal) {
    const from = <i32>ctz(diagonal);
    diagonal &= diagonal - 1;
    if (wanted == NOISY && !(openBishopAttacks(from) & allowed)) continue;
    let reach = bishopAttacks(from, occupied) & allowed;
    if (pinned & bit(from)) reach &= line(king, from);
    list = pushAll(list, from, reach);
  }
  let straight = (roleSet(p, ROOK) | queens) & own;
  while (straight) {
    const from = <i32>ctz(straight);
    straight &= straight - 1;
    if (wanted == NOISY && !(openRookAttacks(from) & allowed)) continue;
    let reach = rookAttacks(from, occupied) & allowed;
    if (pinned & bit(from)) reach &= line(king, from);
    list = pushAll(list, from, reach);
  }
  return list;
}

/** Writes the legal moves, 2 bytes each, and returns how many there are. */
export function generate(p: usize, list: usize): i32 {
  const end = side(p) == WHITE ? generateFor(p, list, true, ALL) : generateFor(p, list, false, ALL);
  return <i32>((end - list) >> 1);
}

/** Like `generate`, but only captures and promotions. */
export function generateNoisy(p: usize, list: usize): i32 {
  const end = side(p) == WHITE ? generateFor(p, list, true, NOISY) : generateFor(p, list, false, NOISY);
  return <i32>((end - list) >> 1);
}

/** The moves that `generateNoisy` leaves out. */
export function generateQuiet(p: usize, list: usize): i32 {
  const end = side(p) == WHITE ? generateFor(p, list, true, QUIET) : generateFor(p, list, false, QUIET);
  return <i32>((end - list) >> 1);
}

/** Whether any 16 bits are a legal move here. `list` has room for a move list. */
export function isLegal(p: usize, move: i32, list: usize): bool {
  const us = side(p);
  const from = moveFrom(move);
  const to = moveTo(move);
  const kind = moveKind(move);
  const piece = pieceOn(p, from);
  if (piece == 0 || piece >> 3 != us) return false;
  if (kind == CASTLING || kind == EN_PASSANT) {
    const count = generate(p, list);
    for (let i = 0; i < count; i++) if (load<u16>(list + (i << 1)) == move) return true;
    return false;
  }
  if (kind != PROMOTION && move >> 12) return false;
  const own = colorSet(p, us);
  const occ = occupied(p);
  if (own & bit(to)) return false;
  const role = (piece & 7) - 1;
  let reach: u64 = 0;
  if (role == PAWN) {
    if (((to >> 3) % 7 == 0) != (kind == PROMOTION)) return false;
    const one = us == WHITE ? bit(from) << 8 : bit(from) >> 8;
    reach = pawnAttacks(us, from) & occ;
    if (!(one & occ)) {
      reach |= one;
      if (from >> 3 == (us == WHITE ? 1 : 6)) reach |= (us == WHITE ? one << 8 : one >> 8) & ~occ;
    }
  } else {
    if (kind == PROMOTION) return false;
    if (role == KNIGHT) reach = knightAttacks(from);
    else if (role == KING) reach = kingAttacks(from);
    else {
      if (role != ROOK) reach = bishopAttacks(from, occ);
      if (role != BISHOP) reach |= rookAttacks(from, occ);
    }
  }
  if (!(reach & bit(to))) return false;
  const king = role == KING ? to : kingSquare(p, us);
  return !isAttacked(p, king, us ^ 1, (occ ^ bit(from)) | bit(to), ~bit(to));
}
