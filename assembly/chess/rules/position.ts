// Positions in memory, laid out as layout.ts says: reading them, playing moves, keys.
//
// A move is 16 bits as in Stockfish's training data: to 0-5, from 6-11, promotion (N B R Q) 12-13, kind 14-15.
import {
  CASTLERS_AT, COLORS_AT, EP_AT, FULLMOVES_AT, HALFMOVES_AT, KEY_AT, MAILBOX_AT, NO_SQUARE, RIGHTS_AT, ROOKS_AT,
  SIDE_AT,
} from "./layout";
import {
  bishopAttacks, bit, kingAttacks, knightAttacks, openBishopAttacks, openRookAttacks, pawnAttacks, rookAttacks,
} from "./attacks";

export const WHITE: i32 = 0;
export const BLACK: i32 = 1;
export const PAWN: i32 = 0;
export const KNIGHT: i32 = 1;
export const BISHOP: i32 = 2;
export const ROOK: i32 = 3;
export const QUEEN: i32 = 4;
export const KING: i32 = 5;

export const PROMOTION: i32 = 1 << 14;
export const EN_PASSANT: i32 = 2 << 14;
export const CASTLING: i32 = 3 << 14;

const PIECE_KEYS: usize = memory.data(16 * 64 * 8, 64); // [piece as in the mailbox][square]
const CASTLING_KEYS: usize = memory.data(16 * 8, 64);
const EP_KEYS: usize = memory.data(65 * 8, 64); // the last one, for none, is zero
const BLACK_KEY: u64 = 0x9d39247e33776d41;

@inline
export function roleSet(p: usize, role: i32): u64 {
  return load<u64>(p + (role << 3));
}

@inline
export function colorSet(p: usize, color: i32): u64 {
  return load<u64>(p + (color << 3), COLORS_AT);
}

@inline
export function occupied(p: usize): u64 {
  return load<u64>(p, COLORS_AT) | load<u64>(p, COLORS_AT + 8);
}

/** What stands on the square, as in the mailbox: 0, or role 1..6 | colour << 3. */
@inline
export function pieceOn(p: usize, square: i32): i32 {
  return load<u8>(p + square, MAILBOX_AT);
}

@inline
export function key(p: usize): u64 {
  return load<u64>(p, KEY_AT);
}

@inline
export function castlingRights(p: usize): i32 {
  return load<u8>(p, RIGHTS_AT);
}

@inline
export function epSquare(p: usize): i32 {
  return load<u8>(p, EP_AT);
}

@inline
export function side(p: usize): i32 {
  return load<u8>(p, SIDE_AT);
}

@inline
export function rule50(p: usize): i32 {
  return load<u16>(p, HALFMOVES_AT);
}

/** Where the rook of a castling right (0..3, in the order of the rights) started. */
@inline
export function castlingRook(p: usize, right: i32): i32 {
  return load<u8>(p + right, ROOKS_AT);
}

@inline
export function kingSquare(p: usize, color: i32): i32 {
  return <i32>ctz(roleSet(p, KING) & colorSet(p, color));
}

@inline
export function moveFrom(move: i32): i32 {
  return (move >> 6) & 63;
}

@inline
export function moveTo(move: i32): i32 {
  return move & 63;
}

@inline
export function moveKind(move: i32): i32 {
  return move & CASTLING;
}

/** The role a pawn becomes; only for a promotion. */
@inline
export function movePromotion(move: i32): i32 {
  return KNIGHT + ((move >> 12) & 3);
}

/** Whether the king goes towards the h-file. */
@inline
export function isShortCastling(move: i32): bool {
  return moveTo(move) > moveFrom(move);
}

