// Chains of the .binpack format (docs/formats/binpack.md): a stem of 32 bytes, big-endian, then the moves and scores of the
// positions that follow it in the game, packed into bits, the highest first. Here chains become training records of 40
// bytes (packed.ts) and records chains; chunks are the business of src/formats.
import {
  COLORS_AT, EP_AT, FULLMOVES_AT, HALFMOVES_AT, MAILBOX_AT, NO_ROOKS, NO_SQUARE, POSITION_BYTES, RECORD_BYTES,
  RECORD_MOVE_AT, RECORD_PLY_AT, RECORD_RESULT_AT, RECORD_SCORE_AT, RIGHTS_AT, ROOKS_AT, SIDE_AT,
} from "../rules/layout";
import { bishopAttacks, bit, kingAttacks, knightAttacks, pawnAttacks, rookAttacks } from "../rules/attacks";
import { generate } from "../rules/movegen";
import { epIsPossible, OK, packPosition, unpackPosition } from "./packed";
import {
  BISHOP, BLACK, CASTLING, castlingRights, castlingRook, colorSet, copyPosition, EN_PASSANT, epSquare, isAttacked,
  isShortCastling, KING, KNIGHT, kingSquare, moveFrom, moveKind, moveTo, occupied, PAWN, PROMOTION, pieceOn, play,
  QUEEN, ROOK, roleSet, rule50, side, storeCastlingPieces, WHITE,
} from "../rules/position";

/** What can be wrong with a chain; src/formats/records/binpack.ts has the words for each. */
const CUT_OFF: i32 = -1;
const BAD_STEM: i32 = -2;
const ILLEGAL_MOVE: i32 = -3;

const SCORE_BLOCK: i32 = 4; // bits of a score in one go; a fifth says whether more follow

// @ts-expect-error: decorator
@inline
function zigzag(value: i32): i32 {
  return ((value << 1) ^ (value >> 31)) & 0xffff;
}

// @ts-expect-error: decorator
@inline
function unzigzag(value: i32): i32 {
  return (value >>> 1) ^ -(value & 1);
}

// @ts-expect-error: decorator
@inline
function bigEndian16(at: usize): i32 {
  return <i32>bswap<u16>(load<u16>(at));
}

@inline
function putBigEndian16(at: usize, value: i32): void {
  store<u16>(at, bswap<u16>(<u16>value));
}

/** Bits it takes to tell `count` things apart. */
// @ts-expect-error: decorator
@inline
function bitsFor(count: i32): i32 {
  return count <= 1 ? 0 : 32 - <i32>clz(count - 1);
}

// The text of one chain: where it starts, and the next bit in it. Only one is read or written at a time.
let text: usize = 0;
let textEnd: usize = 0;
let cursor: i32 = 0;

/** The next bits, at most 16; beyond the end they are zero, and `overrun` becomes true. */
function take(count: i32): i32 {
  let value = 0;
  for (let i = 0; i < count; i++, cursor++) {
    const at = text + (cursor >> 3);
    const byte = at < textEnd ? <i32>load<u8>(at) : 0;
    value = (value << 1) | ((byte >> (7 - (cursor & 7))) & 1);
  }
  return value;
}

// @ts-expect-error: decorator
@inline
function overrun(): bool {
  return text + ((cursor + 7) >> 3) > textEnd;
}

function put(value: i32, count: i32): void {
  for (let i = count - 1; i >= 0; i--, cursor++) {
    const at = text + (cursor >> 3);
    if (!(cursor & 7)) store<u8>(at, 0);
    store<u8>(at, load<u8>(at) | (((value >> i) & 1) << (7 - (cursor & 7))));
  }
}

/** Squares a piece may go to by its own way of moving, kings left in check or not; castling is counted apart. */
function destinations(p: usize, from: i32): u64 {
  const us = side(p);
  const own = colorSet(p, us);
  const all = occupied(p);
  const role = (pieceOn(p, from) & 7) - 1;
  if (role == PAWN) {
    let targets = colorSet(p, us ^ 1);
    if (epSquare(p) != NO_SQUARE) targets |= bit(epSquare(p));
    let result = pawnAttacks(us, from) & targets;
    const step = us == WHITE ? 8 : -8;
    if (!(all & bit(from + step))) {
      result |= bit(from + step);
      if (from >> 3 == (us == WHITE ? 1 : 6) && !(all & bit(from + step + step))) result |= bit(from + step + step);
    }
    return result;
  }
  let reach: u64 = 0;
  if (role == KNIGHT) reach = knightAttacks(from);
  else if (role == KING) reach = kingAttacks(from);
  if (role == BISHOP || role == QUEEN) reach |= bishopAttacks(from, all);
  if (role == ROOK || role == QUEEN) reach |= rookAttacks(from, all);
  return reach & ~own;
}

