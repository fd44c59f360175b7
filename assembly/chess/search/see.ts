// Static exchange evaluation: what a move wins or loses in centipawns if both sides go on capturing on its target
// square with their least valuable piece, and either may stop.
import { bishopAttacks, bit, rookAttacks } from "../rules/attacks";
import {
  attackersTo, BISHOP, CASTLING, colorSet, EN_PASSANT, KING, moveFrom, moveKind, movePromotion, moveTo, occupied,
  PAWN, PROMOTION, pieceOn, QUEEN, ROOK, roleSet, side,
} from "../rules/position";

const VALUES: usize = memory.data<i32>([100, 320, 330, 500, 950, 20000]);

@inline
function value(role: i32): i32 {
  return load<i32>(VALUES + (role << 2));
}

/** The value of the exchange for the mover. `gains` has room for 40 numbers of 4 bytes. */
export function see(p: usize, move: i32, gains: usize): i32 {
  if (moveKind(move) == CASTLING) return 0;
  const from = moveFrom(move);
  const to = moveTo(move);
  let occ = occupied(p) ^ bit(from);
  let next = (pieceOn(p, from) & 7) - 1; // the piece that stands on the square after each capture
  let gain = 0;
  const victim = pieceOn(p, to);
  if (victim) gain = value((victim & 7) - 1);
  if (moveKind(move) == EN_PASSANT) {
    gain = value(PAWN);
    occ ^= bit(to ^ 8);
  }
  if (moveKind(move) == PROMOTION) {
    next = movePromotion(move);
    gain += value(next) - value(PAWN);
  }
  store<i32>(gains, gain);

  const diagonal = roleSet(p, BISHOP) | roleSet(p, QUEEN);
  const straight = roleSet(p, ROOK) | roleSet(p, QUEEN);
  let attackers = attackersTo(p, to, occ) & occ;
  let color = side(p) ^ 1;
  let depth = 0;
  while (true) {
    const ours = attackers & colorSet(p, color);
    if (!ours) break;
    let role = PAWN;
    while (!(ours & roleSet(p, role))) role++;
    // A king may not capture what is still defended.
    if (role == KING && attackers & colorSet(p, color ^ 1)) break;
    depth++;
    store<i32>(gains + (depth << 2), value(next) - load<i32>(gains + ((depth - 1) << 2)));
    next = role;
    const capturer = ours & roleSet(p, role);
    occ ^= capturer & -capturer;
    attackers |= (bishopAttacks(to, occ) & diagonal) | (rookAttacks(to, occ) & straight);
    attackers &= occ;
    color ^= 1;
  }
  while (depth > 0) {
    const reply = load<i32>(gains + (depth << 2));
    depth--;
    const kept = load<i32>(gains + (depth << 2));
    store<i32>(gains + (depth << 2), -max(-kept, reply));
  }
  return load<i32>(gains);
}

/** Whether the exchange wins at least `threshold` centipawns for the mover: stops as soon as that is decided. */
export function seeAtLeast(p: usize, move: i32, threshold: i32): bool {
  if (moveKind(move) == CASTLING) return threshold <= 0;
  const from = moveFrom(move);
  const to = moveTo(move);
  let next = (pieceOn(p, from) & 7) - 1;
  let occ = occupied(p) ^ bit(from);
  let balance = -threshold;
  const victim = pieceOn(p, to);
  if (victim) balance += value((victim & 7) - 1);
  if (moveKind(move) == EN_PASSANT) {
    balance += value(PAWN);
    occ ^= bit(to ^ 8);
  }
  if (moveKind(move) == PROMOTION) {
    next = movePromotion(move);
    balance += value(next) - value(PAWN);
  }
  if (balance < 0) return false; // not even if the piece stays
  balance -= value(next);
  if (balance >= 0) return true; // even if the piece is lost for nothing

  const diagonal = roleSet(p, BISHOP) | roleSet(p, QUEEN);
  const straight = roleSet(p, ROOK) | roleSet(p, QUEEN);
  let attackers = attackersTo(p, to, occ) & occ;
  let color = side(p) ^ 1;
  while (true) {
    const ours = attackers & colorSet(p, color);
    if (!ours) break;
    let role = PAWN;
    while (!(ours & roleSet(p, role))) role++;
    const capturer = ours & roleSet(p, role);
    occ ^= capturer & -capturer;
    // Who stood behind the capturer comes forward.
    if (role == PAWN || role == BISHOP || role == QUEEN) attackers |= bishopAttacks(to, occ) & diagonal;
    if (role == ROOK || role == QUEEN) attackers |= rookAttacks(to, occ) & straight;
    attackers &= occ;
    color ^= 1;
    balance = -balance - 1 - value(role);
    if (balance >= 0) {
      // A king that captured what is still defended could not have done so.
      if (role == KING && attackers & colorSet(p, color)) color ^= 1;
      break;
    }
  }
  return side(p) != color;
}