@inline
export function copyPosition(target: usize, source: usize): void {
  v128.store(target, v128.load(source));
  v128.store(target, v128.load(source, 16), 16);
  v128.store(target, v128.load(source, 32), 32);
  v128.store(target, v128.load(source, 48), 48);
  v128.store(target, v128.load(source, 64), 64);
  v128.store(target, v128.load(source, 80), 80);
  v128.store(target, v128.load(source, 96), 96);
  v128.store(target, v128.load(source, 112), 112);
  v128.store(target, v128.load(source, 128), 128);
  v128.store(target, v128.load(source, 144), 144);
}

@inline
function pieceKey(piece: i32, square: i32): u64 {
  return load<u64>(PIECE_KEYS + (((piece << 6) | square) << 3));
}

@inline
function toggle(p: usize, role: i32, color: i32, square: i32): void {
  const set = bit(square);
  const roleAt = p + (role << 3);
  const colorAt = p + (color << 3);
  store<u64>(roleAt, load<u64>(roleAt) ^ set);
  store<u64>(colorAt, load<u64>(colorAt, COLORS_AT) ^ set, COLORS_AT);
}

@inline
function setMailbox(p: usize, square: i32, piece: i32): void {
  store<u8>(p + square, piece, MAILBOX_AT);
}

/** All pieces of both colours that attack the square, given what is occupied. */
export function attackersTo(p: usize, square: i32, occupied: u64): u64 {
  const queens = roleSet(p, QUEEN);
  let found =
    (pawnAttacks(WHITE, square) & colorSet(p, BLACK) & roleSet(p, PAWN)) |
    (pawnAttacks(BLACK, square) & colorSet(p, WHITE) & roleSet(p, PAWN)) |
    (knightAttacks(square) & roleSet(p, KNIGHT)) |
    (kingAttacks(square) & roleSet(p, KING));
  const diagonal = roleSet(p, BISHOP) | queens;
  if (openBishopAttacks(square) & diagonal) found |= bishopAttacks(square, occupied) & diagonal;
  const straight = roleSet(p, ROOK) | queens;
  if (openRookAttacks(square) & straight) found |= rookAttacks(square, occupied) & straight;
  return found;
}

/** Whether a colour attacks the square, given what is occupied; its pieces outside `alive` do not count. */
@inline
export function isAttacked(p: usize, square: i32, by: i32, occupied: u64, alive: u64): bool {
  const enemy = colorSet(p, by) & alive;
  const queens = roleSet(p, QUEEN);
  if (knightAttacks(square) & roleSet(p, KNIGHT) & enemy) return true;
  if (pawnAttacks(by ^ 1, square) & roleSet(p, PAWN) & enemy) return true;
  if (kingAttacks(square) & roleSet(p, KING) & enemy) return true;
  // Most sliders do not even look this way.
  const diagonal = (roleSet(p, BISHOP) | queens) & enemy;
  if (openBishopAttacks(square) & diagonal && bishopAttacks(square, occupied) & diagonal) return true;
  const straight = (roleSet(p, ROOK) | queens) & enemy;
  return (openRookAttacks(square) & straight) != 0 && (rookAttacks(square, occupied) & straight) != 0;
}

/** The enemy pieces that give check to the side to move. */
export function checkers(p: usize): u64 {
  const us = side(p);
  const king = kingSquare(p, us);
  const enemy = colorSet(p, us ^ 1);
  const queens = roleSet(p, QUEEN);
  let found = (pawnAttacks(us, king) & roleSet(p, PAWN)) | (knightAttacks(king) & roleSet(p, KNIGHT));
  const diagonal = (roleSet(p, BISHOP) | queens) & enemy;
  if (openBishopAttacks(king) & diagonal) found |= bishopAttacks(king, occupied(p)) & diagonal;
  const straight = (roleSet(p, ROOK) | queens) & enemy;
  if (openRookAttacks(king) & straight) found |= rookAttacks(king, occupied(p)) & straight;
  return found & enemy;
}