// @ts-expect-error: decorator
@inline
function nthSquare(set: u64, n: i32): i32 {
  for (; n > 0; n--) set &= set - 1;
  return set ? <i32>ctz(set) : NO_SQUARE;
}

// @ts-expect-error: decorator
@inline
function rankOf(set: u64, square: i32): i32 {
  return <i32>popcnt(set & (bit(square) - 1));
}

// @ts-expect-error: decorator
@inline
function isLastStep(p: usize, from: i32): bool {
  return (pieceOn(p, from) & 7) == PAWN + 1 && from >> 3 == (side(p) == WHITE ? 6 : 1);
}

/** The next move of the text, or 0 if its numbers name none. */
function takeMove(p: usize): i32 {
  const us = side(p);
  const own = colorSet(p, us);
  const from = nthSquare(own, take(bitsFor(<i32>popcnt(own))));
  if (from == NO_SQUARE) return 0;
  const targets = destinations(p, from);
  const count = <i32>popcnt(targets);
  if (isLastStep(p, from)) {
    const index = take(bitsFor(count * 4));
    const to = nthSquare(targets, index >> 2);
    return to == NO_SQUARE ? 0 : PROMOTION | ((index & 3) << 12) | (from << 6) | to;
  }
  if ((pieceOn(p, from) & 7) == KING + 1) {
    const rights = us == WHITE ? castlingRights(p) & 3 : castlingRights(p) >> 2;
    const index = take(bitsFor(count + <i32>popcnt(rights)));
    if (index >= count) {
      if (index - count >= <i32>popcnt(rights)) return 0;
      const long = index == count && rights & 2 ? 1 : 0;
      return CASTLING | (from << 6) | castlingRook(p, us * 2 + long);
    }
    return (from << 6) | nthSquare(targets, index);
  }
  const to = nthSquare(targets, take(bitsFor(count)));
  if (to == NO_SQUARE) return 0;
  const enPassant = to == epSquare(p) && (pieceOn(p, from) & 7) == PAWN + 1;
  return (enPassant ? EN_PASSANT : 0) | (from << 6) | to;
}

function putMove(p: usize, move: i32): void {
  const us = side(p);
  const own = colorSet(p, us);
  const from = moveFrom(move);
  const to = moveTo(move);
  put(rankOf(own, from), bitsFor(<i32>popcnt(own)));
  const targets = destinations(p, from);
  const count = <i32>popcnt(targets);
  if (isLastStep(p, from)) put(rankOf(targets, to) * 4 + ((move >> 12) & 3), bitsFor(count * 4));
  else if ((pieceOn(p, from) & 7) == KING + 1) {
    const rights = us == WHITE ? castlingRights(p) & 3 : castlingRights(p) >> 2;
    let index = rankOf(targets, to);
    if (moveKind(move) == CASTLING) index = count + (isShortCastling(move) && rights & 2 ? 1 : 0);
    put(index, bitsFor(count + <i32>popcnt(rights)));
  } else put(rankOf(targets, to), bitsFor(count));
}

/** A number of up to 16 bits in blocks of four, the lowest first. */
function takeScore(): i32 {
  let value = 0;
  for (let shift = 0; shift < 20; shift += SCORE_BLOCK) {
    const block = take(SCORE_BLOCK + 1);
    value |= (block & 15) << shift;
    if (!(block >> SCORE_BLOCK)) break;
  }
  return value & 0xffff;
}

function putScore(value: i32): void {
  while (value > 15) {
    put((value & 15) | 16, SCORE_BLOCK + 1);
    value >>= SCORE_BLOCK;
  }
  put(value, SCORE_BLOCK + 1);
}

function isLegal(p: usize, move: i32, list: usize): bool {
  const count = generate(p, list);
  for (let i = 0; i < count; i++) if (load<u16>(list + (i << 1)) == <u16>move) return true;
  return false;
}