/** Whether the side to move may take en passant on the square without leaving its king in check. */
export function epIsLegal(p: usize, square: i32): bool {
  const us = side(p);
  const captured = us == WHITE ? square - 8 : square + 8;
  let pawns = pawnAttacks(us ^ 1, square) & roleSet(p, PAWN) & colorSet(p, us);
  const king = kingSquare(p, us);
  const alive = ~bit(captured);
  while (pawns) {
    const from = <i32>ctz(pawns);
    pawns &= pawns - 1;
    const after = (occupied(p) & alive & ~bit(from)) | bit(square);
    if (!isAttacked(p, king, us ^ 1, after, alive)) return true;
  }
  return false;
}

/** Completes the castling pieces (byte 152) from the rights, rooks and kings. */
export function storeCastlingPieces(p: usize): void {
  let men: u64 = 0;
  for (let right = 0; right < 4; right++) {
    if (castlingRights(p) & (1 << right)) men |= bit(castlingRook(p, right)) | bit(kingSquare(p, right >> 1));
  }
  store<u64>(p, men, CASTLERS_AT);
}

/** Plays a legal move in place. */
export function play(p: usize, move: i32): void {
  const us = side(p);
  const them = us ^ 1;
  const from = moveFrom(move);
  const to = moveTo(move);
  const kind = moveKind(move);
  const piece = pieceOn(p, from);
  const role = (piece & 7) - 1;
  let hash = key(p) ^ BLACK_KEY ^ load<u64>(EP_KEYS + (epSquare(p) << 3));
  let clock = rule50(p) + 1;
  let newEp = NO_SQUARE;

  if (kind == CASTLING) {
    const color = us << 3;
    const home = us == WHITE ? 0 : 56;
    const kingTo = home + (isShortCastling(move) ? 6 : 2);
    const rookTo = home + (isShortCastling(move) ? 5 : 3);
    // Both leave before both arrive: in Chess960 their squares may overlap.
    toggle(p, KING, us, from);
    toggle(p, ROOK, us, to);
    setMailbox(p, from, 0);
    setMailbox(p, to, 0);
    toggle(p, KING, us, kingTo);
    toggle(p, ROOK, us, rookTo);
    setMailbox(p, kingTo, (KING + 1) | color);
    setMailbox(p, rookTo, (ROOK + 1) | color);
    hash ^= pieceKey((KING + 1) | color, from) ^ pieceKey((KING + 1) | color, kingTo);
    hash ^= pieceKey((ROOK + 1) | color, to) ^ pieceKey((ROOK + 1) | color, rookTo);
  } else {
    const capturedOn = kind == EN_PASSANT ? to ^ 8 : to;
    const captured = pieceOn(p, capturedOn);
    if (captured) {
      toggle(p, (captured & 7) - 1, them, capturedOn);
      setMailbox(p, capturedOn, 0);
      hash ^= pieceKey(captured, capturedOn);
      clock = 0;
    }
    setMailbox(p, from, 0);
    const both = bit(from) | bit(to);
    const ownAt = p + (us << 3);
    store<u64>(ownAt, load<u64>(ownAt, COLORS_AT) ^ both, COLORS_AT);
    const roleAt = p + (role << 3);
    let arriving = piece;
    if (kind == PROMOTION) {
      const promoted = movePromotion(move);
      arriving = (promoted + 1) | (us << 3);
      const promotedAt = p + (promoted << 3);
      store<u64>(roleAt, load<u64>(roleAt) ^ bit(from));
      store<u64>(promotedAt, load<u64>(promotedAt) ^ bit(to));
    } else {
      store<u64>(roleAt, load<u64>(roleAt) ^ both);
    }
    setMailbox(p, to, arriving);
    hash ^= pieceKey(piece, from) ^ pieceKey(arriving, to);
    if (role == PAWN) {
      clock = 0;
      if ((from ^ to) == 16 && pawnAttacks(us, (from + to) >> 1) & roleSet(p, PAWN) & colorSet(p, them)) {
        newEp = (from + to) >> 1; // whether the capture is legal is seen below, when the side has changed
      }
    }
  }

  if (load<u64>(p, CASTLERS_AT) & (bit(from) | bit(to))) {
    const before = castlingRights(p);
    let rights = role == KING ? before & (us == WHITE ? 12 : 3) : before;
    for (let right = 0; right < 4; right++) {
      const rook = castlingRook(p, right);
      if (rook == from || rook == to) rights &= ~(1 << right);
    }
    hash ^= load<u64>(CASTLING_KEYS + (before << 3)) ^ load<u64>(CASTLING_KEYS + (rights << 3));
    store<u8>(p, rights, RIGHTS_AT);
    storeCastlingPieces(p);
  }

  store<u8>(p, them, SIDE_AT);
  if (newEp != NO_SQUARE && !epIsLegal(p, newEp)) newEp = NO_SQUARE;
  store<u64>(p, hash ^ load<u64>(EP_KEYS + (newEp << 3)), KEY_AT);
  store<u8>(p, newEp, EP_AT);
  store<u16>(p, clock, HALFMOVES_AT);
  store<u16>(p, load<u16>(p, FULLMOVES_AT) + us, FULLMOVES_AT);
}

/** Gives the move to the other side; the side to move must not be in check. */
export function playNull(p: usize): void {
  store<u64>(p, key(p) ^ BLACK_KEY ^ load<u64>(EP_KEYS + (epSquare(p) << 3)), KEY_AT);
  store<u8>(p, NO_SQUARE, EP_AT);
  store<u8>(p, side(p) ^ 1, SIDE_AT);
  store<u16>(p, rule50(p) + 1, HALFMOVES_AT);
}

/** The Zobrist key computed from nothing; `play` keeps the same value up to date. */
export function computeKey(p: usize): u64 {
  let hash: u64 = side(p) == BLACK ? BLACK_KEY : 0;
  for (let square = 0; square < 64; square++) hash ^= pieceKey(pieceOn(p, square), square);
  return hash ^ load<u64>(CASTLING_KEYS + (castlingRights(p) << 3)) ^ load<u64>(EP_KEYS + (epSquare(p) << 3));
}

/** Completes a position of which only the mailbox, the rights, the side, the counters and the castling rooks were written. */
export function completePosition(p: usize): void {
  memory.fill(p, 0, 64);
  for (let square = 0; square < 64; square++) {
    const piece = pieceOn(p, square);
    if (piece) toggle(p, (piece & 7) - 1, piece >> 3, square);
  }
  storeCastlingPieces(p);
  store<u64>(p, computeKey(p), KEY_AT);
}

/** Neither side can ever mate: bare kings, one minor piece, or only bishops of one square colour. */
export function isInsufficient(p: usize): bool {
  if (roleSet(p, PAWN) | roleSet(p, ROOK) | roleSet(p, QUEEN)) return false;
  const knights = roleSet(p, KNIGHT);
  const bishops = roleSet(p, BISHOP);
  if (popcnt(knights | bishops) <= 1) return true;
  const dark: u64 = 0xaa55aa55aa55aa55;
  return knights == 0 && ((bishops & dark) == 0 || (bishops & ~dark) == 0);
}

/** splitmix64 (Steele, Lea and Flood 2014) fills the keys: the same on every machine. */
let randomState: u64 = 0x7ab1ba5eed;

function randomKey(): u64 {
  randomState += 0x9e3779b97f4a7c15;
  let z = randomState;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

export function initKeys(): void {
  for (let piece = 1; piece < 16; piece++) {
    for (let square = 0; square < 64; square++) store<u64>(PIECE_KEYS + (((piece << 6) | square) << 3), randomKey());
  }
  for (let rights = 1; rights < 16; rights++) store<u64>(CASTLING_KEYS + (rights << 3), randomKey());
  for (let square = 0; square < 64; square++) store<u64>(EP_KEYS + (square << 3), randomKey());
}