/** Reads a stem's position into `p`; false if no such position can be. */
function unpackStem(stem: usize, p: usize): bool {
  memory.fill(p, 0, POSITION_BYTES);
  let squares = bswap<u64>(load<u64>(stem));
  if (popcnt(squares) > 32) return false;
  let ep = NO_SQUARE;
  let us = WHITE;
  let castling: u64 = 0;
  for (let i = 0; squares; i++) {
    const square = <i32>ctz(squares);
    squares &= squares - 1;
    const code = (<i32>load<u8>(stem + (i >> 1), 8) >> ((i & 1) << 2)) & 15;
    let role = code >> 1;
    let color = code & 1;
    if (code == 12) {
      role = PAWN;
      color = square >> 3 == 3 ? WHITE : BLACK;
      ep = color == WHITE ? square - 8 : square + 8;
    } else if (code == 13 || code == 14) {
      role = ROOK;
      color = code == 13 ? WHITE : BLACK;
      castling |= bit(square);
    } else if (code == 15) {
      role = KING;
      color = BLACK;
      us = BLACK;
    }
    store<u64>(p + (role << 3), load<u64>(p + (role << 3)) | bit(square));
    store<u64>(p + (color << 3), load<u64>(p + (color << 3), COLORS_AT) | bit(square), COLORS_AT);
    store<u8>(p + square, (role + 1) | (color << 3), MAILBOX_AT);
  }
  const kings = roleSet(p, KING);
  if (popcnt(kings & colorSet(p, WHITE)) != 1 || popcnt(kings & colorSet(p, BLACK)) != 1) return false;
  if (roleSet(p, PAWN) & 0xff000000000000ff) return false;
  store<u32>(p, NO_ROOKS, ROOKS_AT);
  let rights = 0;
  while (castling) {
    const rook = <i32>ctz(castling);
    castling &= castling - 1;
    const color = pieceOn(p, rook) >> 3;
    const king = kingSquare(p, color);
    if (rook >> 3 != (color ? 7 : 0) || king >> 3 != rook >> 3) return false;
    const right = color * 2 + (rook < king ? 1 : 0);
    rights |= 1 << right;
    store<u8>(p + right, rook, ROOKS_AT);
  }
  store<u8>(p, rights, RIGHTS_AT);
  if (rights) storeCastlingPieces(p);
  store<u8>(p, us, SIDE_AT);
  store<u8>(p, ep, EP_AT);
  if (ep != NO_SQUARE && !epIsPossible(p, ep)) return false;
  return !isAttacked(p, kingSquare(p, us ^ 1), us, occupied(p), ~(<u64>0));
}

let chainRecords: i32 = 0;

/** How many records the last call of `readChain` wrote, also if it failed. */
export function chainLength(): i32 {
  return chainRecords;
}

/**
 * Reads the chain at `data` into records; returns its bytes, or a negative number that says what is wrong with it.
 * `out` has room for 65,536 records, `p` for a position, `list` for moves.
 */
export function readChain(data: usize, end: usize, out: usize, p: usize, list: usize): i32 {
  chainRecords = 0;
  if (data + 34 > end) return CUT_OFF;
  if (!unpackStem(data, p)) return BAD_STEM;
  const packed = bigEndian16(data + 24);
  const kind = packed >> 14;
  const from = (packed >> 8) & 63;
  const to = (packed >> 2) & 63;
  // Its kinds: normal, promotion, castling, en passant
  let move = (from << 6) | to;
  if (kind == 1) move |= PROMOTION | ((packed & 3) << 12);
  else if (kind == 2) move |= CASTLING;
  else if (kind == 3) move |= EN_PASSANT;
  let score = unzigzag(bigEndian16(data + 26));
  const flags = bigEndian16(data + 28);
  let ply = flags & 0x3fff;
  let result = unzigzag(flags >> 14);
  if (result > 1 || result < -1) return BAD_STEM;
  store<u16>(p, bigEndian16(data + 30), HALFMOVES_AT);
  const plies = bigEndian16(data + 32);
  text = data + 34;
  textEnd = end;
  cursor = 0;
  for (let i = 0; ; i++) {
    if (!isLegal(p, move, list)) return ILLEGAL_MOVE;
    store<u16>(p, ply / 2 + 1, FULLMOVES_AT);
    if (!packPosition(p, out)) return BAD_STEM;
    store<i16>(out, score, RECORD_SCORE_AT);
    store<u16>(out, move, RECORD_MOVE_AT);
    store<u16>(out, ply, RECORD_PLY_AT);
    store<i8>(out, result, RECORD_RESULT_AT);
    store<u8>(out, 0xff, RECORD_BYTES - 1);
    out += RECORD_BYTES;
    chainRecords++;
    if (i == plies) break;
    play(p, move);
    move = takeMove(p);
    if (!move) return overrun() ? CUT_OFF : ILLEGAL_MOVE;
    score = <i32>(<i16>(-score + unzigzag(takeScore())));
    if (overrun()) return CUT_OFF;
    ply++;
    result = -result;
  }
  return 34 + ((cursor + 7) >> 3);
}

function packStem(record: usize, p: usize, out: usize): void {
  const all = occupied(p);
  memory.fill(out, 0, 34);
  store<u64>(out, bswap<u64>(all));
  let squares = all;
  for (let i = 0; squares; i++) {
    const square = <i32>ctz(squares);
    squares &= squares - 1;
    const piece = pieceOn(p, square);
    let code = (((piece & 7) - 1) << 1) | (piece >> 3);
    if (code <= 1 && epSquare(p) != NO_SQUARE && square == (epSquare(p) ^ 8)) code = 12;
    else if (code == 6 || code == 7) {
      const right = (code & 1) * 2;
      const rights = castlingRights(p);
      if (rights & (1 << right) && castlingRook(p, right) == square) code += 7;
      else if (rights & (2 << right) && castlingRook(p, right + 1) == square) code += 7;
    } else if (code == 11 && side(p) == BLACK) code = 15;
    const at = out + 8 + (i >> 1);
    store<u8>(at, load<u8>(at) | (code << ((i & 1) << 2)));
  }
  const move = <i32>load<u16>(record, RECORD_MOVE_AT);
  let kind = move >> 14;
  if (kind == 2) kind = 3;
  else if (kind == 3) kind = 2;
  const promotion = kind == 1 ? (move >> 12) & 3 : 0;
  putBigEndian16(out + 24, (kind << 14) | (moveFrom(move) << 8) | (moveTo(move) << 2) | promotion);
  putBigEndian16(out + 26, zigzag(load<i16>(record, RECORD_SCORE_AT)));
  putBigEndian16(out + 28, (load<u16>(record, RECORD_PLY_AT) & 0x3fff) | (zigzag(load<i8>(record, RECORD_RESULT_AT)) << 14));
  putBigEndian16(out + 30, rule50(p));
}

/** Whether two positions are the same for a chain: all but the key and the number of the move. */
function isSame(a: usize, b: usize): bool {
  for (let offset: usize = 64; offset < 128; offset += 16) {
    if (v128.any_true(v128.xor(v128.load(a + offset), v128.load(b + offset)))) return false;
  }
  return load<u32>(a, RIGHTS_AT) == load<u32>(b, RIGHTS_AT) && load<u16>(a, HALFMOVES_AT) == load<u16>(b, HALFMOVES_AT);
}

let packedRecords: i32 = 0;

/** How many records the last call of `writeChains` packed: all, or those before a bad one. */
export function packedCount(): i32 {
  return packedRecords;
}

/**
 * Packs records into chains at `out` and returns the bytes written. It stops at a record that cannot be packed: its
 * position is wrong, its move not legal, or its ply beyond 16383. `p` has room for two positions, `list` for moves.
 */
export function writeChains(records: usize, count: i32, out: usize, p: usize, list: usize): i32 {
  const next = p + POSITION_BYTES; // what the record before leads to
  const start = out;
  let plies = -1; // none yet
  let chain = out;
  for (packedRecords = 0; packedRecords < count; packedRecords++, records += RECORD_BYTES) {
    const move = <i32>load<u16>(records, RECORD_MOVE_AT);
    if (unpackPosition(records, p) != OK || load<u16>(records, RECORD_PLY_AT) > 0x3fff || !isLegal(p, move, list)) break;
    const before = records - RECORD_BYTES;
    const follows =
      plies >= 0 &&
      plies < 0xffff &&
      load<u16>(records, RECORD_PLY_AT) == load<u16>(before, RECORD_PLY_AT) + 1 &&
      load<i8>(records, RECORD_RESULT_AT) == -load<i8>(before, RECORD_RESULT_AT) &&
      isSame(p, next);
    if (follows) {
      putMove(p, move);
      putScore(zigzag(<i32>(<i16>(<i32>load<i16>(records, RECORD_SCORE_AT) + <i32>load<i16>(before, RECORD_SCORE_AT)))));
      plies++;
    } else {
      if (plies >= 0) out = closeChain(chain, plies);
      chain = out;
      packStem(records, p, out);
      text = out + 34;
      cursor = 0;
      plies = 0;
    }
    copyPosition(next, p);
    play(next, move);
  }
  if (plies >= 0) out = closeChain(chain, plies);
  return <i32>(out - start);
}

function closeChain(chain: usize, plies: i32): usize {
  putBigEndian16(chain + 32, plies);
  return text + ((cursor + 7) >> 3);
}
